//! What in a sentence may be the value of a parameter.

use super::binding::{binding, following, property};
use super::dates;
use super::names::{name, number, part_of_hour, phone, spaced_number, spelled};
use super::tokens::{Kind, Token};

/// A value, and the words that bind it to a parameter.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'t> {
    pub(super) shape: Shape,
    /// As the text says it.
    pub(super) text: &'t str,
    /// A number in digits, a day as YYYY-MM-DD, a time as HH:MM.
    pub(super) value: String,
    /// The unit of a number, as a word stem.
    pub(super) unit: String,
    /// Its tokens.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) preposition: &'t str,
    /// Stems of the words between the preposition and the value.
    pub(super) before: Vec<String>,
    /// Stems of the words behind it.
    pub(super) after: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Quoted,
    Code,
    Url,
    Email,
    Path,
    Identifier,
    Number,
    Date,
    Time,
    Phone,
    /// Capitalized words.
    Name,
}

/// The candidates of a part of a sentence. `paragraph` is what the tokens are cut
/// from.
pub(super) fn candidates<'t>(
    paragraph: &'t str,
    tokens: &[Token<'t>],
    from: usize,
    to: usize,
) -> Vec<Candidate<'t>> {
    let mut found: Vec<Candidate<'t>> = Vec::new();
    let mut at = from;
    while at < to && found.len() < MOST {
        let Some((shape, next, value, unit)) = one(tokens, at, to) else {
            at += 1;
            continue;
        };
        let text = match (tokens.get(at), next - at) {
            (Some(token), 1) => token.text,
            (Some(first), _) => {
                let last = tokens.get(next - 1).map_or(first.end, |last| last.end);
                paragraph.get(first.start..last).unwrap_or(first.text)
            }
            (None, _) => "",
        };
        let floor = found.last().map_or(from, |last| last.to);
        let (preposition, mut before) = binding(tokens, floor, at);
        if before.is_empty() && matches!(preposition, "to" | "as") {
            before.extend(property(tokens, from, floor));
        }
        let after = following(tokens, next, to);
        found.push(Candidate {
            shape,
            text,
            value,
            unit,
            from: at,
            to: next,
            preposition,
            before,
            after,
        });
        at = next;
    }
    found
}

/// Candidates that are listed together have the same number.
pub(super) fn groups(tokens: &[Token<'_>], found: &[Candidate<'_>]) -> Vec<usize> {
    let mut groups = Vec::with_capacity(found.len());
    let mut group = 0;
    for (index, candidate) in found.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|before| found.get(before));
        let listed = previous.is_some_and(|previous| {
            let between = tokens.get(previous.to..candidate.from).unwrap_or_default();
            !between.is_empty()
                && previous.shape == candidate.shape
                && between.iter().all(|token| {
                    token.kind == Kind::Mark(',') || token.any(&["and", "then", "also"])
                })
        });
        if !listed {
            group = index;
        }
        groups.push(group);
    }
    groups
}

/// The candidate that begins at a token: its shape, where it ends, its value and
/// its unit.
fn one(tokens: &[Token<'_>], at: usize, to: usize) -> Option<(Shape, usize, String, String)> {
    let token = tokens.get(at)?;
    let simple = |shape| Some((shape, at + 1, String::new(), String::new()));
    if let Some((next, value)) = dates::day(tokens, at, to) {
        return Some((Shape::Date, next, value, String::new()));
    }
    if let Some((next, value)) = dates::clock(tokens, at, to) {
        return Some((Shape::Time, next, value, String::new()));
    }
    if let Some((next, value, unit)) = part_of_hour(tokens, at, to) {
        return Some((Shape::Number, next, value, unit));
    }
    if let Some(next) = phone(tokens, at, to) {
        return Some((Shape::Phone, next, String::new(), String::new()));
    }
    match token.kind {
        Kind::Quoted => simple(Shape::Quoted),
        Kind::Code => simple(Shape::Code),
        Kind::Url => simple(Shape::Url),
        Kind::Email => simple(Shape::Email),
        Kind::Path => simple(Shape::Path),
        Kind::Identifier => {
            let next = spaced_number(tokens, at, to).unwrap_or(at + 1);
            Some((Shape::Identifier, next, String::new(), String::new()))
        }
        Kind::Number => number(token).map(|(value, unit)| (Shape::Number, at + 1, value, unit)),
        Kind::Word => match spelled(tokens, at) {
            Some(value) => Some((Shape::Number, at + 1, value, String::new())),
            None => {
                name(tokens, at, to).map(|next| (Shape::Name, next, String::new(), String::new()))
            }
        },
        Kind::Phone | Kind::Date | Kind::Time | Kind::Mark(_) => None,
    }
}

/// Sentences with more values than this are not about one action.
const MOST: usize = 24;
