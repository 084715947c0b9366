//! Translating a case and checking what came out.

mod answer;
mod exempt;
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

use self::answer::IdRule;
use super::case::{Case, Kind};
use super::extract::{Call, Input, Stop};
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
pub(super) struct Output {
    pub(super) body: Vec<u8>,
    ledger: Vec<Entry>,
    status: Option<u16>,
}

/// How a case is translated: by [`translate`], or worse in tests of the checks.
pub(super) type Translate = fn(&Case, Protocol) -> Result<Output, Error>;

/// Everything that is wrong with the translation of a case.
pub(super) fn check(translate: Translate, case: &Case, to: Protocol) -> Vec<Failure> {
    let checked = catch_unwind(AssertUnwindSafe(|| checked(translate, case, to)));
    checked.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        vec![Failure::new("panics", message.unwrap_or_default())]
    })
}

fn checked(translate: Translate, case: &Case, to: Protocol) -> Vec<Failure> {
    let output = match translate(case, to) {
        Ok(output) => output,
        Err(error) => return unread(case, &error).into_iter().collect(),
    };
    let is_same = case.protocol == to;
    let mut failures = match case.kind {
        Kind::Request | Kind::Response | Kind::Stream | Kind::Error if is_same => {
            passed(case, &output).into_iter().collect()
        }
        Kind::Request => document(case, to, &output, request::check),
        Kind::Response => document(case, to, &output, answer::check),
        Kind::Stream => stream(case, to, &output),
        Kind::Error => document(case, to, &output, error),
    };
    let other_form = match case.kind {
        Kind::Response => as_stream(case, to),
        Kind::Stream if !is_same => as_whole(translate, case, to, &output),
        Kind::Request | Kind::Stream | Kind::Error => Vec::new(),
    };
    failures.extend(other_form);
    failures
}

/// An answer for a client that wanted a stream says the same as the answer.
fn as_stream(case: &Case, to: Protocol) -> Vec<Failure> {
    let Ok(mut pipe) = Pipe::new(case.protocol, to, &options(case, to)) else { return Vec::new() };
    let mut body = Vec::new();
    if pipe.try_whole(&case.body, &mut body).is_err() {
        return Vec::new();
    }
    let document = serde_json::from_slice(&case.body).unwrap_or_default();
    let before = extract::answer(case.protocol, &document);
    // What has not ended becomes no stream that has.
    let is_running =
        matches!(&before.stop, Stop::Other(why) if why == "queued" || why == "in_progress");
    if !before.stop.is_said() || is_running {
        return Vec::new();
    }
    // Within one protocol, an error beside a finished answer stays where it is. Clients take it
    // for the end of the stream, whatever else its event says.
    let has_error = document.get("error").is_some_and(|error| !error.is_null());
    if case.protocol == to && before.error.is_none() && has_error {
        return Vec::new();
    }
    let after = extract::stream(to, &body);
    let ids = if case.protocol == to { IdRule::AsBefore } else { IdRule::Needed };
    let mut failures = answer::compare_with(&before, &after, &pipe.take_ledger(), ids);
    // Within one protocol, a stream is as complete as the answer that it is made of.
    if case.protocol != to {
        failures.extend(valid::stream(to, &body));
    }
    in_other_form("as a stream", failures)
}

/// A stream whose last event has the whole answer says the same as that answer.
fn as_whole(translate: Translate, case: &Case, to: Protocol, output: &Output) -> Vec<Failure> {
    let events = sse::events(&case.body);
    let last = events.iter().rev().find_map(|event| {
        let document: Value = serde_json::from_str(&event.data).ok()?;
        document.get("response").filter(|response| response.get("output").is_some()).cloned()
    });
    let Some(last) = last.filter(|last| extract::answer(case.protocol, last).stop.is_said()) else {
        return Vec::new();
    };
    let whole = Case { kind: Kind::Response, body: last.to_string().into_bytes(), ..case.clone() };
    let said = extract::stream(case.protocol, &case.body);
    // Where a vendor leaves items out of its last event, the two are not the same.
    if !said.ended
        || said.contradiction.is_some()
        || said.text != extract::answer(case.protocol, &last).text
    {
        return Vec::new();
    }
    let Ok(translated) = translate(&whole, to) else { return Vec::new() };
    let document = serde_json::from_slice(&translated.body).unwrap_or_default();
    let (before, after) = (extract::answer(to, &document), extract::stream(to, &output.body));
    // Arguments that were cut off are mended in an answer; what was streamed stays as it is.
    let is_cut = |call: &Call| matches!(call.input, Input::Text(_));
    if before.stop == Stop::Length && after.calls.iter().any(is_cut) {
        return Vec::new();
    }
    in_other_form("unlike its whole answer", answer::compare(&before, &after, &output.ledger))
}

fn in_other_form(form: &str, failures: Vec<Failure>) -> Vec<Failure> {
    let named = |Failure { class, detail }| Failure::new(format!("{form}: {class}"), detail);
    failures.into_iter().map(named).collect()
}

fn options(case: &Case, to: Protocol) -> Options<'static> {
    let mut options = Options::new();
    options.status = case.status;
    // Only a client of Chat that asks for it gets the usage of a stream.
    if to.as_str() == "chat" && matches!(case.kind, Kind::Response | Kind::Stream) {
        options = options.request(ASKS_FOR_USAGE);
    }
    options
}

/// Translates a case with the library.
pub(super) fn translate(case: &Case, to: Protocol) -> Result<Output, Error> {
    let from = case.protocol;
    let options = options(case, to);
    let whole = |translated: translate::Translated| Output {
        body: translated.body,
        ledger: translated.ledger,
        status: None,
    };
    match case.kind {
        Kind::Request => translate::request(from, to, &case.body, &options).map(whole),
        Kind::Response => translate::response(from, to, &case.body, &options).map(whole),
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
        Error::Invalid { .. } | Error::NotAnAnswer | _ => {
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
    // Reasoning that another vendor sealed is cut out of a request.
    let is_cut_out = case.kind == Kind::Request
        && output.body.len() < case.body.len()
        && case.text().contains("tw1.");
    if is_cut_at_end || is_mended || is_cut_out {
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
    // What a vendor does not name at first has no name.
    let first = sse::events(&case.body).into_iter().next().unwrap_or_default();
    let names_model = first.data.contains("\"model\"");
    let wrong = valid::stream(to, &output.body);
    failures.extend(wrong.filter(|wrong| names_model || !wrong.class.ends_with("member model")));
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
