//! Which declared tool an announced action means.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::candidates::{Shape, candidates};
use super::fill::{Filled, Phrase, fill};
use super::lexicon::{FILLERS, NOT_OBJECTS, PREPOSITIONS, THINGS};
use super::parameters::Parameter;
use super::shape;
use super::stem::{name_words, stem};
use super::tokens::{Kind, Token};
use super::verbs::{Verb, is_generic, is_known};
use crate::recover::tools::{ToolSpec, Tools};

/// The groups of things that a stem belongs to.
static THING_GROUPS: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, things) in THINGS.iter().enumerate() {
        for thing in *things {
            groups.entry(stem(thing)).or_default().push(index);
        }
    }
    groups
});

/// The tools of a request, read once for all sentences.
#[derive(Debug)]
pub(super) struct Catalog<'s> {
    entries: Vec<Entry<'s>>,
}

#[derive(Debug)]
struct Entry<'s> {
    name: &'s str,
    parameters: Vec<Parameter<'s>>,
    /// Stems of the words of its name.
    words: Vec<String>,
    /// Stems of the words of its description.
    described: Vec<String>,
    /// Both.
    vocabulary: Vec<String>,
    /// The groups of things that the tool is for.
    things: Vec<usize>,
}

/// A tool that an action means.
pub(super) struct Match<'a, 's> {
    pub(super) name: &'s str,
    pub(super) filled: Filled,
    pub(super) score: f32,
    vocabulary: &'a [String],
}

impl<'s> Catalog<'s> {
    pub(super) fn new(tools: &'s Tools) -> Self {
        Self { entries: tools.list().iter().map(Entry::new).collect() }
    }

    /// The tool that an action means. `Err(true)` if it means one whose arguments
    /// the text does not say.
    pub(super) fn find(&self, phrase: Phrase<'_, '_>) -> Result<Match<'_, 's>, bool> {
        let Some((verb, phrase)) = head(phrase) else { return Err(false) };
        let mut best: Option<Match<'_, 's>> = None;
        let mut runner_up = 0.0_f32;
        let mut lacks = false;
        for entry in &self.entries {
            let Some(score) = entry.score(&verb, phrase) else { continue };
            let Some(filled) = fill(&entry.parameters, &entry.vocabulary, &verb, phrase) else {
                lacks = true;
                continue;
            };
            let score = score + filled.score;
            match &mut best {
                Some(found) if found.score >= score => runner_up = runner_up.max(score),
                best => {
                    runner_up = best.as_ref().map_or(runner_up, |found| found.score);
                    *best = Some(Match {
                        name: entry.name,
                        filled,
                        score,
                        vocabulary: &entry.vocabulary,
                    });
                }
            }
        }
        best.filter(|found| found.filled.has_values || names_thing(found.vocabulary, phrase))
            .filter(|found| found.score >= LEAST && found.score - runner_up >= MARGIN)
            .ok_or(lacks)
    }
}

impl<'s> Entry<'s> {
    fn new(tool: &'s ToolSpec) -> Self {
        let ToolSpec { name, description, schema } = tool;
        let parameters = schema
            .properties
            .iter()
            .map(|(name, property)| Parameter::new(name, property, schema.required.contains(name)))
            .collect::<Vec<_>>();
        let words: Vec<String> = name_words(name).iter().map(|word| stem(word)).collect();
        let described: Vec<String> = name_words(shape::prefix(description, LONGEST_DESCRIPTION))
            .iter()
            .filter(|word| !FILLERS.contains(&word.as_str()) && word.len() > 1)
            .map(|word| stem(word))
            .collect();
        let vocabulary: Vec<String> = words.iter().chain(&described).cloned().collect();
        let all = parameters
            .iter()
            .flat_map(|parameter| parameter.stems.iter().chain(&parameter.described_stems));
        let things = vocabulary
            .iter()
            .chain(all)
            .filter_map(|stem| THING_GROUPS.get(stem))
            .flatten()
            .copied()
            .collect();
        Self { name, parameters, words, described, vocabulary, things }
    }

