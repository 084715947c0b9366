//! What the values of an upstream's headers may be. Whatever else a server puts
//! there is not for the client.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use memchr::memmem;

/// Removes headers whose value is not what their name says, and whatever is
/// beyond the number of headers that a response needs.
pub(super) fn remove_invalid(headers: &mut HeaderMap) {
    let mut count = 0;
    let invalid: Vec<HeaderName> = headers
        .iter()
        .filter(|(name, value)| {
            count += 1;
            count > MAX_HEADERS || !is_valid(name.as_str(), value)
        })
        .map(|(name, _)| name.clone())
        .collect();
    for name in invalid {
        headers.remove(name);
    }
}

fn is_valid(name: &str, value: &HeaderValue) -> bool {
    let Ok(value) = value.to_str() else { return false };
    let is_made_of = |more: &str| {
        value.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.as_bytes().contains(&byte))
    };
    match ValueKind::of(name) {
        ValueKind::Flag => value == "true" || value == "false",
        // A number, a duration, a time of day, or the list of a policy.
        ValueKind::Figure => value.len() <= MAX_FIGURE && is_made_of(".:+-,;= "),
        ValueKind::Id => value.len() <= MAX_ID && is_made_of("-_.:"),
        ValueKind::Text => value.len() <= MAX_TEXT,
    }
}

/// What a header says.
enum ValueKind {
    Flag,
    Figure,
    Id,
    Text,
}

impl ValueKind {
    fn of(name: &str) -> Self {
        if name == "x-should-retry" {
            Self::Flag
        } else if name.ends_with("request-id") || name.ends_with("-organization-id") {
            Self::Id
        } else if name.starts_with("retry-after")
            || memmem::find(name.as_bytes(), b"ratelimit-").is_some()
        {
            Self::Figure
        } else {
            Self::Text
        }
    }
}

const MAX_HEADERS: usize = 64;

const MAX_FIGURE: usize = 64;

const MAX_ID: usize = 128;

/// Codex keeps the state of a turn in a header.
const MAX_TEXT: usize = 4096;

#[cfg(test)]
mod tests;
