//! Which value is whose.

use super::candidates::{Candidate, Shape};
use super::fill::Filling;
use super::numbers;
use super::parameters::Parameter;
use super::roles::IDS;
use super::value::Value;

impl Filling<'_, '_> {
    /// Gives each candidate to the parameter that it suits best.
    pub(super) fn assign(&mut self, found: &[Candidate<'_>], groups: &[usize]) {
        let mut pairs = Vec::new();
        for (index, candidate) in found.iter().enumerate() {
            for (at, parameter) in self.parameters.iter().enumerate() {
                if matches!(self.values.get(at), Some(Value::Missing))
                    && let Some((score, value)) = self.pair(parameter, candidate)
                {
                    let listed =
                        groups.iter().filter(|group| groups.get(index) == Some(group)).count() > 1;
                    let score = if (parameter.is_list() || parameter.is_number_list()) && listed {
                        score + 3.0
                    } else {
                        score
                    };
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
            let value = if parameter.is_list() || parameter.is_number_list() {
                let members: Vec<usize> = (0..found.len())
                    .filter(|member| {
                        groups.get(*member) == groups.get(index)
                            && taken.get(*member) == Some(&false)
                    })
                    .collect();
                let listed: Vec<&Candidate<'_>> =
                    members.iter().filter_map(|member| found.get(*member)).collect();
                let is_number = parameter.is_number_list();
                let list = if is_number {
                    Value::Numbers(listed.iter().map(|member| member.value.clone()).collect())
                } else {
                    Value::List(listed.iter().map(|member| member.text.to_owned()).collect())
                };
                for member in members {
                    if let Some(taken) = taken.get_mut(member) {
                        *taken = true;
                    }
                    if let Some(member) = found.get(member) {
                        self.mark(member.from, member.to);
                    }
                }
                list
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
            let (score, value) = numbers::fit(parameter, candidate)?;
            let least = if parameter.is_required { 1.0 } else { 3.0 };
            return (score + required >= least).then_some((score + required, value));
        }
        if parameter.is_number_list() {
            let is_number = candidate.shape == Shape::Number;
            return is_number.then(|| (2.0 + required, String::new()));
        }
        if !parameter.is_text() || parameter.is_flag() {
            return None;
        }
        let fit = parameter.fit(candidate);
        if fit <= 0.0 {
            return None;
        }
        let binds = parameter.binds(candidate);
        let direct =
            if candidate.preposition.is_empty() && parameter.is_required { 1.0 } else { 0.0 };
        let astray = if fit >= 5.0 || parameter.shows_digits() { 0.0 } else { astray };
        let score = fit + binds + direct + required - astray;
        let is_enough = if parameter.is_required {
            score >= 1.5 && (fit >= 1.0 || binds >= 3.0)
        } else {
            score >= 4.0 && (binds > 0.0 || fit >= 5.0)
        };
        // A bare number is a name only where the text says of what.
        let is_named = candidate.shape != Shape::Number
            || candidate.before.first().is_some_and(|stem| {
                parameter.stems.contains(stem)
                    || (parameter.is_id() && parameter.described_stems.contains(stem))
            }) && (!matches!(candidate.preposition, "to" | "of") || !parameter.about(IDS))
            || (candidate.preposition == "to" && parameter.is_required && parameter.shows_digits());
        let value = match candidate.shape {
            Shape::Time if parameter.is_moment() => candidate.text.to_owned(),
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
        // What nothing binds to an optional parameter goes to a required one first.
        let is_loose = !parameter.is_required && binds == 0.0;
        (is_enough && is_named).then_some((if is_loose { score - 1.0 } else { score }, value))
    }
}
