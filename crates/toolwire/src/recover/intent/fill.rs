//! The arguments of a call, read off a sentence.

use super::candidates::{Candidate, Shape, candidates, groups};
use super::flags::{choices, flag};
use super::numbers;
use super::parameters::{Parameter, Parent};
use super::plain::Words;
use super::tokens::Token;
use super::value::{Value, write};
use super::verbs::Verb;

/// What one action says.
#[derive(Clone, Copy)]
pub(super) struct Phrase<'a, 't> {
    pub(super) paragraph: &'t str,
    pub(super) tokens: &'a [Token<'t>],
    /// Where what is said about the action starts: at its verb, or before it.
    pub(super) start: usize,
    /// Where the verb is.
    pub(super) verb: usize,
    pub(super) end: usize,
}

/// Arguments for a tool.
#[derive(Debug)]
pub(super) struct Filled {
    /// The arguments of one call, or of several that differ in one value.
    pub(super) calls: Vec<String>,
    /// Whether there is any.
    pub(super) has_values: bool,
    /// Whether a required one is a choice that the text names.
    pub(super) has_choice: bool,
    /// How well the values suit.
    pub(super) score: f32,
}

/// Fills the parameters of a tool. Nothing if a required one is not mentioned, or
/// if the action is for another day.
pub(super) fn fill(
    parameters: &[Parameter<'_>],
    vocabulary: &[String],
    verb: &Verb,
    phrase: Phrase<'_, '_>,
) -> Option<Filled> {
    let Phrase { paragraph, tokens, start, verb: from, end } = phrase;
    let mut found = candidates(paragraph, tokens, from + 1, end);
    found.retain(|candidate| !is_vocabulary(candidate, tokens, vocabulary));
    let mut filling = Filling {
        parameters,
        values: parameters.iter().map(|_| Value::Missing).collect(),
        used: vec![false; tokens.len()],
        score: 0.0,
    };
    for mention in choices(parameters, verb, phrase, &found) {
        let choice = parameters
            .get(mention.parameter)
            .and_then(|parameter| parameter.schema.choices.get(mention.choice));
        if let (Some(choice), Some(value)) = (choice, filling.values.get_mut(mention.parameter)) {
            *value = Value::Text(choice.clone());
            filling.mark(mention.from, mention.to);
            filling.score += 0.5;
        }
    }
    for (parameter, value) in parameters.iter().zip(&mut filling.values) {
        if parameter.is_flag()
            && let Some(state) = flag(parameter, verb, tokens, start, end)
        {
            *value = Value::Literal(state.to_string());
        }
    }
    found.retain(|candidate| {
        !filling.used.get(candidate.from..candidate.to).is_some_and(|used| used.contains(&true))
    });
    let groups = groups(tokens, &found);
    filling.errand(phrase, &found);
    filling.assign(&found, &groups);
    filling.moments(paragraph, tokens, &found);
    filling.currency(&found);
    filling.plain(phrase, vocabulary);
    filling.leftover(phrase, vocabulary);
    filling.finish(&found, &groups)
}

/// The values of a call, while they are found.
pub(super) struct Filling<'a, 's> {
    pub(super) parameters: &'a [Parameter<'s>],
    pub(super) values: Vec<Value>,
    /// Which tokens have become values.
    pub(super) used: Vec<bool>,
    pub(super) score: f32,
}

impl Filling<'_, '_> {
    pub(super) fn mark(&mut self, from: usize, to: usize) {
        for used in self.used.iter_mut().take(to).skip(from) {
            *used = true;
        }
    }

