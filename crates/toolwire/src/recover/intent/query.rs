//! What a search is for, in plain words.

use super::lexicon::{FILLERS, VAGUE};
use super::parameters::Parameter;
use super::plain::Words;
use super::tokens::TokenSlice;

impl<'t> Words<'_, 't> {
    /// What a search is for, in plain words.
    pub(super) fn query(&self, parameter: &Parameter<'_>) -> Option<&'t str> {
        if !parameter.is_query() {
            return None;
        }
        let lead = (self.from..self.to).find(|at| self.tokens.any_at(*at, &["for", "about"]))?;
        let end = (lead + 1..self.to)
            .find(|at| {
                self.used.get(*at) == Some(&true)
                    || self.tokens.get(*at).is_some_and(|token| {
                        token.is_mark()
                            || token.any(&[
                                "and", "using", "with", "then", "now", "first", "so", "that",
                            ])
                    })
            })
            .unwrap_or(self.to);
        let article = usize::from(self.tokens.any_at(lead + 1, &["the", "a", "an", "some", "any"]));
        let span = self.tokens.get(lead + 1 + article..end).unwrap_or_default();
        // A preposition at the end has lost its value to another parameter.
        let kept = span
            .iter()
            .rposition(|token| !token.is_preposition() && !token.any(&["the"]))
            .map_or(0, |at| at + 1);
        let span = span.get(..kept).unwrap_or_default();
        let says_something = span
            .iter()
            .any(|token| !token.any(FILLERS) && !token.any(VAGUE) && !token.is_preposition());
        let starts_well = !span.first()?.any(VAGUE)
            && !span
                .first()?
                .any(&["you", "it", "this", "that", "them", "him", "her", "more", "what"]);
        if !says_something || !starts_well {
            return None;
        }
        self.paragraph.get(span.first()?.start..span.last()?.end)
    }
}
