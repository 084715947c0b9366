//! Rate limit headers, converted from one vendor to the other. OpenAI gives the
//! time until a limit resets, Anthropic the time of day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use toolwire::protocol::{RateLimitHeaders, Reset};

/// Converts one vendor's limits to another's headers. If several limits become
/// one, the first that is present wins.
pub(super) fn convert(
    from: &RateLimitHeaders,
    to: &RateLimitHeaders,
    upstream_headers: &HeaderMap,
    headers: &mut HeaderMap,
) {
    // Nearly every name would be looked up in vain.
    let prefix = from.name.split('{').next().unwrap_or_default();
    if !upstream_headers.keys().any(|name| name.as_str().starts_with(prefix)) {
        return;
    }
    let now = since_1970();
    for (source_kind, target_kind) in from.kinds.iter().zip(to.kinds) {
        for figure in ["limit", "remaining", "reset"] {
            let value = upstream_headers.get(from.header(source_kind, figure));
            let value = value.and_then(|value| value.to_str().ok());
            let value = match figure {
                "reset" => value
                    .and_then(|value| time_left(from.reset, value, now))
                    .and_then(|left| write_reset(to.reset, left, now)),
                _limit_or_remaining => value.map(str::to_owned),
            };
            let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) else {
                continue;
            };
            if let Ok(name) = HeaderName::try_from(to.header(target_kind, figure)) {
                headers.entry(name).or_insert(value);
            }
        }
    }
}

/// The time until every exhausted limit is reset, from any vendor's headers.
pub(super) fn reset(headers: &HeaderMap) -> Option<Duration> {
    let now = since_1970();
    let text = |name: String| headers.get(name)?.to_str().ok();
    let resets =
        super::vendor_names::vendors().map(|vendor| &vendor.rate_limits).flat_map(|limits| {
            limits.kinds.iter().filter_map(move |kind| {
                let is_spent = text(limits.header(kind, "remaining")) == Some("0");
                let reset = text(limits.header(kind, "reset")).filter(|_| is_spent)?;
                time_left(limits.reset, reset, now)
            })
        });
    resets.max()
}

/// The time of day, which is what one vendor's headers hold.
#[allow(clippy::disallowed_methods, reason = "no clock but the machine's has a time of day")]
fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The time until a limit is reset.
fn time_left(format: Reset, value: &str, now: Duration) -> Option<Duration> {
    match format {
        Reset::Duration => parse_duration(value),
        Reset::Timestamp => parse_time(value).map(|time| time.saturating_sub(now)),
    }
}

fn write_reset(format: Reset, left: Duration, now: Duration) -> Option<String> {
    match format {
        Reset::Duration => Some(format!("{}s", left.as_secs_f64().ceil())),
        Reset::Timestamp => write_time(now + left),
    }
}

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
