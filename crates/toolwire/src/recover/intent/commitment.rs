//! Which actions a speaker commits to, here and now.

use super::clause;
use super::conditions::{is_invitation, is_no_commitment, is_pause};
use super::lexicon::{ADVERBS, COMMITMENTS, FINITE, LEAD_INS, LIGHT_BEFORE_TO, PROGRESSIVES};
use super::sentences::{has_phrase, speaks_for_others, starts_with};
use super::tokens::{Kind, Token, TokenSlice};
use super::verbs;

/// An announced action: a verb, and what is said about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Action {
    /// Where the verb is.
    pub(super) verb: usize,
    /// Where what is said about it ends.
    pub(super) end: usize,
}

/// The actions of a sentence. None if it is a question, a condition, an example,
/// or about another time.
///
/// `is_verb` knows the verbs of the tools; a sentence that `stands_alone` is all
/// that there is to read.
pub(super) fn actions(
    sentence: &[Token<'_>],
    stands_alone: bool,
    is_verb: &dyn Fn(&str) -> bool,
) -> Vec<Action> {
    if is_no_commitment(sentence) {
        return Vec::new();
    }
    let mut found: Vec<Action> = Vec::new();
    let mut at = 0;
    while at < sentence.len() {
        let rest = sentence.get(at..).unwrap_or_default();
        let verb =
            may_begin(sentence, at).then(|| verb_of(sentence, at, stands_alone, is_verb)).flatten();
        let continues = verb == Some(at) && is_and(sentence, at) && !found.is_empty();
        let begins = (verb.is_some() && !continues)
            || COMMITMENTS.iter().any(|words| starts_with(rest, words));
        if begins && let Some(last) = found.last_mut() {
            last.end = last.end.min(at);
        }
        if let Some(verb) = verb
            && (verb != at || found.is_empty() || !is_and(sentence, at))
        {
            found.push(Action { verb, end: sentence.len() });
            at = verb;
        }
        at += 1;
    }
    for action in &mut found {
        action.end = clause::end_of(sentence, *action);
    }
    found
}

/// Whether the word before is "and": what follows goes on with what was begun.
fn is_and(sentence: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| sentence.get(before)).is_some_and(|token| token.is("and"))
}

