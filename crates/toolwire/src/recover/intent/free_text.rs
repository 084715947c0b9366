//! Values in free words: what a reminder is about, and when.

use super::candidates::{Candidate, Shape};
use super::clause;
use super::fill::{Filling, Phrase};
use super::lexicon::VAGUE;
use super::parameters::Parameter;
use super::plain::Words;
use super::tokens::{Kind, Token, TokenSlice};
use super::value::Value;

impl Filling<'_, '_> {
    /// What a reminder or a task is about: "a reminder to call the dentist at 9am".
    pub(super) fn errand(&mut self, phrase: Phrase<'_, '_>, found: &[Candidate<'_>]) {
        let Phrase { paragraph, tokens, verb, end, .. } = phrase;
        let is_errand = |at: &usize| {
            tokens.is_at(*at, "to")
                && tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Word)
                && clause::is_errand(tokens, verb, *at)
        };
        let Some(to) = (verb + 1..end).find(is_errand) else { return };
        let is_time = |candidate: &&Candidate<'_>| {
            matches!(candidate.shape, Shape::Date | Shape::Time) && candidate.from > to
        };
        let mut stop = found.iter().find(is_time).map_or(end, |candidate| candidate.from);
        let is_loose =
            |token: &Token<'_>| token.is_mark() || token.any(&["at", "on", "by", "for", "around"]);
        let comma = (to + 1..stop)
            .find(|at| tokens.get(*at).is_some_and(|token| token.kind == Kind::Mark(',')));
        stop = comma.unwrap_or(stop);
        for aside in [&["right", "away"] as &[&str], &["for", "you"], &["now"], &["first"]] {
            let start = stop.saturating_sub(aside.len()).max(to + 1);
            let end = (start..=stop).find(|at| {
                tokens.get(*at..stop).is_some_and(|rest| {
                    let words = rest.iter().filter(|token| !token.is_mark());
                    words.map(|token| token.lower.as_str()).eq(aside.iter().copied())
                })
            });
            stop = end.unwrap_or(stop);
        }
        while stop > to + 1 && tokens.get(stop - 1).is_some_and(is_loose) {
            stop -= 1;
        }
        let is_open = |(at, parameter): &(usize, &Parameter<'_>)| {
            matches!(self.values.get(*at), Some(Value::Missing))
                && parameter.is_text()
                && !parameter.is_list()
                && parameter.named(&["text", "message", "task", "title", "what", "content", "note"])
        };
        let open = self.parameters.iter().enumerate().find(is_open).map(|(at, _)| at);
        let span = tokens.get(to + 1).zip(tokens.get(stop.saturating_sub(1)));
        let Some((first, last)) = span.filter(|_| stop > to + 1) else { return };
        let text = paragraph.get(first.start..last.end);
        let slot = open.and_then(|at| self.values.get_mut(at));
        if let (Some(slot), Some(text)) = (slot, text) {
            *slot = Value::Text(text.to_owned());
            self.mark(to, stop);
        }
    }

    /// Joins a day with the time beside it, for a parameter that takes both.
    pub(super) fn moments(
        &mut self,
        paragraph: &str,
        tokens: &[Token<'_>],
        found: &[Candidate<'_>],
    ) {
        for (at, parameter) in self.parameters.iter().enumerate() {
            let Some(Value::Of(index, _)) = self.values.get(at) else { continue };
            let Some(one) = found.get(*index) else { continue };
            let is_beside = |other: &&Candidate<'_>| {
                let (left, right) =
                    if one.from < other.from { (one, *other) } else { (*other, one) };
                let between = tokens.get(left.to..right.from).unwrap_or_default();
                right.from >= left.to
                    && between.iter().all(|token| token.any(&["at", "on", "around", "by"]))
                    && self.used.get(other.from) == Some(&false)
                    && matches!(
                        (left.shape, right.shape),
                        (Shape::Date, Shape::Time) | (Shape::Time, Shape::Date)
                    )
            };
            let Some(other) = found.iter().find(is_beside) else { continue };
            let (day, time) = if one.shape == Shape::Date { (one, other) } else { (other, one) };
            let (from, to) = (one.from.min(other.from), one.to.max(other.to));
            let joined = if parameter.is_moment() {
                let span = tokens.get(from).zip(tokens.get(to.saturating_sub(1)));
                span.and_then(|(first, last)| paragraph.get(first.start..last.end))
                    .map(str::to_owned)
            } else if parameter.schema.format == "date-time" && !day.value.is_empty() {
                Some(format!("{}T{}:00", day.value, time.value))
            } else {
                None
            };
            if let (Some(joined), Some(slot)) = (joined, self.values.get_mut(at)) {
                *slot = Value::Text(joined);
                self.mark(from, to);
            }
        }
    }

    /// The currency of an amount with its sign: "$99".
    pub(super) fn currency(&mut self, found: &[Candidate<'_>]) {
        let sign = found.iter().find_map(|candidate| match candidate.unit.as_str() {
            "usd" => Some("USD"),
            "eur" => Some("EUR"),
            "gbp" => Some("GBP"),
            _ => None,
        });
        let open = self.parameters.iter().zip(&mut self.values).find(|(parameter, value)| {
            matches!(value, Value::Missing)
                && parameter.is_required
                && parameter.is_text()
                && parameter.is_source_currency()
        });
        if let (Some(sign), Some((_, value))) = (sign, open) {
            *value = Value::Text(sign.to_owned());
        }
    }

    /// The one item of an enumeration of details that no other parameter takes:
    /// "log the workout: running, 40 minutes".
    pub(super) fn leftover(&mut self, phrase: Phrase<'_, '_>, vocabulary: &[String]) {
        let Phrase { paragraph, tokens, verb, end, .. } = phrase;
        let colon = (verb + 1..end)
            .find(|at| tokens.get(*at).is_some_and(|token| token.kind == Kind::Mark(':')));
        let Some(colon) = colon else { return };
        let mut open = (0..self.parameters.len()).filter(|at| {
            matches!(self.values.get(*at), Some(Value::Missing))
                && self.parameters.get(*at).is_some_and(|parameter| {
                    parameter.is_required && parameter.is_text() && !parameter.is_list()
                })
        });
        let (Some(slot), None) = (open.next(), open.next()) else { return };
        let words = Words { paragraph, tokens, from: verb, to: end, used: &self.used, vocabulary };
        let count = (colon + 1..end).take(3).take_while(|at| words.may_be_value(*at)).count();
        let next = tokens.get(colon + 1 + count);
        let is_item = next.is_none_or(|next| next.is_mark() || next.any(&["for", "and"]));
        let span = tokens.get(colon + 1).zip(tokens.get(colon + count));
        let Some((first, last)) = span.filter(|_| count > 0 && is_item) else { return };
        if first.any(VAGUE) {
            return;
        }
        if let (Some(text), Some(slot)) =
            (paragraph.get(first.start..last.end), self.values.get_mut(slot))
        {
            *slot = Value::Text(text.to_owned());
            self.mark(colon + 1, colon + 1 + count);
        }
    }
}
