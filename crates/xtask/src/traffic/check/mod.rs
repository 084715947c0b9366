//! Translating a case and checking what came out.

mod answer;
mod leaves;
mod request;
mod valid;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use toolwire::ledger::Entry;
use toolwire::translate::{self, Error};
use toolwire::{Options, Pipe, Protocol};

use super::case::{Case, Kind};
use super::{extract, sse};

/// One thing that is wrong with a translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// What is wrong, without what differs from case to case.
    pub(super) class: String,
    /// What exactly differs.
    pub(super) detail: String,
}

impl Failure {
    fn new(class: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { class: class.into(), detail: detail.into() }
    }
}

/// What a translation gave.
struct Output {
    body: Vec<u8>,
    ledger: Vec<Entry>,
    status: Option<u16>,
}

/// Everything that is wrong with the translation of a case.
pub(super) fn check(case: &Case, to: Protocol) -> Vec<Failure> {
    let translated = catch_unwind(AssertUnwindSafe(|| translate(case, to)));
    let output = match translated {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return unread(case, &error).into_iter().collect(),
        Err(panic) => {
            let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
            return vec![Failure::new("panics", message.unwrap_or_default())];
        }
    };
    if case.protocol == to {
        return passed(case, &output).into_iter().collect();
    }
    match case.kind {
        Kind::Request => document(case, to, &output, request::check),
        Kind::Answer => document(case, to, &output, answer::check),
        Kind::Stream => stream(case, to, &output),
        Kind::Error => document(case, to, &output, error),
    }
}

fn translate(case: &Case, to: Protocol) -> Result<Output, Error> {
    let from = case.protocol;
    let mut options = Options::new();
    options.status = case.status;
    // Only a client of Chat that asks for it gets the usage of a stream.
    if case.kind == Kind::Stream && to.as_str() == "chat" {
        options = options.request(ASKS_FOR_USAGE);
    }
    let whole = |translated: translate::Translated| Output {
        body: translated.body,
        ledger: translated.ledger,
        status: None,
    };
    match case.kind {
        Kind::Request => translate::request(from, to, &case.body, &options).map(whole),
        Kind::Answer => translate::response(from, to, &case.body, &options).map(whole),
        Kind::Stream => {
            let mut pipe = Pipe::new(from, to, &options)?;
            let mut body = Vec::new();
            pipe.push(&case.body, &mut body);
            pipe.finish(&mut body);
            Ok(Output { body, ledger: pipe.take_ledger(), status: None })
        }
        Kind::Error => {
            let translated = translate::error(from, to, &case.body, &options)?;
            let status = Some(translated.status);
            Ok(Output { body: translated.body, ledger: Vec::new(), status })
        }
    }
}

const ASKS_FOR_USAGE: &[u8] =
    br#"{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}"#;

/// A document that was not translated. To refuse by name is right, and so is to refuse what the
/// vendor refused too, or to refuse as an error what the vendor gave as a failed answer.
fn unread(case: &Case, error: &Error) -> Option<Failure> {
    let vendor_refused =
        case.kind == Kind::Request && case.status.is_some_and(|status| status >= 400);
    let failed = || {
        let document = serde_json::from_slice::<Value>(&case.body).unwrap_or_default();
        extract::answer(case.protocol, &document).error.is_some()
    };
    match error {
        Error::Refused { .. } => None,
        Error::NotAnAnswer if failed() => None,
        Error::Invalid { .. } if vendor_refused => None,
        error => {
            let message = error.to_string();
            Some(Failure::new(format!("cannot be read: {}", shape_of(&message)), message))
        }
    }
}

/// Within one protocol the bytes pass. A stream may end at its end: what an upstream sends after
/// it is not passed on.
fn passed(case: &Case, output: &Output) -> Option<Failure> {
    if output.body == case.body {
        return None;
    }
    let is_cut_at_end = case.kind == Kind::Stream
        && case.body.strip_prefix(output.body.as_slice()).is_some_and(|rest| {
            let rest = sse::events(rest);
            rest.iter().all(|event| event.data.trim() == "[DONE]")
        });
    // A recording that was cut off gets the error that says so.
    let source = || extract::stream(case.protocol, &case.body);
    let is_mended = case.kind == Kind::Stream && !source().ended;
    if is_cut_at_end || is_mended {
        return None;
    }
    let at = case.body.iter().zip(&output.body).take_while(|(one, other)| one == other).count();
    Some(Failure::new("the bytes do not pass within one protocol", format!("from byte {at} on")))
}

type DocumentCheck = fn(&Pair<'_>) -> Vec<Failure>;

/// A document and its translation, as values.
struct Pair<'c> {
    case: &'c Case,
    to: Protocol,
    before: Value,
    after: Value,
    ledger: &'c [Entry],
    status: Option<u16>,
}

fn document(case: &Case, to: Protocol, output: &Output, check: DocumentCheck) -> Vec<Failure> {
    let before = serde_json::from_slice(&case.body).unwrap_or_default();
    let after = match serde_json::from_slice(&output.body) {
        Ok(after) => after,
        Err(error) => return vec![Failure::new("the output is not JSON", error.to_string())],
    };
    let (ledger, status) = (output.ledger.as_slice(), output.status);
    check(&Pair { case, to, before, after, ledger, status })
}

fn stream(case: &Case, to: Protocol, output: &Output) -> Vec<Failure> {
    let before = extract::stream(case.protocol, &case.body);
    let after = extract::stream(to, &output.body);
    let mut failures = answer::compare(&before, &after, &output.ledger);
    // A stream that fails halfway has parts that nothing ends.
    if let Some(contradiction) = after.contradiction.as_ref().filter(|_| after.error.is_none()) {
        failures.push(Failure::new(format!("the output contradicts itself: {contradiction}"), ""));
    }
    failures.extend(valid::stream(to, &output.body));
    failures
}

/// An error keeps its message, and its status is one of an error.
fn error(pair: &Pair<'_>) -> Vec<Failure> {
    let mut failures = Vec::new();
    let message = extract::error_message(&pair.before).unwrap_or_default();
    let said = pair.after.to_string();
    let quoted = Value::String(message.trim().to_owned()).to_string();
    if !said.contains(quoted.trim_matches('"')) {
        failures.push(Failure::new("the message of an error is lost", message));
    }
    if pair.status.is_some_and(|status| status < 400) {
        failures.push(Failure::new("an error has the status of a success", said));
    }
    failures.extend(leaves::lost(pair));
    failures.extend(valid::document(pair.to, "error", &pair.after));
    failures
}

/// A message without what differs from case to case: numbers and quoted texts.
fn shape_of(message: &str) -> Cow<'_, str> {
    let mut shape = String::new();
    let mut quote = None;
    for letter in message.chars() {
        match quote {
            Some(end) if letter == end => {
                quote = None;
                shape.push(letter);
            }
            Some(_) => {}
            None if letter == '"' || letter == '`' => {
                quote = Some(letter);
                shape.push(letter);
            }
            None if letter.is_ascii_digit() && shape.ends_with('*') => {}
            None if letter.is_ascii_digit() => shape.push('*'),
            None => shape.push(letter),
        }
    }
    Cow::Owned(shape)
}
