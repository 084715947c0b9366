//! Calls that a model announces in plain words.
//!
//! Some models neither call a tool nor write a call down. They say that they will:
//! "I'll read the file config.json". [`detect`] turns such a sentence into a call,
//! if it leaves no doubt.
//!
//! ```
//! use toolwire::recover::{Tools, intent};
//!
//! let mut tools = Tools::default();
//! let schema = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
//! tools.add("read_file", "Read a file", Some(schema));
//!
//! let found = intent::detect("I'll read config.json to see the port.", &tools);
//! assert_eq!(found.calls[0].name, "read_file");
//! assert_eq!(found.calls[0].arguments, r#"{"path":"config.json"}"#);
//!
//! assert!(intent::detect("You can read config.json yourself.", &tools).calls.is_empty());
//! ```
//!
//! A guess is never as good as a call. So this is the last resort, after a
//! [`Detector`](super::Detector) has found nothing, and nobody gets it who has not
//! asked for it. A sentence counts only if its speaker commits to act now: offers,
//! questions, conditions, the past, negations, examples, quotations, code and talk
//! about others never do. And it counts only if every required argument can be
//! read off the text. What the text does not mention is left out. A text that asks
//! for approval announces a plan and no calls.
//!
//! Time and memory are linear in the text, and only its last 64 KB are read: what a
//! model is about to do, it says last.

mod assign;
mod binding;
mod candidates;
mod clause;
mod commitment;
mod conditions;
mod dates;
mod entry;
mod file_kinds;
mod fill;
mod fit;
mod flags;
mod free_text;
mod lexicon;
mod lists;
mod matching;
mod names;
mod numbers;
mod parameters;
mod plain;
mod prepositions;
mod query;
mod reference;
mod roles;
mod sentences;
mod shape;
mod stem;
mod thing_words;
mod tokens;
mod value;
mod verb_words;
mod verbs;

#[cfg(test)]
mod tests;

use self::commitment::Action;
use self::fill::Phrase;
use self::matching::{Catalog, Match};
use self::sentences::{Paragraph, Paragraphs};
use self::tokens::{Kind, Token, TokenSlice};
use self::verbs::Verb;
use super::Tools;

/// What a text announces.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Intent {
    /// Whether the text announces something that a declared tool does, even if it
    /// does not say enough for a call.
    pub needs_tools: bool,
    /// The calls, in the order of the text.
    pub calls: Vec<IntendedCall>,
    /// The sentences that the calls were read from.
    pub reasoning: String,
    /// How sure the calls are, from 0 to 1: that of the least sure one. 0 if there
    /// are none.
    pub confidence: f32,
}

/// A call that a text announces.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IntendedCall {
    /// The tool, as the request declares it.
    pub name: String,
    /// The arguments, as a JSON object.
    pub arguments: String,
}

/// Finds the calls that a model's final text announces. The text must be the
/// model's own: never pass it what a user or a tool has said.
pub fn detect(text: &str, tools: &Tools) -> Intent {
    let mut intent = Intent::default();
    if tools.is_empty() {
        return intent;
    }
    let catalog = Catalog::new(tools);
    let mut budget = MOST_ACTIONS;
    for paragraph in Paragraphs::new(text).filter(|paragraph| !paragraph.is_quoted) {
        let mut sentences = paragraph.sentences().peekable();
        while let Some(sentence) = sentences.next() {
            if sentence.len() > LONGEST_SENTENCE {
                continue;
            }
            if conditions::asks_for_approval(sentence) {
                return Intent { needs_tools: intent.needs_tools, ..Intent::default() };
            }
            let stands_alone =
                paragraph.is_last && !paragraph.is_item && sentences.peek().is_none();
            for action in commitment::actions(sentence, stands_alone, &|stem| catalog.is_verb(stem))
                .into_iter()
                .take(budget)
            {
                budget -= 1;
                intent.take(&catalog, &paragraph, sentence, action);
                intent.needs_tools |= !intent.calls.is_empty();
            }
        }
    }
    intent
}

