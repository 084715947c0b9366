//! Days and times as people write them.

use super::lexicon::{MONTHS, WEEKDAYS};
use super::shape;
use super::tokens::{Kind, Token, TokenSlice};

/// A day that begins at a token: where it ends, and the day as YYYY-MM-DD. The
/// day is empty if the text does not say which it is.
pub(super) fn day(tokens: &[Token<'_>], at: usize, to: usize) -> Option<(usize, String)> {
    let token = tokens.get(at)?;
    if token.kind == Kind::Date {
        return Some((at + 1, token.text.to_owned()));
    }
    if let Some(month) = month(token) {
        let number = ordinal(tokens.get(at + 1).filter(|_| at + 1 < to)?)?;
        let comma = tokens.get(at + 2).is_some_and(|token| token.kind == Kind::Mark(','));
        let year_at = at + 2 + usize::from(comma);
        return Some(match year(tokens, year_at, to) {
            Some(year) => (year_at + 1, format!("{year}-{month:02}-{number:02}")),
            None => (at + 2, String::new()),
        });
    }
    if let Some(number) = ordinal(token) {
        let of = usize::from(tokens.is_at(at + 1, "of"));
        let month = month(tokens.get(at + 1 + of).filter(|_| at + 1 + of < to)?)?;
        return Some(match year(tokens, at + 2 + of, to) {
            Some(year) => (at + 3 + of, format!("{year}-{month:02}-{number:02}")),
            None => (at + 2 + of, String::new()),
        });
    }
    let is_weekday = |token: &Token<'_>| WEEKDAYS.contains(&token.lower.as_str());
    if token.any(&["tomorrow", "tonight", "today"]) || is_weekday(token) {
        return Some((at + 1, String::new()));
    }
    let next = tokens.get(at + 1).filter(|_| at + 1 < to)?;
    let relative = token.any(&["next", "this"])
        && (is_weekday(next)
            || next.any(&["week", "month", "year", "weekend", "morning", "evening", "afternoon"]));
    relative.then(|| (at + 2, String::new()))
}

/// A time of day that begins at a token: where it ends, and the time as HH:MM.
pub(super) fn clock(tokens: &[Token<'_>], at: usize, to: usize) -> Option<(usize, String)> {
    let token = tokens.get(at)?;
    match token.lower.as_str() {
        "noon" => return Some((at + 1, "12:00".to_owned())),
        "midnight" => return Some((at + 1, "00:00".to_owned())),
        _ => {}
    }
    let half = |at: usize| {
        let token = tokens.get(at).filter(|_| at < to)?;
        match token.lower.as_str() {
            "am" | "a.m" => Some(0),
            "pm" | "p.m" => Some(12),
            _ => None,
        }
    };
    let lower = token.text.to_ascii_lowercase();
    let (clock, mut offset) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(0)),
        (None, Some(clock)) => (clock, Some(12)),
        (None, None) => (lower.as_str(), None),
    };
    let mut end = at + 1;
    if offset.is_none()
        && let Some(found) = half(at + 1)
    {
        offset = Some(found);
        end += 1;
    }
    if token.kind != Kind::Time
        && !(token.kind == Kind::Number && offset.is_some() && end == at + 2)
    {
        return None;
    }
    let mut parts = clock.split(':');
    let hour: u32 = parts.next()?.parse().ok()?;
    let minute: u32 = parts.next().unwrap_or("0").parse().ok()?;
    let hour = match offset {
        Some(offset) => hour % 12 + offset,
        None => hour,
    };
    (hour < 24 && minute < 60).then(|| (end, format!("{hour:02}:{minute:02}")))
}

fn month(token: &Token<'_>) -> Option<usize> {
    let found = MONTHS.iter().position(|month| {
        token.is(month)
            || (token.is_capitalized()
                && token.lower.len() >= 3
                && month.get(..3) == Some(token.lower.as_str()))
    })?;
    (token.is_capitalized()).then_some(found + 1)
}

/// The day of a month: 4, 4th.
fn ordinal(token: &Token<'_>) -> Option<u32> {
    if token.kind != Kind::Number {
        return None;
    }
    let (value, unit) = shape::number(token.text)?;
    let day: u32 = value.parse().ok()?;
    (matches!(unit, "" | "st" | "nd" | "rd" | "th") && (1..=31).contains(&day)).then_some(day)
}

fn year<'t>(tokens: &[Token<'t>], at: usize, to: usize) -> Option<&'t str> {
    let token = tokens.get(at).filter(|_| at < to)?;
    (shape::is_digits(token.text) && token.text.len() == 4).then_some(token.text)
}