    /// Fills what is left from plain words.
    fn plain(&mut self, phrase: Phrase<'_, '_>, vocabulary: &[String]) {
        let Phrase { paragraph, tokens, start: _, verb, end } = phrase;
        for (at, parameter) in self.parameters.iter().enumerate() {
            let is_open = matches!(self.values.get(at), Some(Value::Missing))
                && parameter.is_text()
                && !parameter.is_flag();
            if !is_open {
                continue;
            }
            let words =
                Words { paragraph, tokens, from: verb + 1, to: end, used: &self.used, vocabulary };
            if parameter.is_list() {
                if let Some((items, from, to)) = words.list(parameter) {
                    self.mark(from, to);
                    if let Some(slot) = self.values.get_mut(at) {
                        *slot = Value::List(items);
                    }
                }
                continue;
            }
            let mut value = None;
            if let Some((from, to)) = words.value(parameter) {
                let (first, last) = (tokens.get(from), tokens.get(to.saturating_sub(1)));
                if let Some((first, last)) = first.zip(last) {
                    value = paragraph.get(first.start..last.end).map(str::to_owned);
                    self.mark(from, to);
                }
            } else if parameter.is_required {
                value = words.query(parameter).map(str::to_owned);
            }
            if let (Some(value), Some(slot)) = (value, self.values.get_mut(at)) {
                *slot = Value::Text(parameter.coded(&value));
            }
        }
    }

    /// Writes the arguments, if all that is required is there.
    fn finish(mut self, found: &[Candidate<'_>], groups: &[usize]) -> Option<Filled> {
        let is_given = |parent: Option<Parent<'_>>| {
            parent.is_some_and(|parent| {
                parent.needs_member
                    && self.parameters.iter().zip(&self.values).any(|(other, value)| {
                        other.parent.is_some_and(|other| other.name == parent.name)
                            && !matches!(value, Value::Missing)
                    })
            })
        };
        let is_complete = self.parameters.iter().zip(&self.values).all(|(parameter, value)| {
            let is_needed = parameter.is_required || is_given(parameter.parent);
            !is_needed || !matches!(value, Value::Missing)
        });
        if !is_complete {
            return None;
        }
        let is_used = |candidate: &Candidate<'_>| self.used.get(candidate.from) == Some(&true);
        // For another day.
        if found.iter().any(|candidate| {
            candidate.shape == Shape::Date
                && candidate.value.is_empty()
                && !is_used(candidate)
                && !candidate.text.eq_ignore_ascii_case("today")
        }) {
            return None;
        }
        // For another time: "in a week".
        if found.iter().any(|candidate| {
            candidate.shape == Shape::Number
                && candidate.preposition == "in"
                && !is_used(candidate)
                && numbers::is_time(candidate)
        }) {
            return None;
        }
        let mut calls = vec![write(self.parameters, &self.values)];
        let mut spare = 0;
        for (index, candidate) in
            found.iter().enumerate().filter(|(_, candidate)| !is_used(candidate))
        {
            let sibling = self.values.iter().position(|value| {
                matches!(value, Value::Of(of, _) if groups.get(*of) == groups.get(index) && found.get(*of).is_some_and(|first| first.shape == candidate.shape))
            });
            match sibling {
                Some(at) => {
                    let mut values = self.values.clone();
                    if let Some(value) = values.get_mut(at) {
                        *value = Value::Text(candidate.text.to_owned());
                    }
                    calls.push(write(self.parameters, &values));
                }
                None if matches!(
                    candidate.shape,
                    Shape::Quoted
                        | Shape::Code
                        | Shape::Url
                        | Shape::Email
                        | Shape::Path
                        | Shape::Date
                ) =>
                {
                    spare += 1
                }
                None => {}
            }
        }
        for _ in 0..spare {
            self.score -= 1.0;
        }
        let has_values = self.values.iter().any(|value| !matches!(value, Value::Missing));
        let has_choice = self.parameters.iter().zip(&self.values).any(|(parameter, value)| {
            parameter.is_required
                && !parameter.schema.choices.is_empty()
                && !matches!(value, Value::Missing)
        });
        Some(Filled { calls, has_values, has_choice, score: self.score })
    }
}

/// Whether a name is a word of the tool and no value: "the CRM".
fn is_vocabulary(candidate: &Candidate<'_>, tokens: &[Token<'_>], vocabulary: &[String]) -> bool {
    matches!(candidate.shape, Shape::Identifier | Shape::Name)
        && tokens.get(candidate.from..candidate.to).is_some_and(|tokens| {
            tokens
                .iter()
                .all(|token| vocabulary.contains(&token.stem) || vocabulary.contains(&token.lower))
        })
}