    /// How well the words of an action suit the tool. `None` if they do not.
    fn score(&self, verb: &Verb, phrase: Phrase<'_, '_>) -> Option<f32> {
        let Phrase { paragraph, tokens, start: _, verb: at, end } = phrase;
        let said = tokens.get(at + 1..end).unwrap_or_default();
        let named = said.iter().any(|token| {
            token.text == self.name
                || (token.kind == Kind::Code && token.text.trim_end_matches("()") == self.name)
        });
        if named && verb_is_call(verb) {
            return Some(8.0);
        }
        let in_name = self.is_named_after(verb);
        if verb.is_talk() && !in_name {
            return None;
        }
        let is_choice = tokens.get(at).is_some_and(|token| {
            token.kind == Kind::Identifier
                && self.parameters.iter().any(|parameter| {
                    parameter.schema.choices.iter().any(|choice| choice == token.text)
                })
        });
        let first = self.described.first();
        let for_verb = if in_name {
            3.0
        } else if is_choice || first.is_some_and(|word| verb.is(word)) {
            2.5
        } else if self.verbs().iter().any(|word| verb.stands_for(word))
            || self
                .parameters
                .iter()
                .any(|parameter| parameter.is_flag() && parameter.stems.contains(&verb.stem))
        {
            2.0
        } else if first.is_some_and(|word| verb.stands_for(word)) {
            1.5
        } else {
            return None;
        };
        let nouns = self.nouns(verb, said)?;
        let mut shapes = 0.0_f32;
        for candidate in candidates(paragraph, tokens, at + 1, end) {
            let suits =
                self.parameters.iter().filter(|parameter| parameter.is_text()).map(|parameter| {
                    match candidate.shape {
                        Shape::Url if parameter.is_link() => 1.5,
                        Shape::Path if parameter.is_path() => 1.5,
                        Shape::Email if parameter.is_email() => 1.5,
                        Shape::Code if parameter.is_code() => 1.5,
                        Shape::Code if parameter.is_path() => 0.75,
                        Shape::Path if parameter.suits(&candidate) >= 3.0 => 1.0,
                        Shape::Date if parameter.is_day() => 1.0,
                        Shape::Phone if parameter.suits(&candidate) >= 3.0 => 1.5,
                        Shape::Identifier
                            if candidate.text.starts_with(['#', '@'])
                                && parameter.named(&["channel", "user", "recipient"]) =>
                        {
                            1.5
                        }
                        Shape::Url
                        | Shape::Path
                        | Shape::Email
                        | Shape::Code
                        | Shape::Date
                        | Shape::Phone
                        | Shape::Identifier
                        | Shape::Quoted
                        | Shape::Number
                        | Shape::Time
                        | Shape::Name => 0.0,
                    }
                });
            shapes = shapes.max(suits.fold(0.0, f32::max));
        }
        let searches = in_name
            && self
                .parameters
                .iter()
                .any(|parameter| parameter.is_required && parameter.is_query());
        let is_distinct = searches
            || (!verb.is_generic()
                && (in_name
                    || self.verbs().iter().any(|word| verb.stands_for(word) && !is_generic(word))));
        (nouns > 0.0 || shapes > 0.0 || is_distinct || is_choice)
            .then_some(for_verb + nouns + shapes)
    }

    /// The words of the tool's name that may be verbs. In `log_call` only the first
    /// is one.
    fn verbs(&self) -> &[String] {
        let starts_with_verb = self.words.first().is_some_and(|word| is_known(word));
        self.words.get(..if starts_with_verb { 1 } else { self.words.len() }).unwrap_or_default()
    }

    /// Whether the tool's name has the verb.
    fn is_named_after(&self, verb: &Verb) -> bool {
        let phrasal = verb.phrasal.as_deref().and_then(|phrasal| phrasal.split_once(' '));
        let is_phrase = phrasal.is_some_and(|(first, second)| {
            self.words.windows(2).any(|pair| matches!(pair, [a, b] if a == first && b == second))
        });
        is_phrase || self.verbs().iter().any(|word| verb.is(word))
    }

