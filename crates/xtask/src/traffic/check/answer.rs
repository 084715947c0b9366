//! Answers: what one says before and after.

use serde_json::Value;
use toolwire::ledger::Entry;

use super::{Failure, Pair, leaves, valid};
use crate::traffic::extract::{self, Call, Input, ResponseContent, Stop, Usage};

pub(super) fn check(pair: &Pair<'_>) -> Vec<Failure> {
    let before = extract::answer(pair.case.protocol, &pair.before);
    let after = extract::answer(pair.to, &pair.after);
    let mut failures = compare(&before, &after, pair.ledger);
    failures.extend(leaves::lost(pair));
    failures.extend(valid::document(pair.to, "answer", &pair.after));
    failures
}

/// What an answer says otherwise after its translation.
pub(super) fn compare(
    before: &ResponseContent,
    after: &ResponseContent,
    ledger: &[Entry],
) -> Vec<Failure> {
    compare_with(before, after, ledger, IdRule::Needed)
}

/// Whether a call needs an id. The calls of Chat before it had tools have none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IdRule {
    Needed,
    AsBefore,
}

pub(super) fn compare_with(
    before: &ResponseContent,
    after: &ResponseContent,
    ledger: &[Entry],
    ids: IdRule,
) -> Vec<Failure> {
    let mut failures = Vec::new();
    if let Some(message) = &before.error {
        let kept = after.error.as_ref().is_some_and(|said| said.contains(message.trim()));
        if !kept {
            let detail = format!("{message:?} became {:?}", after.error);
            failures.push(Failure::new("the error of an answer is lost", detail));
        }
        return failures;
    }
    if !before.ended {
        if after.ended && after.error.is_none() {
            failures.push(Failure::new("a stream that was cut off looks finished", ""));
        }
        return failures;
    }
    if let Some(error) = &after.error {
        // Who broke an answer off says so with a word of their own, which the error names.
        let is_named = matches!(&before.stop, Stop::Other(word) if error.contains(word.as_str()));
        if !(is_named && is_broken_off(before)) {
            failures.push(Failure::new("an answer became an error", error.clone()));
        }
        return failures;
    }
    if !after.ended {
        failures.push(Failure::new("the output has no end", ""));
    }
    if is_broken_off(before) && before.stop != after.stop {
        failures.push(Failure::new("an answer that was broken off looks finished", ""));
    }
    failures.extend(texts(before, after));
    failures.extend(reasoning(before, after, ledger));
    failures.extend(calls(&before.calls, &after.calls, ledger));
    let nameless = after.calls.iter().find(|call| call.id.is_empty());
    if let Some(call) = nameless.filter(|_| ids == IdRule::Needed) {
        failures.push(Failure::new("a call has no id", call.name.clone()));
    }
    failures.extend(stop(before, after, ledger));
    failures.extend(usage(before.usage, after.usage, ledger));
    if after.hosted < before.hosted && ledger.is_empty() {
        let detail = format!("{} parts", before.hosted);
        failures.push(Failure::new("parts of the vendor's own tools vanish in silence", detail));
    }
    if after.others < before.others && ledger.is_empty() {
        failures.push(Failure::new("other answers vanish in silence", ""));
    }
    failures
}

/// Whether a vendor says with a word of its own that it broke the answer off, or leaves a call
/// without an end behind a word that nobody knows.
fn is_broken_off(answer: &ResponseContent) -> bool {
    let Stop::Other(word) = &answer.stop else { return false };
    let word = word.to_lowercase();
    let says_so = ["error", "abort", "insufficient", "malformed"].iter();
    let is_cut = |call: &Call| matches!(&call.input, Input::Text(text) if text.starts_with('{'));
    says_so.into_iter().any(|part| word.contains(part)) || answer.calls.iter().any(is_cut)
}

/// Protocols join texts with blanks of their own, so blanks do not count.
fn texts(before: &ResponseContent, after: &ResponseContent) -> Option<Failure> {
    let (said, says) = (packed(&before.text), packed(&after.text));
    let explained = packed(&before.explanation);
    if says == said || (!explained.is_empty() && says == format!("{said}{explained}")) {
        return None;
    }
    // Where a stream's items differ from what it streamed, nobody knows what was meant. What the
    // client was shown cannot be taken back, so the output begins with that.
    if before.other_text.as_deref().is_some_and(|shown| says.starts_with(&packed(shown))) {
        return None;
    }
    let class = if says.is_empty() {
        "the text is gone"
    } else if said.is_empty() {
        "a text appears that nobody said"
    } else if says.len() >= 2 * said.len() && says.starts_with(&said) {
        "the text is said twice"
    } else {
        "the text differs"
    };
    let at = said.chars().zip(says.chars()).take_while(|(one, other)| one == other).count();
    Some(Failure::new(class, differing(&said, &says, at)))
}

/// Thoughts may be joined and may change places, but none is lost and none is said twice.
fn reasoning(
    before: &ResponseContent,
    after: &ResponseContent,
    ledger: &[Entry],
) -> Option<Failure> {
    let said: Vec<String> = before.reasoning.iter().map(|thought| packed(thought)).collect();
    let says = packed(&after.reasoning.concat());
    let missing = said.iter().find(|thought| !says.contains(thought.as_str()));
    if let Some(thought) = missing {
        let is_reported = ledger.iter().any(|entry| {
            entry.code.to_string().starts_with("reasoning") || entry.path.contains("reasoning")
        });
        return (!is_reported)
            .then(|| Failure::new("reasoning is lost in silence", differing(thought, &says, 0)));
    }
    let length: usize = said.iter().map(String::len).sum();
    let class = if said.is_empty() {
        "reasoning appears that nobody thought"
    } else {
        "reasoning is said twice"
    };
    (says.len() > length).then(|| Failure::new(class, differing(&said.concat(), &says, 0)))
}

