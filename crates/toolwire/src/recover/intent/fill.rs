//! The arguments of a call, read off a sentence.

use super::candidates::{Candidate, Shape, candidates, groups};
use super::flags::{choices, flag};
use super::numbers;
use super::parameters::Parameter;
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
    for mention in choices(parameters, tokens, from, end, &found) {
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
    filling.assign(&found, &groups);
    filling.plain(phrase, vocabulary);
    filling.finish(&found, &groups)
}

struct Filling<'a, 's> {
    parameters: &'a [Parameter<'s>],
    values: Vec<Value>,
    used: Vec<bool>,
    score: f32,
}

impl Filling<'_, '_> {
    fn mark(&mut self, from: usize, to: usize) {
        for used in self.used.iter_mut().take(to).skip(from) {
            *used = true;
        }
    }

    /// Gives each candidate to the parameter that it suits best.
    fn assign(&mut self, found: &[Candidate<'_>], groups: &[usize]) {
        let mut pairs = Vec::new();
        for (index, candidate) in found.iter().enumerate() {
            for (at, parameter) in self.parameters.iter().enumerate() {
                if matches!(self.values.get(at), Some(Value::Missing))
                    && let Some((score, value)) = self.pair(parameter, candidate)
                {
                    let listed =
                        groups.iter().filter(|group| groups.get(index) == Some(group)).count() > 1;
                    let score = if parameter.is_list() && listed { score + 3.0 } else { score };
                    pairs.push((score, index, at, value));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut taken = vec![false; found.len()];
        for (score, index, at, value) in pairs {
            let (Some(parameter), Some(candidate)) = (self.parameters.get(at), found.get(index))
            else {
                continue;
            };
            let free = matches!(self.values.get(at), Some(Value::Missing))
                && taken.get(index) == Some(&false);
            if !free {
                continue;
            }
            let value = if parameter.is_list() {
                let members: Vec<usize> = (0..found.len())
                    .filter(|member| {
                        groups.get(*member) == groups.get(index)
                            && taken.get(*member) == Some(&false)
                    })
                    .collect();
                let texts = members
                    .iter()
                    .filter_map(|member| found.get(*member))
                    .map(|member| member.text.to_owned())
                    .collect();
                for member in members {
                    if let Some(taken) = taken.get_mut(member) {
                        *taken = true;
                    }
                    if let Some(member) = found.get(member) {
                        self.mark(member.from, member.to);
                    }
                }
                Value::List(texts)
            } else if parameter.is_number() {
                Value::Literal(value)
            } else {
                Value::Of(index, value)
            };
            if let Some(slot) = self.values.get_mut(at) {
                *slot = value;
            }
            if let Some(taken) = taken.get_mut(index) {
                *taken = true;
            }
            self.mark(candidate.from, candidate.to);
            self.score += (score / 8.0).min(0.75);
        }
    }

    /// How well a candidate suits a parameter, and what its value would be.
    fn pair(&self, parameter: &Parameter<'_>, candidate: &Candidate<'_>) -> Option<(f32, String)> {
        let required = if parameter.is_required { 0.75 } else { 0.0 };
        let elsewhere = !parameter.takes_preposition(candidate.preposition)
            && self.parameters.iter().any(|other| {
                other.takes_preposition(candidate.preposition)
                    && (other.is_text() || other.is_number())
            });
        let names = |parameter: &Parameter<'_>| {
            candidate.before.iter().any(|stem| parameter.stems.contains(stem))
        };
        // "with the tags" is about tags, whatever else comes with something.
        let astray = if names(parameter) {
            0.0
        } else if self.parameters.iter().any(names) {
            3.0
        } else if elsewhere {
            2.0
        } else {
            0.0
        };
        if parameter.is_number() {
            if candidate.shape != Shape::Number {
                return None;
            }
            let (score, value) = numbers::suits(parameter, candidate)?;
            let least = if parameter.is_required { 1.0 } else { 3.0 };
            return (score + required >= least).then_some((score + required, value));
        }
        if !parameter.is_text() || parameter.is_flag() {
            return None;
        }
        let suits = parameter.suits(candidate);
        if suits <= 0.0 {
            return None;
        }
        let binds = parameter.binds(candidate);
        let direct =
            if candidate.preposition.is_empty() && parameter.is_required { 1.0 } else { 0.0 };
        let score = suits + binds + direct + required - if suits >= 5.0 { 0.0 } else { astray };
        let is_enough = if parameter.is_required {
            score >= 1.5 && (suits >= 1.0 || binds >= 3.0)
        } else {
            score >= 4.0 && (binds > 0.0 || suits >= 5.0)
        };
        // A bare number is a name only where the text says of what.
        let is_named = candidate.shape != Shape::Number
            || (candidate.preposition.is_empty()
                && candidate.before.first().is_some_and(|stem| parameter.stems.contains(stem)));
        let value = match candidate.shape {
            Shape::Date | Shape::Time if !candidate.value.is_empty() => candidate.value.clone(),
            Shape::Number => candidate.text.trim_start_matches('#').to_owned(),
            Shape::Identifier
                if !parameter.named(&[
                    "channel", "tag", "hashtag", "color", "handle", "username", "user",
                ]) =>
            {
                candidate.text.trim_start_matches('#').to_owned()
            }
            Shape::Quoted
            | Shape::Code
            | Shape::Url
            | Shape::Email
            | Shape::Path
            | Shape::Identifier
            | Shape::Date
            | Shape::Time
            | Shape::Phone
            | Shape::Name => candidate.text.to_owned(),
        };
        (is_enough && is_named).then_some((score, value))
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
                *slot = Value::Text(value);
            }
        }
    }

    /// Writes the arguments, if all that is required is there.
    fn finish(mut self, found: &[Candidate<'_>], groups: &[usize]) -> Option<Filled> {
        let is_complete =
            self.parameters.iter().zip(&self.values).all(|(parameter, value)| {
                !parameter.is_required || !matches!(value, Value::Missing)
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
        Some(Filled { calls, has_values, score: self.score })
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
