//! What in a sentence may be the value of a parameter.

use super::dates;
use super::lexicon::{FILLERS, MONTHS, NUMBER_WORDS, PREPOSITIONS, WEEKDAYS};
use super::sentences::starts_with;
use super::shape;
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
        Kind::Identifier => simple(Shape::Identifier),
        Kind::Number => number(tokens, at),
        Kind::Word => match spelled(tokens, at) {
            Some(value) => Some((Shape::Number, at + 1, value, String::new())),
            None => {
                name(tokens, at, to).map(|next| (Shape::Name, next, String::new(), String::new()))
            }
        },
        Kind::Phone | Kind::Date | Kind::Time | Kind::Mark(_) => None,
    }
}

/// Where a phone number ends: "+1 555 010 2030".
fn phone(tokens: &[Token<'_>], at: usize, to: usize) -> Option<usize> {
    let digits = tokens.get(at)?.text.strip_prefix('+')?;
    let is_group = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    let rest = tokens.get(at + 1..to).unwrap_or_default();
    let more = rest.iter().take_while(|token| is_group(token.text)).count();
    (is_group(digits) && (more > 0 || digits.len() > 5)).then_some(at + 1 + more)
}

fn number(tokens: &[Token<'_>], at: usize) -> Option<(Shape, usize, String, String)> {
    let token = tokens.get(at)?;
    let (value, unit) = shape::number(token.text)?;
    Some((Shape::Number, at + 1, value, super::stem::stem(&unit.to_lowercase())))
}

/// "half an hour", "a quarter of an hour", "an hour": where it ends, the number
/// and its unit.
fn part_of_hour(tokens: &[Token<'_>], at: usize, to: usize) -> Option<(usize, String, String)> {
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
fn spelled(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let token = tokens.get(at)?;
    let (_, value) = NUMBER_WORDS.iter().find(|(word, _)| token.is(word))?;
    let counts =
        tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Word && !next.any(FILLERS));
    (counts && !token.is_capitalized()).then(|| value.to_string())
}

/// Where a run of capitalized words ends.
fn name(tokens: &[Token<'_>], at: usize, to: usize) -> Option<usize> {
    let is_part = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            token.is_capitalized()
                && !token.is("i")
                && !token.lower.starts_with("i'")
                && !MONTHS.contains(&token.lower.as_str())
                && !WEEKDAYS.contains(&token.lower.as_str())
        })
    };
    if !is_part(at) {
        return None;
    }
    let mut end = at + 1;
    while end < to {
        let links = tokens.get(end).is_some_and(|token| {
            token.any(&["de", "la", "del", "of", "the", "von", "van", "da", "di", "du", "al", "el"])
        });
        let apart =
            tokens.get(end - 1).zip(tokens.get(end)).is_none_or(|(a, b)| b.start > a.end + 1);
        if apart {
            break;
        }
        if is_part(end) {
            end += 1;
        } else if links && is_part(end + 1) && end + 1 < to {
            end += 2;
        } else {
            break;
        }
    }
    // "Room 204"
    let numbered = end == at + 1
        && tokens.get(end).is_some_and(|token| end < to && shape::is_digits(token.text));
    Some(if numbered { end + 1 } else { end })
}

/// The preposition before a value, and the stems between them.
fn binding<'t>(tokens: &[Token<'t>], floor: usize, at: usize) -> (&'t str, Vec<String>) {
    let mut before = Vec::new();
    let mut preposition = "";
    for token in tokens.get(floor..at).unwrap_or_default().iter().rev().take(5) {
        match token.kind {
            Kind::Mark(',' | ';' | ':') => break,
            Kind::Word => {}
            Kind::Quoted
            | Kind::Code
            | Kind::Url
            | Kind::Email
            | Kind::Path
            | Kind::Identifier
            | Kind::Number
            | Kind::Date
            | Kind::Time
            | Kind::Phone
            | Kind::Mark(_) => continue,
        }
        if PREPOSITIONS.iter().any(|(known, _)| token.is(known)) {
            let is_particle = token.is("for")
                && tokens.iter().take(at).any(|before| {
                    before.end + 1 == token.start && before.any(&["look", "looking", "hunt"])
                });
            if preposition.is_empty() && !is_particle {
                preposition = token.text;
            }
            // "a width of 640": what it is of comes before the preposition, and so
            // does what is called by a name.
            let counts = tokens.get(at).is_some_and(|token| token.kind == Kind::Number);
            if token.any(&["of", "to", "as"]) && !counts {
                break;
            }
            if !token.any(&[
                "of", "called", "named", "titled", "to", "as", "labeled", "labelled", "saying",
            ]) {
                break;
            }
            if token.is("to") && !before.is_empty() {
                break;
            }
            continue;
        }
        if token.any(&["and", "then", "or"]) {
            break;
        }
        if !token.any(FILLERS) {
            before.push(token.stem.clone());
        }
    }
    (preposition, before)
}

/// What is changed, in "the mode of run.sh to 755": its stem.
fn property(tokens: &[Token<'_>], from: usize, to: usize) -> Option<String> {
    let of = (from..to.min(from + 4))
        .find(|at| tokens.get(*at).is_some_and(|token| token.any(&["of", "for", "on", "in"])))?;
    let noun = tokens.get(of.checked_sub(1)?).filter(|_| of > from)?;
    (noun.kind == Kind::Word && !noun.any(FILLERS)).then(|| noun.stem.clone())
}

/// The stems of the words right behind a value.
fn following(tokens: &[Token<'_>], next: usize, to: usize) -> Vec<String> {
    let rest = tokens.get(next..to).unwrap_or_default();
    rest.iter()
        .take(2)
        .take_while(|token| {
            token.kind == Kind::Word
                && !PREPOSITIONS.iter().any(|(known, _)| token.is(known))
                && !token.any(&["and", "or", "then"])
        })
        .flat_map(|token| token.lower.split('-').map(super::stem::stem).collect::<Vec<_>>())
        .collect()
}

/// Sentences with more values than this are not about one action.
const MOST: usize = 24;