/// Calls keep their order, names and arguments.
pub(super) fn calls(before: &[Call], after: &[Call], ledger: &[Entry]) -> Vec<Failure> {
    if before.len() != after.len() {
        let names = |calls: &[Call]| {
            calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let detail = format!(
            "{} [{}] became {} [{}]",
            before.len(),
            names(before),
            after.len(),
            names(after)
        );
        return vec![Failure::new("the number of calls differs", detail)];
    }
    before.iter().zip(after).filter_map(|(was, is)| call(was, is, ledger)).collect()
}

fn call(was: &Call, is: &Call, ledger: &[Entry]) -> Option<Failure> {
    let reported = |word: &str| ledger.iter().any(|entry| entry.code.to_string().contains(word));
    if was.input == Input::Native {
        return None;
    }
    let flat = format!("{}__{}", was.namespace, was.name);
    let is_same_name = is.name == was.name || (!was.namespace.is_empty() && is.name == flat);
    if !is_same_name && !reported("tool_name") && !reported("namespace") {
        let detail = format!("{:?} became {:?}", was.name, is.name);
        return Some(Failure::new("a call has another name", detail));
    }
    if !same_input(&was.input, &is.input) && !reported("args") && !reported("schema") {
        let detail = format!("{:?} became {:?}", was.input, is.input);
        return Some(Failure::new("a call has other arguments", detail));
    }
    // Ids that every protocol takes stay as they are. The published limit of the strictest is 40.
    let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let fits = !was.id.is_empty() && was.id.len() <= 40 && was.id.chars().all(word);
    if fits && was.id != is.id && !reported("call_id") {
        let detail = format!("{:?} became {:?}", was.id, is.id);
        return Some(Failure::new("a call has another id", detail));
    }
    None
}

/// A text where the other side wants an object is wrapped in one, and comes back as it was.
fn same_input(was: &Input, is: &Input) -> bool {
    let holds = |value: &Value, text: &str| {
        let wrapped = ["input", "__toolwire_raw"];
        wrapped.iter().any(|name| value.get(name).and_then(Value::as_str) == Some(text))
    };
    match (was, is) {
        (Input::Text(text), Input::Json(value)) | (Input::Json(value), Input::Text(text)) => {
            holds(value, text)
        }
        (Input::Json(was), Input::Json(is)) => {
            was == is || holds(is, &was.to_string()) || holds(was, &is.to_string())
        }
        (was, is) => was == is,
    }
}

fn stop(before: &ResponseContent, after: &ResponseContent, ledger: &[Entry]) -> Option<Failure> {
    let is_reported = ledger
        .iter()
        .any(|entry| ["stop_reason", "paused"].contains(&entry.code.to_string().as_str()));
    let is_same = match (&before.stop, &after.stop) {
        // A model that declines ends like any other for OpenAI; Messages has a word for it.
        (Stop::End, Stop::Filter) => before.is_refusal,
        (Stop::Unsaid, Stop::End | Stop::Calls) => true,
        (Stop::Other(_), _) => is_reported || before.stop == after.stop,
        (was, is) => was == is,
    };
    let class =
        format!("the stop reason differs: {} became {}", name(&before.stop), name(&after.stop));
    (!is_same).then(|| Failure::new(class, format!("{:?} became {:?}", before.stop, after.stop)))
}

fn name(stop: &Stop) -> &'static str {
    match stop {
        Stop::Unsaid => "nothing",
        Stop::End => "end",
        Stop::Calls => "calls",
        Stop::Length => "length",
        Stop::Filter => "filter",
        Stop::Other(_) => "another",
    }
}

fn usage(before: Option<Usage>, after: Option<Usage>, ledger: &[Entry]) -> Option<Failure> {
    let reported = |word: &str| ledger.iter().any(|entry| entry.code.to_string().contains(word));
    let Some(was) = before else {
        let invented = after.is_some_and(|is| is.total > 0);
        return invented
            .then(|| Failure::new("usage appears that nobody counted", format!("{after:?}")));
    };
    let Some(is) = after else {
        return (!reported("usage")).then(|| Failure::new("usage is lost", format!("{was:?}")));
    };
    let differs = |what: &str| {
        Some(Failure::new(format!("usage: {what} differs"), format!("{was:?} became {is:?}")))
    };
    let kept = |was: u64, is: u64| was == is || (was > 0 && is == 0 && reported("usage"));
    // A part cannot be more than the whole; what is too much is cut off.
    let cache_read = was.cache_read.min(was.input);
    let cache_write = was.cache_write.min(was.input - cache_read);
    if was.total != is.total {
        return differs("the total");
    }
    if was.input != is.input || was.output != is.output {
        return differs("input or output");
    }
    let is_unchanged = (was.cache_read, was.cache_write) == (is.cache_read, is.cache_write);
    let is_kept = kept(cache_read, is.cache_read) && kept(cache_write, is.cache_write);
    if !is_unchanged && !is_kept {
        return differs("what was cached");
    }
    if !kept(was.reasoning, is.reasoning) { differs("reasoning") } else { None }
}

/// A text without its blanks.
pub(super) fn packed(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

fn differing(was: &str, is: &str, at: usize) -> String {
    let cut = |text: &str| text.chars().skip(at).take(60).collect::<String>();
    format!("at {at}: {:?} became {:?}", cut(was), cut(is))
}
