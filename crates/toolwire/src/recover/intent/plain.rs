//! Values in plain words: "the service billing", "the src directory", "in logs".

use super::lexicon::{FILLERS, KINDS_OF_ROOMS, NAMES, PROSE, VAGUE};
use super::parameters::Parameter;
use super::roles::ITEMS;
use super::tokens::{Kind, Token, TokenSlice};
use super::verbs;

/// What an action says, without the verb.
#[derive(Clone, Copy)]
pub(super) struct Words<'a, 't> {
    pub(super) paragraph: &'t str,
    pub(super) tokens: &'a [Token<'t>],
    pub(super) from: usize,
    pub(super) to: usize,
    /// Which tokens have become values.
    pub(super) used: &'a [bool],
    /// The words of the tool's name and description, as stems.
    pub(super) vocabulary: &'a [String],
}

impl<'t> Words<'_, 't> {
    /// The value of a text parameter, and the tokens that it is made of.
    pub(super) fn value(&self, parameter: &Parameter<'_>) -> Option<(usize, usize)> {
        if parameter.is_day()
            || parameter.is_clock()
            || parameter.is_link()
            || parameter.is_email()
            || parameter.is_list()
        {
            return None;
        }
        let found = self
            .beside_noun(parameter)
            .or_else(|| self.unit(parameter))
            .or_else(|| self.after_preposition(parameter))
            .or_else(|| self.item(parameter));
        found.filter(|(from, _)| {
            parameter.takes_word(self.tokens.get(*from).map_or("", |token| &token.lower))
        })
    }

    /// "the folder assets", "the assets folder".
    fn beside_noun(&self, parameter: &Parameter<'_>) -> Option<(usize, usize)> {
        let is_name = parameter.words.len() == 1 && parameter.named(&["name"]);
        let prose = parameter.is_code() || parameter.is_query() || parameter.named(PROSE);
        if prose && !is_name {
            return None;
        }
        let is_noun = |at: usize| {
            self.tokens.get(at).is_some_and(|token| {
                token.kind == Kind::Word
                    && !token.any(FILLERS)
                    && (parameter.stems.contains(&token.stem)
                        || (parameter.is_path() && token.any(&["folder", "directory"]))
                        || (is_name && parameter.described_stems.contains(&token.stem)))
                    && !token.is_preposition()
            })
        };
        for noun in (self.from..self.to).filter(|at| is_noun(*at)) {
            let mut next = noun + 1;
            while self.tokens.get(next).is_some_and(|token| {
                next < self.to
                    && (token.any(&["called", "named", "is", "set", "to", "="])
                        && next - noun < 3
                        && !self.is_number(next + 1))
            }) {
                next += 1;
            }
            let is_known = |at: usize| {
                self.tokens.get(at).is_some_and(|token| self.vocabulary.contains(&token.stem))
            };
            // "the user account jdoe"
            if is_known(next) && self.is_value(next) && self.is_value(next + 1) {
                next += 1;
            }
            let known = is_known(next);
            if self.is_value(next) && !known {
                return Some((next, next + 1));
            }
            if is_name {
                continue;
            }
            let is_file =
                parameter.is_path() && !self.tokens.any_at(noun, &["folder", "directory"]);
            if is_file {
                continue;
            }
            let run = (self.from..noun)
                .rev()
                .take(3)
                .take_while(|at| self.is_value(*at) && !self.is_verb(*at))
                .last();
            let Some(start) = run else { continue };
            let vague = self.tokens.any_at(start, VAGUE);
            let known =
                self.tokens.get(start).is_some_and(|token| self.vocabulary.contains(&token.stem));
            if vague || known {
                continue;
            }
            // In "the living room light", the noun is part of the value.
            let is_compound = self
                .tokens
                .get(noun + 1)
                .is_some_and(|token| noun + 1 < self.to && self.vocabulary.contains(&token.stem));
            let has_noun = is_compound || self.keeps_noun(parameter, start, noun);
            return Some((start, if has_noun { noun + 1 } else { noun }));
        }
        self.before_thing(parameter)
    }

    /// Whether the noun is part of the value: in "the living room" it is, and so it
    /// is if the description gives an example with it, "such as front door".
    fn keeps_noun(&self, parameter: &Parameter<'_>, start: usize, noun: usize) -> bool {
        let is_room = self.tokens.is_at(noun, "room") && self.tokens.any_at(start, KINDS_OF_ROOMS);
        let description = parameter.schema.description.to_lowercase();
        let example = ["such as", "e.g.", "like", "for example", "for instance"]
            .iter()
            .find_map(|lead| description.split_once(lead))
            .map_or("", |(_, example)| example);
        let is_shown = self.tokens.get(noun).is_some_and(|noun| {
            example
                .split_whitespace()
                .any(|word| word.trim_matches(['"', '\'', ',', '.']) == noun.lower)
        });
        let is_door = self.tokens.any_at(noun, &["door", "gate"]);
        is_room || is_door || is_shown
    }

    /// "the kitchen light" says which room.
    fn before_thing(&self, parameter: &Parameter<'_>) -> Option<(usize, usize)> {
        if !parameter.named(&["room", "device", "zone", "appliance"]) {
            return None;
        }
        if parameter.named(&["device", "appliance"]) && parameter.is_required {
            return self.object();
        }
        let thing = (self.from..self.to).find(|at| {
            self.tokens.any_at(
                *at,
                &["light", "lights", "lamp", "lamps", "heating", "thermostat", "speaker", "blinds"],
            )
        })?;
        let start = (self.from..thing)
            .rev()
            .take(2)
            .take_while(|at| self.is_value(*at) && !self.is_verb(*at))
            .last()?;
        let vague = self.tokens.any_at(start, VAGUE);
        (!vague).then_some((start, thing))
    }

    /// The object of the verb: "turn on the coffee machine".
    fn object(&self) -> Option<(usize, usize)> {
        let article = (self.from..self.to)
            .take(2)
            .find(|at| self.tokens.any_at(*at, &["the", "my", "your"]))?;
        let run = (article + 1..self.to).take(3).take_while(|at| self.is_value(*at)).count();
        (run > 0).then_some((article + 1, article + 1 + run))
    }

    /// "in the kitchen", "in logs".
    fn after_preposition(&self, parameter: &Parameter<'_>) -> Option<(usize, usize)> {
        if parameter.is_code() || parameter.is_query() || parameter.named(PROSE) {
            return None;
        }
        let placed = ["in", "inside", "under", "within", "into", "from", "to"];
        for at in self.from..self.to {
            let Some(token) = self.tokens.get(at) else { break };
            let leads = parameter.takes_preposition(&token.lower)
                && (parameter.is_required
                    || (token.any(&placed) && (parameter.is_path() || parameter.is_place()))
                    || (token.any(&placed) && parameter.named(NAMES)));
            if !leads {
                continue;
            }
            let article = self.tokens.any_at(at + 1, &["the", "my", "your", "our"]);
            // "for the trip" names no city.
            let proper = parameter.named(&[
                "city", "country", "name", "person", "customer", "user", "company", "symbol",
                "language", "topic", "product", "restaurant", "artist",
            ]);
            if article && (proper || parameter.is_path()) {
                continue;
            }
            let start = at + 1 + usize::from(article);
            let run = (start..self.to).take(3).take_while(|at| self.is_value(*at)).count();
            let followed = self.tokens.get(start + run).is_some_and(|token| {
                start + run < self.to
                    && token.kind == Kind::Word
                    && !token.any(FILLERS)
                    && !token.is_preposition()
                    && !token.any(&["and"])
            });
            let known = self
                .tokens
                .get(start)
                .is_some_and(|token| self.vocabulary.contains(&token.stem) || token.any(VAGUE));
            let short = parameter.is_required || run == 1;
            if run > 0 && !followed && !known && short {
                return Some((start, start + run));
            }
        }
        None
    }

    /// "add milk to the list": an object without an article.
    fn item(&self, parameter: &Parameter<'_>) -> Option<(usize, usize)> {
        if !parameter.is_required || !parameter.named(ITEMS) {
            return None;
        }
        let run = (self.from..self.to).take(3).take_while(|at| self.is_value(*at)).count();
        let end = self.from + run;
        let is_end = end >= self.to
            || self.tokens.get(end).is_some_and(|token| token.is_mark() || token.is_preposition());
        let is_known = (self.from..end).any(|at| {
            self.tokens
                .get(at)
                .is_some_and(|token| self.vocabulary.contains(&token.stem) || token.any(VAGUE))
        });
        (run > 0 && is_end && !is_known).then_some((self.from, end))
    }

    /// "26.2 miles": the unit of a number.
    fn unit(&self, parameter: &Parameter<'_>) -> Option<(usize, usize)> {
        if !parameter.named(&["unit", "units", "currency"]) || parameter.named(&["to", "target"]) {
            return None;
        }
        let number = (self.from..self.to)
            .find(|at| self.tokens.get(*at).is_some_and(|token| token.kind == Kind::Number))?;
        self.is_value(number + 1).then_some((number + 1, number + 2))
    }

    fn is_number(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Number)
    }

    /// Whether a token can be a value in plain words.
    pub(super) fn is_value(&self, at: usize) -> bool {
        at < self.to
            && self.used.get(at) != Some(&true)
            && self.tokens.get(at).is_some_and(|token| {
                let is_action = token.lower.ends_with("ing") && verbs::is_known(&token.stem);
                let is_empty = token.any(FILLERS) || token.is_preposition();
                let is_adverb = token.lower.ends_with("ly") || token.lower.contains('\'');
                matches!(token.kind, Kind::Word | Kind::Identifier)
                    && !(is_action || is_empty || is_adverb)
            })
    }

    /// The same, for a word that stands where no verb can.
    pub(super) fn may_be_value(&self, at: usize) -> bool {
        self.is_value(at)
            || (at < self.to
                && self.used.get(at) != Some(&true)
                && self.tokens.get(at).is_some_and(|token| token.lower.ends_with("ing")))
    }

    fn is_verb(&self, at: usize) -> bool {
        at == self.from
    }
}
