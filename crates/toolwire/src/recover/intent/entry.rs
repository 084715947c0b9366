//! A declared tool, and how well an action suits it.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::candidates::{Candidate, Shape, candidates};
use super::clause;
use super::file_kinds;
use super::fill::Phrase;
use super::lexicon::{FILLERS, THINGS};
use super::parameters::Parameter;
use super::shape;
use super::stem::{name_words, stem};
use super::tokens::{Kind, Token, TokenSlice, tokenize};
use super::verbs::{Verb, is_generic, is_known};
use crate::recover::tools::ToolSpec;

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

#[derive(Debug)]
pub(super) struct Entry<'s> {
    pub(super) name: &'s str,
    pub(super) parameters: Vec<Parameter<'s>>,
    /// Stems of the words of its name.
    words: Vec<String>,
    /// Stems of the words of its description.
    described: Vec<String>,
    /// Both.
    pub(super) vocabulary: Vec<String>,
    /// The verb that its description begins with: "Look up a word".
    opening: Option<Verb>,
    /// The groups of things that the tool is for.
    things: Vec<usize>,
}

/// How well an action suits a tool.
pub(super) struct ToolFit {
    pub(super) score: f32,
    /// Whether more than a verb that suits many tools speaks for this one.
    pub(super) is_evident: bool,
}

impl<'s> Entry<'s> {
    pub(super) fn new(tool: &'s ToolSpec) -> Self {
        let ToolSpec { name, description, schema } = tool;
        let parameters = Parameter::all(schema);
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
        let opening = tokenize(shape::prefix(description, LONGEST_OPENING));
        let opening = Verb::at(&opening, 0, opening.len());
        Self { name, parameters, words, described, vocabulary, opening, things }
    }

    /// Whether the tool's name or its description begins with the verb.
    pub(super) fn begins_with(&self, stem: &str) -> bool {
        self.words.first().is_some_and(|word| word == stem)
            || self.described.first().is_some_and(|word| word == stem)
    }

    /// How well the words of an action suit the tool. `None` if they do not.
    pub(super) fn fit(&self, verb: &Verb, phrase: Phrase<'_, '_>) -> Option<ToolFit> {
        let Phrase { paragraph, tokens, start: _, verb: at, end } = phrase;
        let said = tokens.get(at + 1..end).unwrap_or_default();
        let named = said.iter().any(|token| {
            token.text == self.name
                || (token.kind == Kind::Code && token.text.trim_end_matches("()") == self.name)
        });
        if named && verb_is_call(verb) {
            return Some(ToolFit { score: 8.0, is_evident: true });
        }
        let in_name = self.is_named_after(verb) || self.reminds(verb, phrase);
        let begins = self.opening.as_ref().is_some_and(|opening| verb.same(opening))
            && !said.first().is_some_and(|next| next.any(&["you", "me", "us", "everyone"]));
        if verb.is_talk() && !in_name && !begins {
            return None;
        }
        let is_choice = tokens.get(at).is_some_and(|token| {
            token.kind == Kind::Identifier
                && self.parameters.iter().any(|parameter| {
                    parameter.schema.choices.iter().any(|choice| choice == token.text)
                })
        });
        let opening = self.opening.as_ref();
        let is_flag =
            |parameter: &Parameter<'_>| parameter.is_flag() && parameter.stems.contains(&verb.stem);
        let is_distinct_opening = opening.is_some_and(|opening| {
            verb.stands_for(opening.text()) && !opening.is_generic() && !verb.is_generic()
        });
        let for_verb = if in_name {
            3.0
        } else if is_choice || opening.is_some_and(|opening| verb.same(opening)) {
            2.5
        } else if self.verbs().any(|word| verb.stands_for(word))
            || self.parameters.iter().any(is_flag)
            || (!self.has_verb() && verb.stands_for("get"))
        {
            2.0
        } else if opening.is_some_and(|opening| verb.stands_for(opening.text())) {
            if is_distinct_opening { 2.5 } else { 1.5 }
        } else {
            return None;
        };
        let nouns = self.nouns(verb, said)?;
        let found = candidates(paragraph, tokens, at + 1, end);
        let shapes = found.iter().map(|candidate| self.shape(candidate)).fold(0.0, f32::max);
        let kinds = found.iter().filter_map(|candidate| self.file_kind(candidate));
        let kinds = kinds.reduce(f32::max).unwrap_or(0.0);
        let searches = in_name
            && self
                .parameters
                .iter()
                .any(|parameter| parameter.is_required && parameter.is_query());
        let is_distinct = searches
            || is_distinct_opening
            || (!verb.is_generic()
                && (in_name
                    || opening.is_some_and(|opening| verb.same(opening))
                    || self.verbs().any(|word| verb.stands_for(word) && !is_generic(word))));
        let is_evident = nouns > 0.0 || shapes > 0.0 || is_distinct || is_choice;
        Some(ToolFit { score: for_verb + nouns + shapes + kinds, is_evident })
    }

