//! Rate limit headers, converted from one vendor to the other. OpenAI gives the
//! time until a limit resets, Anthropic the time of day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
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
                    value.and_then(parse_duration).and_then(|left| write_time(now + left))
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

/// Reads a time such as `2026-11-15T13:05:28Z` as the time since 1970, in whole
/// seconds.
pub(super) fn parse_time(text: &str) -> Option<Duration> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp()).ok().map(Duration::from_secs)
}

/// Writes a time since 1970, in whole seconds.
pub(super) fn write_time(time: Duration) -> Option<String> {
    let seconds = i64::try_from(time.as_secs()).ok()?;
    OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
}

const DAY: u64 = 86_400;