/// Whether a commitment may begin here: at the start of a clause, in the
/// speaker's own words.
fn may_begin(sentence: &[Token<'_>], at: usize) -> bool {
    let before = sentence.get(..at).unwrap_or_default();
    let Some(last) = before.last() else { return true };
    // "My colleague and I will".
    let joins = last.is("and") && sentence.is_at(at, "i");
    if joins && before.len() <= 4 && !before.iter().any(Token::is_mark) {
        return false;
    }
    if is_pause(sentence, at) {
        return true;
    }
    if is_invitation(before) {
        return false;
    }
    if let Kind::Mark(mark) = last.kind {
        return !matches!(mark, ':' | '-') || !speaks_for_others(before);
    }
    let says_why = before.any_at(0, &["to", "for"]);
    match last.kind == Kind::Word {
        true => last.any(LEAD_INS) || (says_why && !speaks_for_others(before)),
        false => says_why,
    }
}

/// The verb of a commitment that begins here.
fn verb_of(
    sentence: &[Token<'_>],
    at: usize,
    stands_alone: bool,
    is_verb: &dyn Fn(&str) -> bool,
) -> Option<usize> {
    let rest = sentence.get(at..)?;
    if let Some(words) = COMMITMENTS.iter().find(|words| starts_with(rest, words)) {
        return main_verb(sentence, at + words.len());
    }
    if is_pause(sentence, at) {
        return main_verb(sentence, at + 2);
    }
    // "I'm now going to", "I will".
    if let Some(words) = PROGRESSIVES.iter().find(|words| starts_with(rest, words)) {
        let verb = skip_adverbs(sentence, at + words.len());
        let tail = sentence.get(verb..).unwrap_or_default();
        if starts_with(tail, &["going", "to"]) || starts_with(tail, &["about", "to"]) {
            return main_verb(sentence, verb + 2);
        }
        let is_action = is_progressive(sentence, verb) && !is_observation(sentence, verb);
        return is_action.then(|| main_verb(sentence, verb)).flatten();
    }
    let is_known = is_progressive(sentence, at)
        && sentence.get(at).is_some_and(|token| {
            verbs::is_known(&token.stem)
                || is_verb(&token.stem)
                || token.any(&["trying", "starting", "using"])
        });
    (is_known && bare_progressive(sentence, at, stands_alone)).then_some(at)
}

/// "Reading the file now", "Okay, searching for it…", "Next step: deleting it",
/// "Calling read_file on it".
fn bare_progressive(sentence: &[Token<'_>], at: usize, stands_alone: bool) -> bool {
    let before = sentence.get(..at).unwrap_or_default();
    let after = sentence.get(at + 1..).unwrap_or_default();
    let asked = ["what", "which", "where", "whether", "who", "how", "that"];
    let has_finite = after.iter().enumerate().any(|(index, token)| {
        let before = index.checked_sub(1).and_then(|before| after.get(before));
        token.any(FINITE)
            && !before.is_some_and(|before| before.any(&asked))
            && !(after.iter().take(index).any(|token| token.any(&asked)))
    });
    if has_finite {
        return false;
    }
    let is_now = after.iter().any(|token| token.any(&["now"]))
        || has_phrase(after, &[&["right", "away"]])
        || sentence.last().is_some_and(|token| token.kind == Kind::Mark('\u{2026}'));
    let is_led_in = before.iter().any(|token| token.any(LEAD_INS))
        && before.iter().all(|token| token.is_mark() || token.any(LEAD_INS));
    let is_step = before.last().is_some_and(|token| token.kind == Kind::Mark(':'))
        && before.len() <= 4
        && before.iter().any(|token| token.any(&["next", "now", "first", "then"]));
    let is_call = sentence.any_at(at, &["calling", "invoking", "using"])
        && (before.is_empty() || is_led_in)
        && after.first().is_some_and(|token| matches!(token.kind, Kind::Identifier | Kind::Code));
    let is_whole = stands_alone
        && before.is_empty()
        && !after.iter().any(|token| token.kind == Kind::Mark(','));
    is_now || is_led_in || is_call || is_step || is_whole
}

/// Whether a sentence goes on with what the speaker sees: "I'm looking at main.py
/// and it seems fine".
fn is_observation(sentence: &[Token<'_>], verb: usize) -> bool {
    let after = sentence.get(verb..).unwrap_or_default();
    after.windows(2).any(|pair| match pair {
        [and, subject] => and.any(&["and", "but"]) && subject.any(OBSERVED),
        _ => false,
    })
}

fn is_progressive(sentence: &[Token<'_>], at: usize) -> bool {
    let Some(token) = sentence.get(at) else { return false };
    token.kind == Kind::Word && token.lower.len() > 4 && token.lower.ends_with("ing")
}

/// The verb that carries the meaning: "go ahead and", "try to" and "start by" do
/// not.
fn main_verb(sentence: &[Token<'_>], from: usize) -> Option<usize> {
    let mut at = skip_adverbs(sentence, from);
    for _ in 0..3 {
        let token = sentence.get(at)?;
        let next = sentence.get(at + 1);
        let light = token.any(LIGHT_BEFORE_TO) && next.is_some_and(|next| next.is("to"));
        let by = token.any(&["start", "begin"]) && next.is_some_and(|next| next.is("by"));
        let and = token.any(&["try", "go"]) && next.is_some_and(|next| next.is("and"));
        if !light && !by && !and {
            break;
        }
        at = skip_adverbs(sentence, at + 2);
    }
    // "I'm planning to" is no more than a plan.
    let is_plan = sentence.any_at(at, PLANS) && sentence.any_at(at + 1, &["to", "on", "of"]);
    if is_plan {
        return None;
    }
    sentence.get(at).filter(|token| matches!(token.kind, Kind::Word | Kind::Identifier)).map(|_| at)
}

fn skip_adverbs(sentence: &[Token<'_>], from: usize) -> usize {
    let rest = sentence.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|token| token.any(ADVERBS)).count()
}

/// Verbs before "to" that put off the verb behind it.
const PLANS: &[&str] = &[
    "plan", "planning", "intend", "intending", "hope", "hoping", "thinking", "aiming", "wanting",
    "waiting", "preparing", "wait", "offering", "asking",
];

/// Subjects of what a speaker sees.
const OBSERVED: &[&str] =
    &["it", "it's", "everything", "nothing", "they", "there", "there's", "that", "this", "so"];
