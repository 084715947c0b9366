//! What an answer says, read with serde_json alone and none of the library's code, so that a
//! mistake of a codec cannot hide behind the same mistake here.

mod chat;
mod messages;
mod request;
mod responses;

#[cfg(test)]
mod tests;

use serde_json::Value;
use toolwire::Protocol;

pub(super) use self::request::{CallResult, RequestContent};
use super::sse;

/// What an answer says to its reader.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ResponseContent {
    /// All texts, refusals among them, in their order.
    pub(super) text: String,
    /// Words beside the text, which some protocols can only say as text: why a vendor's filter
    /// stopped the model, or what was spoken.
    pub(super) explanation: String,
    pub(super) is_refusal: bool,
    pub(super) reasoning: Vec<String>,
    pub(super) calls: Vec<Call>,
    /// The parts that the vendor's own tools made.
    pub(super) hosted: usize,
    /// Answers beside the first one.
    pub(super) others: usize,
    pub(super) stop: Stop,
    pub(super) usage: Option<Usage>,
    /// The message of an error that took the place of the rest.
    pub(super) error: Option<String>,
    /// Whether the protocol's own end was seen. Always so for a whole answer.
    pub(super) ended: bool,
    /// What disagrees inside one stream, which says many things twice.
    pub(super) contradiction: Option<String>,
    /// The texts in the other place where a stream says them, if they differ.
    pub(super) other_text: Option<String>,
}

/// A call of a tool that the client runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) input: Input,
}

/// What a tool is called with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Input {
    Json(Value),
    /// A text that is no JSON, by intention or because it was cut off.
    Text(String),
    /// A shape of one vendor's own, which others write in words of theirs.
    #[default]
    Native,
}

/// Why the model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Stop {
    #[default]
    Unsaid,
    End,
    Calls,
    Length,
    Filter,
    Other(String),
}

impl Stop {
    pub(super) fn is_said(&self) -> bool {
        *self != Self::Unsaid
    }
}

/// What the answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Everything that was read, cached or not.
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) total: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    pub(super) reasoning: u64,
}

/// The answer that a document is.
pub(super) fn answer(protocol: Protocol, document: &Value) -> ResponseContent {
    let mut answer = match protocol.as_str() {
        "chat" => chat::answer(document),
        "responses" => responses::answer(document),
        _ => messages::answer(document),
    };
    answer.ended = true;
    answer.settle();
    answer
}

/// The answer that a stream adds up to.
pub(super) fn stream(protocol: Protocol, body: &[u8]) -> ResponseContent {
    let events = sse::events(body);
    let documents: Vec<Value> = events.iter().filter_map(document).collect();
    let mut answer = match protocol.as_str() {
        "chat" => {
            let mut answer = chat::stream(&documents);
            // Without a reason to stop, an end in the middle of a call is none, and neither is one
            // behind other answers.
            let is_cut = |call: &Call| matches!(call.input, Input::Text(_));
            let is_done = events.iter().any(|event| event.data.trim() == "[DONE]");
            let is_unsaid = answer.stop == Stop::Unsaid && answer.others == 0;
            answer.ended |= is_done && is_unsaid && !answer.calls.iter().any(is_cut);
            answer
        }
        "responses" => responses::stream(&documents),
        _ => messages::stream(&documents),
    };
    // A stream with an event that nobody can read is broken.
    let is_end = |event: &&sse::Event| event.data.trim() == "[DONE]";
    let read = documents.len() + events.iter().filter(is_end).count();
    answer.ended &= read == events.len();
    answer.settle();
    answer
}

/// An event as a document. Some servers say its type in its name alone.
fn document(event: &sse::Event) -> Option<Value> {
    let mut document: Value = serde_json::from_str(&event.data).ok()?;
    if let (Some(members), Some(name)) = (document.as_object_mut(), &event.name) {
        members.entry("type").or_insert_with(|| Value::String(name.clone()));
    }
    Some(document)
}

/// What a request says.
pub(super) fn request(protocol: Protocol, document: &Value) -> RequestContent {
    match protocol.as_str() {
        "chat" => request::chat(document),
        "responses" => request::responses(document),
        _ => request::messages(document),
    }
}

impl ResponseContent {
    /// Whether there are calls decides why an answer ended, not what vendors call it.
    fn settle(&mut self) {
        if self.stop == Stop::End && !self.calls.is_empty() {
            self.stop = Stop::Calls;
        } else if self.stop == Stop::Calls && self.calls.is_empty() {
            self.stop = Stop::End;
        }
    }
}

impl Input {
    /// The arguments of a call, which OpenAI writes as text. None at all is an empty object.
    pub(super) fn of_arguments(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Json(Value::Object(serde_json::Map::new()));
        }
        match serde_json::from_str(text) {
            Ok(value) => Self::Json(value),
            Err(_) => Self::Text(text.to_owned()),
        }
    }
}

/// The text at a pointer, empty if there is none.
fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a pointer, empty if there is none.
fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// The message of an error, whatever it is wrapped in.
pub(super) fn error_message(document: &Value) -> Option<String> {
    let error = document.get("error").filter(|error| !error.is_null()).unwrap_or(document);
    let candidates = [error.get("message"), document.get("message"), document.get("detail")];
    let message = candidates.into_iter().flatten().find_map(Value::as_str);
    message.or_else(|| error.as_str()).map(str::to_owned)
}
