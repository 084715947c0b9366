//! What makes a sentence something other than a commitment to act now.

use super::lexicon::{
    CONDITIONS, INQUIRIES, LEAD_INS, NOT_A_COMMITMENT, NOT_A_COMMITMENT_PHRASES, PAUSES,
};
use super::sentences::{has_phrase, starts_with};
use super::tokens::{Kind, Token};

/// Whether a sentence is a question, a condition, or about another time.
pub(super) fn is_no_commitment(sentence: &[Token<'_>]) -> bool {
    let is_question = sentence.last().is_some_and(|token| token.kind == Kind::Mark('?'));
    is_question
        || sentence.iter().any(|token| token.any(NOT_A_COMMITMENT))
        || has_phrase(sentence, NOT_A_COMMITMENT_PHRASES)
        || (0..sentence.len()).any(|at| is_condition(sentence, at))
        || is_restricted(sentence)
}

/// "I'll only do it after a backup", "only with your okay".
fn is_restricted(sentence: &[Token<'_>]) -> bool {
    let only = sentence.iter().position(|token| token.is("only"));
    let rest = only.and_then(|only| sentence.get(only..)).unwrap_or_default();
    rest.iter().any(|token| token.any(&["after", "with", "before", "unless", "then"]))
        && rest.get(1).is_some_and(|next| next.kind == Kind::Word && !next.any(&["the", "a"]))
}

/// Whether a word makes an action wait for something.
fn is_condition(sentence: &[Token<'_>], at: usize) -> bool {
    let Some(token) = sentence.get(at) else { return false };
    let before = at.checked_sub(1).and_then(|before| sentence.get(before));
    let after = sentence.get(at + 1);
    if token.is("after") {
        let waits = [
            "you", "he", "she", "they", "we", "i", "the", "your", "lunch", "dinner", "work",
            "approval", "that's",
        ];
        return after.is_some_and(|after| after.any(&waits));
    }
    if !token.any(CONDITIONS) || is_pause(sentence, at) {
        return false;
    }
    let again = after.is_some_and(|after| after.any(&["more", "again"]));
    // What begins a sentence is no value, whatever follows it: "Once CI is green, ...".
    let is_value = before.is_some() && after.is_some_and(|after| after.kind != Kind::Word);
    !again && !is_value && !before.is_some_and(|before| before.any(INQUIRIES))
}

/// Whether a "while" follows nothing but a request for patience: "One moment while
/// I check it".
pub(super) fn is_pause(sentence: &[Token<'_>], at: usize) -> bool {
    let before = sentence.get(..at).unwrap_or_default();
    let rest = sentence.get(at..).unwrap_or_default();
    starts_with(rest, &["while", "i"])
        && before.len() <= 5
        && PAUSES.iter().any(|pause| starts_with(before, pause))
}

/// Whether what stands before an announcement asks the reader for something
/// first: "Say the word and I'll", "You pick the day, then I'll".
pub(super) fn is_invitation(before: &[Token<'_>]) -> bool {
    let skipped = before
        .iter()
        .take_while(|token| {
            token.is_mark() || token.any(LEAD_INS) || token.any(&["just", "simply", "please"])
        })
        .count();
    let clause = before.get(skipped..).unwrap_or_default();
    let Some(first) = clause.first() else { return false };
    let is_polite = starts_with(clause, &["say", "no", "more"])
        || starts_with(clause, &["allow", "me", "to"])
        || PAUSES.iter().any(|pause| starts_with(clause, pause));
    if is_polite {
        return false;
    }
    let follows = clause
        .iter()
        .rev()
        .take_while(|token| token.is_mark() || token.any(&["and", "then"]))
        .any(|token| token.any(&["and", "then"]));
    first.any(INVITATIONS)
        || starts_with(clause, &["let", "me", "know"])
        || (follows && first.any(&["you", "you'll", "your", "waiting", "awaiting"]))
}

/// Whether a sentence asks for leave to do what the others announce, so that they
/// are a plan: "Does that sound good?", "Please confirm."
pub(super) fn asks_for_approval(sentence: &[Token<'_>]) -> bool {
    let is_question = sentence.last().is_some_and(|token| token.kind == Kind::Mark('?'));
    let is_short = sentence.len() <= LONGEST_REQUEST;
    if is_question {
        return is_short
            && (sentence.iter().any(|token| token.any(APPROVALS))
                || has_phrase(sentence, &[&["go", "ahead"], &["work", "for", "you"]]));
    }
    has_phrase(sentence, REQUESTS_OF_APPROVAL)
}

/// What begins a request to the reader.
const INVITATIONS: &[&str] = &[
    "say", "tell", "give", "send", "confirm", "share", "provide", "paste", "reply", "respond",
    "type", "pick", "choose", "upload", "attach", "point", "answer", "name", "describe", "drop",
    "shoot", "ping", "click", "grant", "approve", "press", "hit", "decide", "specify", "pass",
    "hand", "select", "sign", "supply", "text", "message", "email", "ask", "enter", "allow",
    "authorize", "accept", "nod", "write", "show", "point", "remind", "agree", "verify",
];

/// Words of a short question about what has been announced.
const APPROVALS: &[&str] = &[
    "proceed", "okay", "ok", "alright", "sound", "sounds", "agree", "approve", "confirm", "fine",
    "continue", "acceptable",
];

const REQUESTS_OF_APPROVAL: &[&[&str]] = &[
    &["please", "confirm"],
    &["please", "approve"],
    &["wait", "for", "your"],
    &["waiting", "for", "your"],
    &["await", "your"],
    &["awaiting", "your"],
    &["until", "you", "confirm"],
    &["until", "you", "approve"],
    &["until", "you", "say"],
    &["until", "you", "tell"],
    &["until", "you", "give"],
    &["until", "you", "agree"],
    &["until", "you've"],
    &["pending", "your"],
    &["pending", "approval"],
    &["needs", "your"],
    &["requires", "your"],
    &["subject", "to", "your"],
    &["let", "me", "know", "if", "that"],
    &["let", "me", "know", "if", "this"],
    &["let", "me", "know", "whether", "to"],
    &["let", "me", "know", "if", "i", "should"],
    &["confirm", "before"],
    &["before", "i", "proceed"],
    &["before", "i", "go", "ahead"],
    &["here's", "what", "i", "propose"],
    &["i", "propose"],
];

/// A longer question is about something else, in words.
const LONGEST_REQUEST: usize = 12;
