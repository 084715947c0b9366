//! Values of several words: names, phone numbers, and numbers in words.

use super::lexicon::{FILLERS, MONTHS, NUMBER_WORDS, WEEKDAYS};
use super::roles::{COMPANY_FORMS, CURRENCIES};
use super::sentences::starts_with;
use super::shape;
use super::stem::stem;
use super::tokens::{Kind, Token, TokenSlice};

/// Where a phone number ends: "+1 555 010 2030".
pub(super) fn phone(tokens: &[Token<'_>], at: usize, to: usize) -> Option<usize> {
    let digits = tokens.get(at)?.text.strip_prefix('+')?;
    let is_group = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    let rest = tokens.get(at + 1..to).unwrap_or_default();
    let more = rest.iter().take_while(|token| is_group(token.text)).count();
    (is_group(digits) && (more > 0 || digits.len() > 5)).then_some(at + 1 + more)
}

/// A number in digits, and the stem of its unit.
pub(super) fn number(token: &Token<'_>) -> Option<(String, String)> {
    let (value, unit) = shape::number(token.text)?;
    Some((value, stem(&unit.to_lowercase())))
}

/// "half an hour", "a quarter of an hour", "an hour": where it ends, the number
/// and its unit.
pub(super) fn part_of_hour(
    tokens: &[Token<'_>],
    at: usize,
    to: usize,
) -> Option<(usize, String, String)> {
    let spans: &[(&[&str], &str, &str)] = &[
        (&["half", "an", "hour"], "30", "minut"),
        (&["a", "quarter", "of", "an", "hour"], "15", "minut"),
        (&["an", "hour", "and", "a", "half"], "90", "minut"),
        (&["a", "minute"], "1", "minut"),
        (&["an", "hour"], "1", "hour"),
        (&["a", "day"], "1", "day"),
        (&["a", "week"], "1", "week"),
    ];
    let rest = tokens.get(at..to)?;
    let led = at.checked_sub(1).and_then(|before| tokens.get(before));
    let is_span = led.is_some_and(|token| token.any(&["for", "of", "within", "in", "by"]));
    let (words, value, unit) = spans.iter().find(|(words, ..)| starts_with(rest, words))?;
    (is_span || words.len() > 2)
        .then(|| (at + words.len(), (*value).to_owned(), (*unit).to_owned()))
}

/// A number in words, before what it counts.
pub(super) fn spelled(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let token = tokens.get(at)?;
    let (_, value) = NUMBER_WORDS.iter().find(|(word, _)| token.is(word))?;
    let counts =
        tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Word && !next.any(FILLERS));
    (counts && !token.is_capitalized()).then(|| value.to_string())
}

/// Where a run of capitalized words ends.
pub(super) fn name(tokens: &[Token<'_>], at: usize, to: usize) -> Option<usize> {
    let is_part = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            token.is_capitalized()
                && !token.is("i")
                && !token.lower.starts_with("i'")
                && !MONTHS.contains(&token.lower.as_str())
                && !WEEKDAYS.contains(&token.lower.as_str())
        })
    };
    if !is_part(at) || tokens.any_at(at, NOT_NAMES) {
        return None;
    }
    let mut end = at + 1;
    while end < to {
        let links = tokens.any_at(
            end,
            &["de", "la", "del", "of", "the", "von", "van", "da", "di", "du", "al", "el"],
        );
        let apart =
            tokens.get(end - 1).zip(tokens.get(end)).is_none_or(|(a, b)| b.start > a.end + 1);
        if apart {
            break;
        }
        let is_form = tokens.get(end).is_some_and(|token| COMPANY_FORMS.contains(&token.text));
        if is_part(end) || is_form {
            end += 1;
        } else if links && is_part(end + 1) && end + 1 < to {
            end += 2;
        } else {
            break;
        }
    }
    // "Room 204", "Main Street 5", but not "Casa Lola 2 people".
    let counts = tokens.get(end + 1).is_some_and(|next| {
        end + 1 < to && next.kind == Kind::Word && !next.is_preposition() && !next.any(FILLERS)
    });
    let numbered = (end == at + 1 || !counts)
        && tokens.get(end).is_some_and(|token| end < to && shape::is_digits(token.text));
    Some(if numbered { end + 1 } else { end })
}

/// Where a number of capitals and digits ends: "OS 87".
pub(super) fn spaced_number(tokens: &[Token<'_>], at: usize, to: usize) -> Option<usize> {
    let token = tokens.get(at)?;
    let is_prefix = (1..=4).contains(&token.text.len())
        && token.text.bytes().all(|byte| byte.is_ascii_uppercase())
        && !CURRENCIES.contains(&token.lower.as_str());
    let number = tokens.get(at + 1).filter(|_| at + 1 < to)?;
    let is_beside = number.start == token.end + 1;
    (is_prefix && is_beside && shape::is_digits(number.text)).then_some(at + 2)
}

/// Words that begin a sentence and no name.
const NOT_NAMES: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "those", "it", "its", "my", "your", "our", "here",
    "there", "what", "so", "and", "but", "since", "as",
];
