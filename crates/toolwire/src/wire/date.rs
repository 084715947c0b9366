//! Dates as the vendors write them, RFC 3339, and as seconds since 1970.

/// The seconds since 1970 of a time such as `2025-09-29T00:00:00Z`. Fractions of
/// a second are left out. `None` for times before 1970 and for anything else.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let (year, month, day) = numbers(date, '-')?;
    let zone_at = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone_at);
    let (hour, minute, second) = numbers(clock.split('.').next()?, ':')?;
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    let offset = match zone.strip_prefix(['+', '-']) {
        None => 0,
        Some(offset) => {
            let (hours, minutes, _) = numbers(&format!("{offset}:00"), ':')?;
            let seconds = hours * 3600 + minutes * 60;
            if zone.starts_with('-') { -seconds } else { seconds }
        }
    };
    let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
    u64::try_from(seconds).ok().filter(|_| in_range && (0..10_000).contains(&year))
}

/// A time in seconds since 1970, as RFC 3339 writes it.
pub(crate) fn format(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX).min(LAST);
    let (day, second) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = date(day);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Three numbers with a separator between them.
fn numbers(text: &str, separator: char) -> Option<(i64, i64, i64)> {
    let mut parts = text.split(separator);
    let mut next = || {
        let part = parts.next()?;
        let is_number = part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| is_number)
    };
    let found = (next()?, next()?, next()?);
    parts.next().is_none().then_some(found)
}

/// The days from 1970 to a date. Years are counted from March, so that a leap
/// day is the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - TO_1970
}

/// The date of a day since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + TO_1970;
    let (era, day_of_era) = (days / ERA, days % ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = year_of_era + era * 400 + i64::from(month >= 10);
    (year, if month < 10 { month + 3 } else { month - 9 }, day)
}

/// Seconds.
const DAY: i64 = 24 * 60 * 60;

/// The days of four hundred years.
const ERA: i64 = 146_097;

/// The days from March of the year 0 to 1970.
const TO_1970: i64 = 719_468;

/// The end of the year 9999.
const LAST: i64 = 253_402_300_799;
