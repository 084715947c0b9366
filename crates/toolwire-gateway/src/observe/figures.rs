//! Numbers, times and durations in a line of the log. The macros of `std::fmt`
//! write the same, at several times the price of the rest of the line.

use std::time::Duration;

use time::OffsetDateTime;

pub(super) fn write_number(number: u64, line: &mut String) {
    let mut digits = [b'0'; 20];
    let mut left = number;
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        // A remainder of ten is less than ten.
        *digit += (left % 10) as u8;
        left /= 10;
        count += 1;
        if left == 0 {
            break;
        }
    }
    let written = digits.get(digits.len() - count..).unwrap_or_default();
    line.push_str(std::str::from_utf8(written).unwrap_or_default());
}

/// How exactly a duration is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Precision {
    /// Like `{:.0?}`.
    Whole,
    /// Like `{:.1?}`.
    Tenths,
}

/// Writes a duration in the unit that suits it: `1.5s`, `20.3ms`, `17µs`.
pub(super) fn write_duration(time: Duration, precision: Precision, line: &mut String) {
    // More than 58 years do not fit.
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let (unit, name) = match nanos {
        1_000_000_000.. => (1_000_000_000, "s"),
        1_000_000.. => (1_000_000, "ms"),
        1_000.. => (1_000, "µs"),
        0.. => (1, "ns"),
    };
    let parts = match precision {
        Precision::Whole => 1,
        Precision::Tenths => 10,
    };
    let scaled = nanos.saturating_mul(parts);
    let (mut count, rest) = (scaled / unit, scaled % unit);
    // What is in the middle goes to the even neighbour, as in `std`.
    if rest * 2 > unit || (rest * 2 == unit && count % 2 == 1) {
        count += 1;
    }
    write_number(count / parts, line);
    if let Precision::Tenths = precision {
        line.push('.');
        write_number(count % parts, line);
    }
    line.push_str(name);
}

/// Writes a time as people read it: `2026-11-16T09:30:00Z`.
pub(super) fn write_time(seconds: u64, line: &mut String) {
    let at =
        i64::try_from(seconds).ok().and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
    let Some(at) = at else { return };
    let (date, (hour, minute, second)) = (at.date(), at.time().as_hms());
    // The time is not before 1970, and this crate knows no year of five digits.
    let year = date.year().unsigned_abs();
    for (number, after) in [
        ((year / 100) as u8, None),
        ((year % 100) as u8, Some('-')),
        (u8::from(date.month()), Some('-')),
        (date.day(), Some('T')),
        (hour, Some(':')),
        (minute, Some(':')),
        (second, Some('Z')),
    ] {
        line.push(char::from(b'0' + number / 10));
        line.push(char::from(b'0' + number % 10));
        line.extend(after);
    }
}

#[cfg(test)]
mod tests;
