//! Where what is said about an action ends.

use super::commitment::Action;
use super::lexicon::FINITE;
use super::tokens::{Kind, Token, TokenSlice};

/// Where what is said about an action ends, and its reason or consequence begins.
pub(super) fn end_of(sentence: &[Token<'_>], action: Action) -> usize {
    let uses = sentence.any_at(action.verb, &["use", "using", "call", "calling", "invoke"]);
    for at in action.verb + 1..action.end {
        let rest = sentence.get(at..action.end).unwrap_or_default();
        let [token, after @ ..] = rest else { break };
        let next = after.first();
        let next_is = |words: &[&str]| next.is_some_and(|next| next.any(words));
        let is_value = next.is_some_and(|next| next.kind != Kind::Word);
        let is_end = match token.lower.as_str() {
            "because" | "but" | "while" | "whereas" => true,
            // "see which tables there are" asks, "the table, which is old" explains.
            "which" => at > action.verb + 2,
            "so" => !is_value,
            "since" | "before" | "until" => !is_value && !next_is(&["the"]),
            "instead" | "rather" => next_is(&["of", "than"]),
            "not" => true,
            "in" => next_is(&["order"]) && after.is_at(1, "to"),
            "to" => {
                !uses
                    && at > action.verb + 1
                    && next_is(PURPOSES)
                    && !is_errand(sentence, action.verb, at)
            }
            "then" => next_is(REPORTS),
            "and" => next_is(REPORTS) || (next_is(&["then"]) && after.any_at(1, REPORTS)),
            _ if token.kind == Kind::Mark(':') => {
                !next.is_some_and(|next| matches!(next.kind, Kind::Quoted | Kind::Code))
                    && !is_detail(after)
            }
            _ => matches!(token.kind, Kind::Mark('\u{2014}' | '\u{2013}' | ';')),
        };
        if is_end {
            return at;
        }
    }
    action.end
}

/// Whether a "to" says what a reminder or a task is about: "a reminder to check
/// the oven", "a reminder for Friday to check it".
pub(super) fn is_errand(sentence: &[Token<'_>], verb: usize, to: usize) -> bool {
    let is_verb = sentence.get(to + 1).is_some_and(|next| {
        next.kind == Kind::Word && !next.is_capitalized() && !next.any(&["the", "a", "my", "your"])
    });
    let reminds = sentence.any_at(verb, &["remind", "reminding"]);
    let said = sentence.get(verb + 1..to).unwrap_or_default();
    let noun = said.iter().rposition(|token| token.any(ERRANDS));
    let between = noun.map_or(said, |noun| said.get(noun + 1..).unwrap_or_default());
    let is_near = match noun {
        Some(_) => between.iter().all(|token| token.kind != Kind::Word || token.any(MOMENTS)),
        None => reminds && said.len() <= 2,
    };
    is_verb && is_near && !between.iter().any(|token| token.kind == Kind::Quoted)
}

/// Whether what stands behind a colon gives the details of an action, and is no
/// sentence of its own: "running, 40 minutes".
fn is_detail(after: &[Token<'_>]) -> bool {
    !after.iter().any(|token| token.any(FINITE) || token.any(SUBJECTS))
}

/// What is done at another time, by somebody who is reminded of it.
const ERRANDS: &[&str] = &["reminder", "task", "todo", "to-do", "alarm", "note"];

/// Words that say when.
const MOMENTS: &[&str] = &[
    "for", "on", "at", "this", "next", "in", "tomorrow", "today", "tonight", "noon", "midnight",
    "morning", "evening", "afternoon", "week", "weekend", "monday", "tuesday", "wednesday",
    "thursday", "friday", "saturday", "sunday", "am", "pm", "you", "me",
];

/// Words that begin a sentence.
const SUBJECTS: &[&str] = &[
    "i", "i'll", "i'm", "i've", "we", "you", "it", "it's", "they", "he", "she", "let", "there",
    "this", "that", "that's", "no", "yes",
];

/// Verbs after "to" that say what an action is for.
const PURPOSES: &[&str] = &[
    "see", "check", "find", "make", "verify", "confirm", "answer", "understand", "determine",
    "learn", "know", "help", "ensure", "look", "figure", "decide", "tell", "show", "be", "give",
    "fix", "avoid", "get", "prepare", "compare", "double-check", "investigate", "diagnose",
    "debug", "test", "gather",
];

/// Verbs after "and" that say what comes of an action.
const REPORTS: &[&str] = &[
    "see", "let", "tell", "report", "explain", "summarize", "share", "come", "give", "we", "you",
    "we'll", "that", "i",
];