    /// How much the nouns of an action are those of the tool. `None` if the action
    /// is about another thing.
    fn nouns(&self, verb: &Verb, said: &[Token<'_>]) -> Option<f32> {
        let mut seen: Vec<&str> = Vec::new();
        let mut score = 0.0_f32;
        let mut is_object = true;
        let mut foreign = false;
        for (index, token) in said.iter().enumerate() {
            if token.kind != Kind::Word && token.kind != Kind::Identifier {
                is_object &= token.is_mark();
                continue;
            }
            let is_preposition = PREPOSITIONS.iter().any(|(known, _)| token.is(known));
            if is_preposition && index > 0 {
                is_object = false;
            }
            if is_preposition
                || token.any(FILLERS)
                || seen.contains(&token.stem.as_str())
                || *token.stem == verb.stem
            {
                continue;
            }
            let is_parameter =
                self.parameters.iter().any(|parameter| parameter.stems.contains(&token.stem));
            let thing = THING_GROUPS.get(&token.stem);
            let same_thing =
                thing.is_some_and(|groups| groups.iter().any(|group| self.things.contains(group)));
            if self.words.contains(&token.stem) {
                score += 2.0;
            } else if self.described.contains(&token.stem) || is_parameter || same_thing {
                score += 1.0;
            } else {
                let next = said.get(index + 1);
                let is_head = next.is_none_or(|next| {
                    next.kind != Kind::Word
                        || PREPOSITIONS.iter().any(|(known, _)| next.is(known))
                        || next.any(FILLERS)
                });
                let before = index.checked_sub(1).and_then(|before| said.get(before));
                let is_value = before.is_some_and(|before| {
                    self.parameters.iter().any(|parameter| parameter.stems.contains(&before.stem))
                        && !before.stem.is_empty()
                });
                let is_content = token.any(&["files", "contents", "entries"]);
                foreign |= is_object && is_head && thing.is_some() && !is_value && !is_content;
                continue;
            }
            seen.push(&token.stem);
        }
        (!foreign || score >= 4.0).then_some(score.min(4.0))
    }
}

/// Whether an action without any values is about the tool's own thing, and
/// nothing else: "pause the music now".
fn names_thing(vocabulary: &[String], phrase: Phrase<'_, '_>) -> bool {
    let said = phrase.tokens.get(phrase.verb + 1..phrase.end).unwrap_or_default();
    let articles = ["the", "all", "your", "my", "our", "current", "latest"];
    let asides = [
        "now", "first", "right", "away", "again", "for", "you", "please", "once", "more", "tool",
        "function", "suite",
    ];
    let mut has_thing = false;
    for (index, token) in said.iter().enumerate() {
        let known = vocabulary.contains(&token.stem) || token.kind == Kind::Identifier;
        has_thing |= known;
        let is_article = index == 0 || !has_thing;
        let fits = token.is_mark()
            || known
            || (is_article && token.any(&articles))
            || (has_thing && token.any(&asides));
        if !fits {
            return false;
        }
    }
    has_thing
}

/// The verb that says what is done: in "use the weather tool to check the
/// forecast" the second.
fn head<'a, 't>(phrase: Phrase<'a, 't>) -> Option<(Verb, Phrase<'a, 't>)> {
    let Phrase { tokens, verb: at, end, .. } = phrase;
    let verb = Verb::at(tokens, at, end)?;
    let next = tokens.get(at + 1).filter(|_| at + 1 < end);
    // "run through" is not to run.
    if verb.phrasal.is_none() && next.is_some_and(|next| next.any(NOT_OBJECTS)) {
        return None;
    }
    let said = tokens.get(at + 1..end).unwrap_or_default();
    let teaches = said.windows(2).any(|pair| matches!(pair, [a, b] if a.is("how") && b.is("to")));
    if teaches && !matches!(verb.stem.as_str(), "search" | "look" | "find") {
        return None;
    }
    if verb.stem == "us" {
        let to = said.iter().position(|token| token.is("to"));
        let second = to.and_then(|to| Verb::at(tokens, at + 2 + to, end));
        let has_tool = said
            .iter()
            .take(to.unwrap_or(0))
            .any(|token| matches!(token.kind, Kind::Identifier | Kind::Code));
        if let Some(second) = second
            && !has_tool
        {
            return Some((second, phrase));
        }
    }
    Some((verb, phrase))
}

fn verb_is_call(verb: &Verb) -> bool {
    matches!(verb.stem.as_str(), "us" | "cal" | "invok" | "run" | "execut" | "trigger" | "mak")
}

/// A tool that scores less is not meant.
const LEAST: f32 = 3.0;

/// How much better the best tool has to be than the next.
const MARGIN: f32 = 0.5;

const LONGEST_DESCRIPTION: usize = 400;
