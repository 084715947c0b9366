//! Which actions a speaker commits to, here and now.

use super::lexicon::{
    ADVERBS, COMMITMENTS, CONDITIONS, FINITE, INQUIRIES, LEAD_INS, LIGHT_BEFORE_TO,
    NOT_A_COMMITMENT, NOT_A_COMMITMENT_PHRASES, PROGRESSIVES,
};
use super::sentences::{has_phrase, speaks_for_others, starts_with};
use super::tokens::{Kind, Token};
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
pub(super) fn actions(sentence: &[Token<'_>]) -> Vec<Action> {
    if is_no_commitment(sentence) {
        return Vec::new();
    }
    let mut found: Vec<Action> = Vec::new();
    let mut at = 0;
    while at < sentence.len() {
        let rest = sentence.get(at..).unwrap_or_default();
        let verb = may_begin(sentence, at).then(|| verb_of(sentence, at)).flatten();
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
        action.end = end_of(sentence, *action);
    }
    found
}

/// Whether the word before is "and": what follows goes on with what was begun.
fn is_and(sentence: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| sentence.get(before)).is_some_and(|token| token.is("and"))
}

fn is_no_commitment(sentence: &[Token<'_>]) -> bool {
    let is_question = sentence.last().is_some_and(|token| token.kind == Kind::Mark('?'));
    is_question
        || sentence.iter().any(|token| token.any(NOT_A_COMMITMENT))
        || has_phrase(sentence, NOT_A_COMMITMENT_PHRASES)
        || (0..sentence.len()).any(|at| is_condition(sentence, at))
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
    if !token.any(CONDITIONS) {
        return false;
    }
    let is_value =
        after.is_some_and(|after| after.kind != Kind::Word || after.any(&["more", "again"]));
    !is_value && !before.is_some_and(|before| before.any(INQUIRIES))
}

/// Whether a commitment may begin here: at the start of a clause, in the
/// speaker's own words.
fn may_begin(sentence: &[Token<'_>], at: usize) -> bool {
    let before = sentence.get(..at).unwrap_or_default();
    let Some(last) = before.last() else { return true };
    // "My colleague and I will".
    let joins = last.is("and") && sentence.get(at).is_some_and(|token| token.is("i"));
    if joins && before.len() <= 4 && !before.iter().any(Token::is_mark) {
        return false;
    }
    match last.kind {
        Kind::Mark(':' | '-') => !speaks_for_others(before),
        Kind::Mark(_) => true,
        Kind::Word => {
            let purpose = before.first().is_some_and(|first| first.any(&["to", "for"]));
            last.any(LEAD_INS) || (purpose && !speaks_for_others(before))
        }
        Kind::Quoted
        | Kind::Code
        | Kind::Url
        | Kind::Email
        | Kind::Path
        | Kind::Identifier
        | Kind::Number
        | Kind::Date
        | Kind::Time
        | Kind::Phone => before.first().is_some_and(|first| first.any(&["to", "for"])),
    }
}

/// The verb of a commitment that begins here.
fn verb_of(sentence: &[Token<'_>], at: usize) -> Option<usize> {
    let rest = sentence.get(at..)?;
    if let Some(words) = COMMITMENTS.iter().find(|words| starts_with(rest, words)) {
        return main_verb(sentence, at + words.len());
    }
    // "I'm now going to", "I will".
    if let Some(words) = PROGRESSIVES.iter().find(|words| starts_with(rest, words)) {
        let verb = skip_adverbs(sentence, at + words.len());
        let tail = sentence.get(verb..).unwrap_or_default();
        if starts_with(tail, &["going", "to"]) || starts_with(tail, &["about", "to"]) {
            return main_verb(sentence, verb + 2);
        }
        return is_progressive(sentence, verb).then(|| main_verb(sentence, verb)).flatten();
    }
    bare_progressive(sentence, at).then_some(at)
}

/// "Reading the file now", "Okay, searching for it…", "Calling read_file on it".
fn bare_progressive(sentence: &[Token<'_>], at: usize) -> bool {
    if !is_progressive(sentence, at) {
        return false;
    }
    let before = sentence.get(..at).unwrap_or_default();
    let after = sentence.get(at + 1..).unwrap_or_default();
    let asked = ["what", "which", "where", "whether", "who", "how", "that"];
    let has_finite = after.iter().enumerate().any(|(index, token)| {
        let before = index.checked_sub(1).and_then(|before| after.get(before));
        token.any(FINITE)
            && !before.is_some_and(|before| before.any(&asked))
            && !(after.iter().take(index).any(|token| token.any(&asked)))
    });
    let is_now = after.iter().any(|token| token.any(&["now"]))
        || has_phrase(after, &[&["right", "away"]])
        || sentence.last().is_some_and(|token| token.kind == Kind::Mark('\u{2026}'));
    let is_led_in = before.iter().any(|token| token.any(LEAD_INS))
        && before.iter().all(|token| token.is_mark() || token.any(LEAD_INS));
    let is_call = sentence
        .get(at)
        .is_some_and(|token| token.any(&["calling", "invoking", "using"]))
        && (before.is_empty() || is_led_in)
        && after.first().is_some_and(|token| matches!(token.kind, Kind::Identifier | Kind::Code));
    !has_finite && (is_now || is_led_in || is_call)
}

fn is_progressive(sentence: &[Token<'_>], at: usize) -> bool {
    let Some(token) = sentence.get(at) else { return false };
    token.lower.len() > 4
        && token.lower.ends_with("ing")
        && (verbs::is_known(&token.stem) || token.any(&["trying", "starting", "using"]))
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
    sentence.get(at).filter(|token| matches!(token.kind, Kind::Word | Kind::Identifier)).map(|_| at)
}

fn skip_adverbs(sentence: &[Token<'_>], from: usize) -> usize {
    let rest = sentence.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|token| token.any(ADVERBS)).count()
}

/// Where what is said about an action ends, and its reason or consequence begins.
fn end_of(sentence: &[Token<'_>], action: Action) -> usize {
    let uses = sentence
        .get(action.verb)
        .is_some_and(|verb| verb.any(&["use", "using", "call", "calling", "invoke"]));
    for at in action.verb + 1..action.end {
        let rest = sentence.get(at..action.end).unwrap_or_default();
        let [token, after @ ..] = rest else { break };
        let next = after.first();
        let next_is = |words: &[&str]| next.is_some_and(|next| next.any(words));
        let is_value = next.is_some_and(|next| next.kind != Kind::Word);
        let is_end = match token.lower.as_str() {
            "because" | "which" | "but" | "while" | "whereas" => true,
            "so" => !is_value,
            "since" | "before" | "until" => !is_value && !next_is(&["the"]),
            "instead" | "rather" => next_is(&["of", "than"]),
            "not" => true,
            "in" => next_is(&["order"]) && after.get(1).is_some_and(|token| token.is("to")),
            "to" => !uses && at > action.verb + 1 && next_is(PURPOSES),
            "and" => {
                next_is(REPORTS)
                    || (next_is(&["then"]) && after.get(1).is_some_and(|token| token.any(REPORTS)))
            }
            _ => match token.kind {
                Kind::Mark(':') => {
                    !next.is_some_and(|next| matches!(next.kind, Kind::Quoted | Kind::Code))
                }
                Kind::Mark('\u{2014}' | '\u{2013}' | ';') => true,
                Kind::Word
                | Kind::Quoted
                | Kind::Code
                | Kind::Url
                | Kind::Email
                | Kind::Path
                | Kind::Identifier
                | Kind::Number
                | Kind::Date
                | Kind::Time
                | Kind::Phone
                | Kind::Mark(_) => false,
            },
        };
        if is_end {
            return at;
        }
    }
    action.end
}

/// Verbs after "to" that say what an action is for.
const PURPOSES: &[&str] = &[
    "see",
    "check",
    "find",
    "make",
    "verify",
    "confirm",
    "answer",
    "understand",
    "determine",
    "learn",
    "know",
    "help",
    "ensure",
    "look",
    "figure",
    "decide",
    "tell",
    "show",
    "be",
    "give",
    "fix",
    "avoid",
    "get",
    "prepare",
    "compare",
    "double-check",
    "investigate",
    "diagnose",
    "debug",
    "test",
    "gather",
];

/// Verbs after "and" that say what comes of an action.
const REPORTS: &[&str] = &[
    "see",
    "let",
    "tell",
    "report",
    "explain",
    "summarize",
    "share",
    "come",
    "give",
    "we",
    "you",
    "we'll",
    "that",
    "i",
];
