//! Booleans and choices: values that a sentence mentions by their names.

use super::candidates::Candidate;
use super::fill::Phrase;
use super::lexicon::WEAK_CHOICES;
use super::parameters::Parameter;
use super::stem::stem;
use super::tokens::{Kind, Token};
use super::verbs::Verb;

/// A word of a sentence; `all-day` is two.
struct Piece {
    stem: String,
    lower: String,
    token: usize,
}

fn pieces(tokens: &[Token<'_>], from: usize, to: usize) -> Vec<Piece> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().take(to).skip(from) {
        if !matches!(token.kind, Kind::Word | Kind::Identifier | Kind::Path) {
            continue;
        }
        for part in token.lower.split(['-', '_']).filter(|part| !part.is_empty()) {
            found.push(Piece { stem: stem(part), lower: part.to_owned(), token: at });
        }
    }
    found
}

/// What a sentence says about a flag, if anything.
pub(super) fn flag(
    parameter: &Parameter<'_>,
    verb: &Verb,
    tokens: &[Token<'_>],
    from: usize,
    to: usize,
) -> Option<bool> {
    if parameter.named(&["on", "enabled", "power", "powered", "active", "enable"])
        && let Some(state) = switched(verb)
    {
        return Some(state);
    }
    let words: Vec<&String> =
        parameter.words.iter().filter(|word| !FLAG_WORDS.contains(&word.as_str())).collect();
    let weak = |word: &String| word.len() < 3 || WEAK_CHOICES.contains(&word.as_str());
    let is_weak = words.is_empty() || words.iter().all(|word| weak(word));
    let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
    let pieces = pieces(tokens, from, to);
    // `no_cache` is true of what is done without a cache.
    let is_negative = parameter.words.first().is_some_and(|word| word == "no");
    let named = find_words(&pieces, &stems).filter(|_| !is_weak);
    let by_name = named.map(|(at, end)| is_affirmed(&pieces, at, end));
    by_name.map(|state| state != is_negative).or_else(|| by_description(parameter, &pieces))
}

/// What a sentence says about a flag in the words of its description: "ignoring
/// case", or "including the stopped ones" of a flag that includes what is stopped.
fn by_description(parameter: &Parameter<'_>, pieces: &[Piece]) -> Option<bool> {
    let described: Vec<String> = parameter
        .described_stems
        .iter()
        .filter(|stem| !matches!(stem.as_str(), "only" | "on" | "whether" | "if" | "tru" | "als"))
        .cloned()
        .collect();
    if (2..=3).contains(&described.len())
        && let Some((at, end)) = find_words(pieces, &described)
    {
        return Some(is_affirmed(pieces, at, end));
    }
    let is_inclusion = described.first().is_some_and(|stem| stem == "includ");
    let lead = pieces.iter().position(|piece| {
        piece.stem == "includ" || matches!(piece.lower.as_str(), "even" | "excluding" | "without")
    });
    let lead = lead.filter(|_| is_inclusion)?;
    let rest = pieces.get(lead + 1..lead + 4).unwrap_or_default();
    let is_meant =
        rest.iter().any(|piece| described.iter().skip(1).any(|stem| *stem == piece.stem));
    let excludes = pieces
        .get(lead)
        .is_some_and(|piece| matches!(piece.lower.as_str(), "excluding" | "without"));
    is_meant.then_some(!excludes)
}

/// Where words stand one behind the other, but for articles between them.
fn find_words(pieces: &[Piece], stems: &[String]) -> Option<(usize, usize)> {
    (0..pieces.len()).find_map(|start| {
        let mut at = start;
        for (index, stem) in stems.iter().enumerate() {
            while index > 0
                && pieces.get(at).is_some_and(|piece| ARTICLES.contains(&piece.lower.as_str()))
            {
                at += 1;
            }
            if pieces.get(at)?.stem != *stem {
                return None;
            }
            at += 1;
        }
        Some((start, at))
    })
}

/// Whether the words from `at` to `end` are not denied.
fn is_affirmed(pieces: &[Piece], at: usize, end: usize) -> bool {
    let before = pieces.get(at.saturating_sub(2)..at).unwrap_or_default();
    let denied = ["not", "no", "without", "non", "don't", "disable", "disabled", "never", "skip"];
    let denied_here = before.iter().any(|piece| denied.contains(&piece.lower.as_str()));
    let off = pieces
        .get(end)
        .is_some_and(|piece| matches!(piece.lower.as_str(), "off" | "disabled" | "false"));
    !denied_here && !off
}

fn switched(verb: &Verb) -> Option<bool> {
    let phrase = verb.phrasal.as_deref().unwrap_or(&verb.stem);
    match phrase {
        "turn on" | "switch on" | "enabl" | "activat" | "start" => Some(true),
        "turn off" | "switch off" | "disabl" | "deactivat" | "stop" => Some(false),
        _ => None,
    }
}

/// A choice that a sentence mentions for a parameter.
pub(super) struct Mention {
    pub(super) parameter: usize,
    pub(super) choice: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    score: f32,
}

/// The choices that a sentence makes, at most one for a parameter.
pub(super) fn choices(
    parameters: &[Parameter<'_>],
    verb: &Verb,
    phrase: Phrase<'_, '_>,
    values: &[Candidate<'_>],
) -> Vec<Mention> {
    let Phrase { tokens, start, verb: from, end: to, .. } = phrase;
    let mut mentions = Vec::new();
    let pieces = pieces(tokens, start, to);
    for (index, parameter) in parameters.iter().enumerate() {
        // "turn off" chooses the state `off`.
        let states: &[&str] = match switched(verb) {
            Some(true) => &["on", "enabled", "active"],
            Some(false) => &["off", "disabled", "inactive"],
            None => &[],
        };
        let state = |text: &String| states.contains(&text.to_lowercase().as_str());
        if let Some(choice) = parameter.schema.choices.iter().position(state) {
            let (from, to) = (from, from + 1);
            mentions.push(Mention { parameter: index, choice, from, to, score: 9.0 });
        }
        for (choice, text) in parameter.schema.choices.iter().enumerate().take(MOST_CHOICES) {
            find(parameters, parameter, index, choice, text, tokens, from, &pieces, &mut mentions);
            for value in values.iter().filter(|value| value.text.eq_ignore_ascii_case(text)) {
                mentions.push(Mention {
                    parameter: index,
                    choice,
                    from: value.from,
                    to: value.to,
                    score: 3.0 + parameter.binds(value),
                });
            }
        }
    }
    mentions.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then(a.from.cmp(&b.from)).then(a.parameter.cmp(&b.parameter))
    });
    let mut taken: Vec<Mention> = Vec::new();
    for mention in mentions {
        let clashes = taken.iter().any(|other| {
            other.parameter == mention.parameter
                || (other.from < mention.to && mention.from < other.to)
        });
        if !clashes {
            taken.push(mention);
        }
    }
    taken
}

#[allow(clippy::too_many_arguments, reason = "the parts of one search")]
fn find(
    parameters: &[Parameter<'_>],
    parameter: &Parameter<'_>,
    index: usize,
    choice: usize,
    text: &str,
    tokens: &[Token<'_>],
    verb: usize,
    pieces: &[Piece],
    mentions: &mut Vec<Mention>,
) {
    let words: Vec<String> = text
        .split([' ', '-', '_'])
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    if words.is_empty() {
        return;
    }
    let is_upper = text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase);
    for at in 0..pieces.len() {
        let window = pieces.get(at..at + words.len()).unwrap_or_default();
        let same = window.len() == words.len()
            && window.iter().zip(&words).all(|(piece, word)| {
                piece.lower == *word || (word.len() > 3 && piece.stem == stem(word))
            });
        let (Some(first), Some(last)) = (window.first(), window.last()) else { continue };
        if !same {
            continue;
        }
        let is_exact = tokens.get(first.token).is_some_and(|token| token.text == text);
        if (is_upper && !is_exact) || (first.token == verb && !is_upper) {
            continue;
        }
        let near = |from: usize, to: usize| {
            let around = tokens.get(from..to.min(tokens.len())).unwrap_or_default();
            around.iter().any(|token| {
                parameter.stems.contains(&token.stem)
                    || parameter.described_stems.contains(&token.stem)
            })
        };
        let is_near = near(first.token.saturating_sub(3), first.token)
            || near(last.token + 1, last.token + 3);
        let before = first.token.checked_sub(1).and_then(|at| tokens.get(at));
        let is_led = before.is_some_and(|token| parameter.takes_preposition(&token.lower));
        // "a price of 40" sorts nothing by price.
        let is_shared = parameters.iter().any(|parameter| parameter.stems.contains(&first.stem));
        if (is_shared || WEAK_CHOICES.contains(&text.to_lowercase().as_str())) && !is_near {
            continue;
        }
        let score = 3.0 + if is_near { 3.0 } else { 0.0 } + if is_led { 2.0 } else { 0.0 };
        mentions.push(Mention {
            parameter: index,
            choice,
            from: first.token,
            to: last.token + 1,
            score,
        });
    }
}

/// Words in the names of flags that say nothing about what is switched.
const FLAG_WORDS: &[&str] = &[
    "no", "is", "has", "include", "includes", "only", "show", "with", "use", "enable", "should",
    "be", "make",
];

const ARTICLES: &[&str] = &["the", "a", "an", "all", "any", "your", "its", "their"];

const MOST_CHOICES: usize = 64;
