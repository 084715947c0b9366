//! Which declared tool an announced action means.

use super::entry::Entry;
use super::fill::{Filled, Phrase, fill};
use super::tokens::Kind;
use super::verbs::head;
use crate::recover::tools::Tools;

/// The tools of a request, read once for all sentences.
#[derive(Debug)]
pub(super) struct Catalog<'s> {
    entries: Vec<Entry<'s>>,
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

    /// Whether a tool begins with the verb.
    pub(super) fn is_verb(&self, stem: &str) -> bool {
        self.entries.iter().any(|entry| entry.begins_with(stem))
    }

    /// The tool that an action means. `Err(true)` if it means one whose arguments
    /// the text does not say.
    pub(super) fn find(&self, phrase: Phrase<'_, '_>) -> Result<Match<'_, 's>, bool> {
        let Some((verb, phrase)) = head(phrase) else { return Err(false) };
        let mut best: Option<Match<'_, 's>> = None;
        let mut runner_up = 0.0_f32;
        let mut lacks = false;
        for entry in &self.entries {
            let Some(fit) = entry.fit(&verb, phrase) else { continue };
            let Some(filled) = fill(&entry.parameters, &entry.vocabulary, &verb, phrase) else {
                lacks |= fit.is_evident;
                continue;
            };
            // "mark SUP-7 as closed" names no thing, but a state that only some
            // tools know.
            if !fit.is_evident && !filled.has_choice {
                continue;
            }
            let score = fit.score + filled.score;
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

/// Whether an action without any values is about the tool's own thing, and
/// nothing else: "pause the music now".
fn names_thing(vocabulary: &[String], phrase: Phrase<'_, '_>) -> bool {
    let said = phrase.tokens.get(phrase.verb + 1..phrase.end).unwrap_or_default();
    let articles = ["the", "all", "your", "my", "our", "current", "latest", "to", "this"];
    let asides = [
        "now", "first", "right", "away", "again", "for", "you", "please", "once", "more", "tool",
        "function", "suite",
    ];
    let mut has_thing = false;
    for (index, token) in said.iter().enumerate() {
        let known = (vocabulary.contains(&token.stem) && !token.any(&articles))
            || token.kind == Kind::Identifier;
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

/// A tool that scores less is not meant.
const LEAST: f32 = 3.0;

/// How much better the best tool has to be than the next.
const MARGIN: f32 = 0.5;