    /// Whether the tool's name or description says what it does. One that is called
    /// `maps.distance` just gets it.
    fn has_verb(&self) -> bool {
        self.words.iter().any(|word| is_known(word))
            || self.opening.as_ref().is_some_and(|opening| is_known(&opening.stem))
    }

    /// Whether the action is to remind somebody of something, and the tool is for
    /// that.
    fn reminds(&self, verb: &Verb, phrase: Phrase<'_, '_>) -> bool {
        let Phrase { tokens, verb: at, end, .. } = phrase;
        verb.stem == "remind"
            && self.words.iter().any(|word| word == "reminder")
            && (at + 1..end).any(|to| tokens.is_at(to, "to") && clause::is_errand(tokens, at, to))
    }

    /// How much a value speaks for the tool by its shape alone.
    fn shape(&self, candidate: &Candidate<'_>) -> f32 {
        let fit = |parameter: &Parameter<'_>| match candidate.shape {
            Shape::Url if parameter.is_link() => 1.5,
            Shape::Path if parameter.is_path() => 1.5,
            Shape::Email if parameter.is_email() => 1.5,
            Shape::Code if parameter.is_code() => 1.5,
            Shape::Code if parameter.is_path() => 0.75,
            Shape::Path if parameter.fit(candidate) >= 3.0 => 1.0,
            Shape::Date if parameter.is_day() => 1.0,
            Shape::Phone if parameter.fit(candidate) >= 3.0 => 1.5,
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
        };
        let texts = self.parameters.iter().filter(|parameter| parameter.is_text());
        texts.map(fit).fold(0.0, f32::max)
    }

    /// How much the kind of a file speaks for the tool, or against it: a tool for
    /// documents does nothing with `photo.jpg`.
    fn file_kind(&self, candidate: &Candidate<'_>) -> Option<f32> {
        let is_file =
            matches!(candidate.shape, Shape::Path | Shape::Code | Shape::Quoted | Shape::Url);
        let kind = file_kinds::kind_of(candidate.text).filter(|_| is_file)?;
        Some(match file_kinds::compare(&self.vocabulary, kind) {
            (true, _) => 1.0,
            (false, true) => -1.0,
            (false, false) => 0.0,
        })
    }

    /// The words of the tool's name that may be verbs. In `log_call` only the first
    /// is one; in `email.reply` the description says that the second is one, too.
    fn verbs(&self) -> impl Iterator<Item = &String> {
        let starts_with_verb = self.words.first().is_some_and(|word| is_known(word));
        let count = if starts_with_verb { 1 } else { self.words.len() };
        let opening = self.opening.as_ref().map(|opening| &opening.stem);
        self.words
            .iter()
            .enumerate()
            .filter(move |(at, word)| *at < count || Some(*word) == opening)
            .map(|(_, word)| word)
    }

    /// Whether the tool's name has the verb.
    fn is_named_after(&self, verb: &Verb) -> bool {
        let phrasal = verb.phrasal.as_deref().and_then(|phrasal| phrasal.split_once(' '));
        let is_phrase = phrasal.is_some_and(|(first, second)| {
            self.words.windows(2).any(|pair| matches!(pair, [a, b] if a == first && b == second))
        });
        // `cherry_pick` is to cherry-pick.
        let parts: Vec<String> = verb.stem.split('-').map(stem).collect();
        let is_joined = parts.len() > 1 && self.words.starts_with(&parts);
        is_phrase || is_joined || self.verbs().any(|word| verb.is(word))
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
            let is_preposition = token.is_preposition();
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
            let is_choice = self.parameters.iter().any(|parameter| {
                parameter.schema.choices.iter().any(|choice| stem(choice) == token.stem)
            });
            let thing = THING_GROUPS.get(&token.stem);
            let same_thing =
                thing.is_some_and(|groups| groups.iter().any(|group| self.things.contains(group)));
            if self.words.contains(&token.stem) {
                score += 2.0;
            } else if self.described.contains(&token.stem)
                || is_parameter
                || same_thing
                || is_choice
            {
                score += 1.0;
            } else {
                let next = said.get(index + 1);
                let is_head = next.is_none_or(|next| {
                    next.kind != Kind::Word || next.is_preposition() || next.any(FILLERS)
                });
                let before = index.checked_sub(1).and_then(|before| said.get(before));
                let is_value = before.is_some_and(|before| {
                    self.parameters.iter().any(|parameter| parameter.stems.contains(&before.stem))
                        && !before.stem.is_empty()
                });
                let is_content = token.any(&["files", "contents", "entries", "times"]);
                foreign |= is_object && is_head && thing.is_some() && !is_value && !is_content;
                continue;
            }
            seen.push(&token.stem);
        }
        (!foreign || score >= 4.0).then_some(score.min(4.0))
    }
}

fn verb_is_call(verb: &Verb) -> bool {
    matches!(verb.stem.as_str(), "us" | "cal" | "invok" | "run" | "execut" | "trigger" | "mak")
}

const LONGEST_DESCRIPTION: usize = 400;

/// A verb and its particle are shorter, in bytes.
const LONGEST_OPENING: usize = 40;
