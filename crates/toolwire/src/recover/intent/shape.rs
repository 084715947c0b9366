//! What a word is by its looks.

use super::tokens::Kind;

/// The kind of a word without the punctuation around it.
pub(super) fn kind_of(word: &str) -> Kind {
    let lower = word.to_ascii_lowercase();
    if word.contains("://") || lower.starts_with("www.") || lower.starts_with("mailto:") {
        return Kind::Url;
    }
    if is_email(word) {
        return Kind::Email;
    }
    if is_date(word) {
        return Kind::Date;
    }
    if is_time(&lower) {
        return Kind::Time;
    }
    if number(word).is_some() {
        return Kind::Number;
    }
    let mut chars = word.chars();
    if chars.next() == Some('+') && word.len() > 6 && chars.all(|c| c.is_ascii_digit() || c == '-')
    {
        return Kind::Phone;
    }
    if is_path(word) {
        return Kind::Path;
    }
    if is_identifier(word) { Kind::Identifier } else { Kind::Word }
}

/// A number, and the unit that is written to it. `#42` counts, and so do `$5`,
/// `25%` and `30s`.
pub(super) fn number(word: &str) -> Option<(String, &str)> {
    let mut unit = "";
    let mut rest = word;
    for (sign, name) in [("$", "USD"), ("\u{20ac}", "EUR"), ("\u{a3}", "GBP"), ("#", "#")] {
        if let Some(after) = rest.strip_prefix(sign) {
            (rest, unit) = (after, name);
        }
    }
    let negative = rest.strip_prefix('-').or_else(|| rest.strip_prefix('\u{2212}'));
    let digits = negative.unwrap_or(rest);
    let length = digits
        .char_indices()
        .find(|(_, c)| !(c.is_ascii_digit() || matches!(c, '.' | ',')))
        .map_or(digits.len(), |(at, _)| at);
    let (digits, suffix) = digits.split_at_checked(length)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let grouped = whole
        .split(',')
        .enumerate()
        .all(|(index, group)| is_digits(group) && (index == 0 || group.len() == 3));
    if !grouped || (digits.contains('.') && !is_digits(fraction)) {
        return None;
    }
    match suffix {
        "" => {}
        "%" => unit = "percent",
        "\u{b0}" => unit = "degrees",
        "\u{b0}C" | "\u{b0}c" => unit = "celsius",
        "\u{b0}F" => unit = "fahrenheit",
        "s" | "ms" | "m" | "min" | "h" | "d" | "km" | "kg" | "g" | "cm" | "mm" | "px" | "GB"
        | "MB" | "KB" | "rd" | "st" | "nd" | "th" | "k" => unit = suffix,
        _ => return None,
    }
    let mut value: String = whole.chars().filter(|c| *c != ',').collect();
    if value.len() > 1 && value.starts_with('0') {
        return None;
    }
    if !fraction.is_empty() {
        value.push('.');
        value.push_str(fraction);
    }
    if negative.is_some() {
        value.insert(0, '-');
    }
    Some((value, unit))
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The longest beginning of at most so many bytes.
pub(super) fn prefix(text: &str, most: usize) -> &str {
    let mut length = text.len().min(most);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text.get(..length).unwrap_or_default()
}

pub(super) fn is_email(word: &str) -> bool {
    word.split_once('@').is_some_and(|(local, domain)| {
        !local.is_empty()
            && !domain.contains('@')
            && domain.split('.').count() > 1
            && domain.split('.').all(|label| !label.is_empty())
    })
}

/// `2026-03-04`, also with a time behind it.
fn is_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    let day = bytes.get(..10).unwrap_or_default();
    let shaped = day.len() == 10
        && day.iter().enumerate().all(|(at, byte)| {
            if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() }
        });
    shaped && matches!(bytes.get(10), None | Some(b'T'))
}

/// `14:30`, `9:15:00`, `2:30pm`, `5pm`.
fn is_time(word: &str) -> bool {
    let (clock, half) = match word.strip_suffix("pm").or_else(|| word.strip_suffix("am")) {
        Some(clock) => (clock, true),
        None => (word, false),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let short = |part: &&str| is_digits(part) && part.len() <= 2;
    parts.iter().all(short)
        && match parts.len() {
            1 => half,
            2 | 3 => parts.iter().skip(1).all(|part| part.len() == 2),
            _ => false,
        }
}

fn is_path(word: &str) -> bool {
    if word.len() < 2 {
        return false;
    }
    if word.contains('/') || word.contains('\\') || word.starts_with("~") {
        return !matches!(
            word.to_lowercase().as_str(),
            "and/or" | "i/o" | "n/a" | "he/she" | "w/o" | "24/7"
        );
    }
    if word.starts_with('.') {
        return true;
    }
    let Some((stem, extension)) = word.rsplit_once('.') else { return false };
    !stem.is_empty()
        && !stem.ends_with('.')
        && (1..=10).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && extension.chars().any(|c| c.is_ascii_alphabetic())
        && !matches!(word.to_lowercase().as_str(), "e.g" | "i.e" | "a.m" | "p.m" | "u.s")
}

fn is_identifier(word: &str) -> bool {
    let digits = word.chars().any(|c| c.is_ascii_digit());
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let upper = word.chars().filter(|c| c.is_uppercase()).count();
    let inner_upper = word.chars().skip(1).any(char::is_uppercase);
    let lower = word.chars().any(char::is_lowercase);
    let plain =
        word.chars().all(|c| c.is_alphanumeric() || c == '\'' || c == '\u{2019}' || c == '-');
    word.contains('_')
        || (digits && (letters > 0 || word.contains(['.', '-', ':'])))
        || (word.starts_with('#') && word.len() > 1)
        || (word.starts_with('@') && word.len() > 1)
        || (plain && upper > 1 && !lower && letters >= 2 && !word.contains('\''))
        || (plain && inner_upper && lower && !word.contains(['-', '\'', '\u{2019}']))
}
