//! Rate limit headers, converted from one vendor to the other. OpenAI gives the
//! time until a limit resets, Anthropic the time of day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use toolwire::Protocol;

/// Converts the limits of a response from `from` to the other vendor's headers.
pub(super) fn convert(from: Protocol, upstream_headers: &HeaderMap, headers: &mut HeaderMap) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    for (openai, anthropic) in KINDS {
        for field in ["limit", "remaining", "reset"] {
            let openai_name = format!("x-ratelimit-{field}-{openai}");
            let anthropic_name = format!("anthropic-ratelimit-{anthropic}-{field}");
            let (source, target) = match from {
                Protocol::Chat | Protocol::Responses => (openai_name, anthropic_name),
                Protocol::Messages => (anthropic_name, openai_name),
            };
            let value = upstream_headers.get(source).and_then(|value| value.to_str().ok());
            let value = match (field, from) {
                ("reset", Protocol::Messages) => value
                    .and_then(parse_time)
                    .map(|time| format!("{}s", time.saturating_sub(now).as_secs_f64().ceil())),
                ("reset", Protocol::Chat | Protocol::Responses) => {
                    value.and_then(parse_duration).map(|left| write_time(now + left))
                }
                (_limit_or_remaining, _) => value.map(str::to_owned),
            };
            let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) else {
                continue;
            };
            if let Ok(name) = hyper::header::HeaderName::try_from(target) {
                headers.entry(name).or_insert(value);
            }
        }
    }
}

/// The time until every exhausted limit is reset, from either vendor's headers.
pub(super) fn reset(headers: &HeaderMap) -> Option<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = |name: String| headers.get(name)?.to_str().ok();
    let resets = KINDS.iter().flat_map(|(openai, anthropic)| {
        let is_spent = |name: String| text(name) == Some("0");
        let left = text(format!("x-ratelimit-reset-{openai}"))
            .filter(|_| is_spent(format!("x-ratelimit-remaining-{openai}")))
            .and_then(parse_duration);
        let until = text(format!("anthropic-ratelimit-{anthropic}-reset"))
            .filter(|_| is_spent(format!("anthropic-ratelimit-{anthropic}-remaining")))
            .and_then(parse_time)
            .map(|time| time.saturating_sub(now));
        [left, until]
    });
    resets.flatten().max()
}

/// The kinds of limits. Anthropic splits tokens and OpenAI does not; the first
/// header that is present wins.
const KINDS: &[(&str, &str)] =
    &[("requests", "requests"), ("tokens", "tokens"), ("tokens", "input-tokens")];

/// Reads `6m0s`, `1.5s`, `20ms` or `1h2m`.
pub(super) fn parse_duration(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|char: char| !char.is_ascii_digit() && char != '.')?;
        let (number, tail) = rest.split_at(digits);
        let number: f64 = number.parse().ok()?;
        let unit = tail.find(|char: char| char.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        seconds += number
            * match unit {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                _unknown => return None,
            };
        rest = tail;
    }
    Duration::try_from_secs_f64(seconds).ok().filter(|left| left.as_secs() < 366 * DAY)
}

/// Reads `2026-11-15T13:05:28Z`, with a fraction or an offset, as the time
/// since 1970.
pub(super) fn parse_time(text: &str) -> Option<Duration> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let separators = [(4, "-"), (7, "-"), (13, ":"), (16, ":")];
    let dated = separators.iter().all(|(at, mark)| text.get(*at..at + 1) == Some(*mark));
    if !dated || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let zone =
        text.get(19..)?.trim_start_matches(|char: char| char == '.' || char.is_ascii_digit());
    let offset = match zone.as_bytes().first()? {
        b'Z' | b'z' => 0,
        sign @ (b'+' | b'-') => {
            let hours: i64 = zone.get(1..3)?.parse().ok()?;
            let minutes: i64 = zone.get(4..6)?.parse().ok()?;
            let seconds = (hours * 60 + minutes) * 60;
            if *sign == b'+' { seconds } else { -seconds }
        }
        _other => return None,
    };
    let seconds =
        days_since_1970(year, month, day) * DAY as i64 + (hour * 60 + minute) * 60 + second
            - offset;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// Writes a time since 1970.
pub(super) fn write_time(time: Duration) -> String {
    let (days, second) = (time.as_secs() / DAY, time.as_secs() % DAY);
    let (year, month, day) = date(days as i64);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Days of the proleptic Gregorian calendar, counted in years that begin in
/// March so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

const DAY: u64 = 86_400;