impl Intent {
    /// Reads one announcement, which may be of several actions: "read it and then
    /// run the tests".
    fn take(
        &mut self,
        catalog: &Catalog<'_>,
        paragraph: &Paragraph<'_>,
        sentence: &[Token<'_>],
        action: Action,
    ) {
        let phrase = |start, verb, end| Phrase {
            paragraph: paragraph.text,
            tokens: sentence,
            start,
            verb,
            end,
        };
        let mut verbs = vec![action.verb];
        verbs.extend(coordinated(catalog, sentence, action));
        let mut found: Vec<Match<'_, '_>> = Vec::new();
        let mut lacks = false;
        // From the last to the first: a part that is no call by itself belongs to
        // the part before it.
        let mut end = action.end;
        let (mut found_at, mut found_end) = (end, end);
        for (index, verb) in verbs.iter().enumerate().rev() {
            match catalog.find(phrase(*verb, *verb, end)) {
                Ok(call) => {
                    found.push(call);
                    (found_at, found_end) = (*verb, end);
                    end = *verb;
                }
                Err(missing) if index == 0 => {
                    lacks |= missing;
                    // "create and check out a branch" is one action.
                    if let Some(call) = found.last_mut()
                        && let Some(second) = verbs.get(1).filter(|second| *second - verb <= 2)
                        && found_at == *second
                        && let Ok(whole) = catalog.find(phrase(*verb, *second, found_end))
                    {
                        *call = whole;
                    }
                }
                Err(_) => {}
            }
        }
        if found.is_empty() {
            found.extend(reference::resolve(catalog, paragraph, sentence, action));
        }
        self.needs_tools |= lacks;
        for call in found.into_iter().rev() {
            self.push(call, paragraph, sentence);
        }
    }

    fn push(&mut self, call: Match<'_, '_>, paragraph: &Paragraph<'_>, sentence: &[Token<'_>]) {
        let Match { name, filled, score, .. } = call;
        let certainty = (score / (score + 2.0)).clamp(0.0, 1.0);
        self.confidence =
            if self.calls.is_empty() { certainty } else { self.confidence.min(certainty) };
        for arguments in filled.calls {
            let call = IntendedCall { name: name.to_owned(), arguments };
            if !self.calls.contains(&call) {
                self.calls.push(call);
            }
        }
        let span = sentence
            .first()
            .zip(sentence.last())
            .and_then(|(first, last)| paragraph.text.get(first.start..last.end));
        if let Some(span) = span
            && !self.reasoning.ends_with(span)
        {
            if !self.reasoning.is_empty() {
                self.reasoning.push(' ');
            }
            self.reasoning.push_str(span);
        }
    }
}

/// The further verbs of an action: "…, then run it and delete it".
fn coordinated(catalog: &Catalog<'_>, sentence: &[Token<'_>], action: Action) -> Vec<usize> {
    let first = sentence.get(action.verb).map(|verb| verb.lower.ends_with("ing"));
    let is_talk = Verb::at(sentence, action.verb, action.end).is_some_and(|verb| verb.is_talk());
    let mut found = Vec::new();
    for at in action.verb + 1..action.end {
        let links = sentence
            .get(at)
            .is_some_and(|token| token.any(&["and", "then"]) || token.kind == Kind::Mark(','));
        let verb = sentence.get(at + 1).filter(|_| at + 1 < action.end);
        let is_verb = verb.is_some_and(|verb| {
            verb.kind == Kind::Word
                && (verbs::is_known(&verb.stem) || catalog.is_verb(&verb.stem))
                && Some(verb.lower.ends_with("ing")) == first
                && !verb.any(&["then", "and"])
        });
        // In "let you rebase and merge" it is not the speaker who merges.
        let is_own = !is_talk || sentence.is_at(at, "then");
        if links && is_verb && is_own {
            found.push(at + 1);
        }
    }
    found
}

/// Nobody announces more at once.
const MOST_ACTIONS: usize = 64;

/// No announcement is longer, in words.
const LONGEST_SENTENCE: usize = 160;
