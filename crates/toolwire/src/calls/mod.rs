//! The calls in a model's answer, and the request that carries their results.
//!
//! For programs that run tools themselves and speak one protocol at a time:
//! [`parse`] finds the calls, the program runs them, and [`next_request`] gives
//! the body to send next. What the model said goes back byte for byte, with its
//! reasoning, because vendors check that.
//!
//! An answer that comes as a stream goes through a [`StreamedAnswer`], which has
//! each call as soon as it is whole.

mod collector;
mod continuation;
mod error;
mod results;
mod splice;
mod streamed;

use std::borrow::Cow;

#[doc(hidden)]
pub use collector::CallCollector;
pub use continuation::{Continuation, continuation};
#[doc(hidden)]
pub use continuation::{item, member};
pub use error::Error;
#[doc(hidden)]
pub use results::AnsweredCall;
#[doc(hidden)]
pub use splice::Conversation;
pub use streamed::{Arrived, StreamedAnswer};

pub use crate::model::NativeKind;

use crate::codec::codec;
use crate::model::{Arguments, Call, Item, Protocol, Response};
use crate::translate::{invalid, utf8};
use crate::wire::ids;

/// A call that the model wants the client to run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id that the result must have: Chat's `id`, Responses' `call_id`,
    /// Messages' `id`. A call that came without one has a made-up id here.
    pub id: String,
    /// The tool's name as the model used it.
    pub name: String,
    /// The tool's namespace (Responses).
    pub namespace: Option<String>,
    /// What the tool is called with.
    pub input: Input,
}

impl ToolCall {
    /// A call of a tool that is in no namespace.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Input) -> Self {
        Self { id: id.into(), name: name.into(), namespace: None, input }
    }

    /// Puts the tool in a namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// The JSON text of the arguments. `None` for freeform tools.
    pub fn arguments(&self) -> Option<&str> {
        match &self.input {
            Input::Arguments(json) | Input::Action(_, json) => Some(json),
            Input::Freeform(_) => None,
        }
    }

    /// The text given to a freeform tool.
    pub fn freeform(&self) -> Option<&str> {
        match &self.input {
            Input::Freeform(text) => Some(text),
            Input::Arguments(_) | Input::Action(_, _) => None,
        }
    }
}

/// What a tool is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// JSON as the model wrote it: numbers, key order and all. Chat and
    /// Responses do not promise that it is valid, and it may be empty for a
    /// tool without parameters.
    Arguments(String),
    /// The text for a freeform tool.
    Freeform(String),
    /// The action of a tool whose shape its vendor fixed, as JSON: what
    /// Responses' `local_shell`, `shell` or `apply_patch` is to do.
    Action(NativeKind, String),
}

/// What running a call gave.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The id of the call.
    pub id: String,
    /// The result.
    pub content: Content,
    /// Whether the tool failed. Messages has a flag for it; elsewhere the text
    /// gets `Error: ` in front, and Responses' shell and patch results say it in
    /// their status.
    pub is_error: bool,
}

/// A tool's result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text, often JSON.
    Text(String),
    /// A list of content parts in the words of the protocol, for results with
    /// images or documents; or the structured output that Responses wants of
    /// its shell, computer and tool search.
    Json(String),
}

impl ToolOutput {
    /// A result that is text.
    pub fn text(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), content: Content::Text(text.into()), is_error: false }
    }

    /// A failure, as text.
    pub fn error(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), content: Content::Text(text.into()), is_error: true }
    }

    /// A result that is JSON in the words of the protocol: see [`Content::Json`].
    pub fn json(id: impl Into<String>, json: impl Into<String>) -> Self {
        Self { id: id.into(), content: Content::Json(json.into()), is_error: false }
    }
}

/// The calls in a model's answer, in order.
///
/// The calls themselves decide, not the reason the model gives for stopping:
/// vendors answer `stop` to a forced call and `length` behind a whole one. Of
/// several answers (Chat's `n`) the first counts.
///
/// ```
/// use toolwire::Protocol::*;
/// use toolwire::calls;
///
/// let answer = br#"{"choices":[{"index":0,"finish_reason":"tool_calls","message":
///     {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",
///      "function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}]}}]}"#;
/// let calls = calls::parse(Chat, answer)?;
/// assert_eq!(calls[0].id, "call_1");
/// assert_eq!(calls[0].name, "get_weather");
/// assert_eq!(calls[0].arguments(), Some(r#"{"city":"Paris"}"#));
/// # Ok::<(), calls::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Document`] if the answer cannot be read, [`Error::Answer`] if it failed or was
/// broken off: its calls may be incomplete.
pub fn parse(protocol: Protocol, response: &[u8]) -> Result<Vec<ToolCall>, Error> {
    let source = utf8(response)?;
    let response =
        (codec(protocol).decode_response)(source).map_err(|error| invalid(source, error))?;
    match response.failure() {
        Some(failure) => Err(Error::Answer(Box::new(failure.clone()))),
        None => Ok(tool_calls(&response)),
    }
}

/// The body of the next request: the one that was sent, with the model's answer
/// and the results of its calls behind the conversation. Everything else in the
/// body stays as it is, byte for byte.
///
/// A tool that was forced by the request is forced again by the next one; lift
/// the choice yourself if that is not what you want.
///
/// ```
/// use toolwire::calls::{self, ToolOutput};
/// use toolwire::Protocol::*;
///
/// let request = br#"{"model":"m","input":[{"role":"user","content":"Weather?"}]}"#;
/// let answer = br#"{"output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},
/// {"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":"{}"}]}"#;
/// let outputs = [ToolOutput::text("call_1", "sunny")];
/// let next = calls::next_request(Responses, request, answer, &outputs)?;
/// assert_eq!(
///     std::str::from_utf8(&next).unwrap(),
///     concat!(
///         r#"{"model":"m","input":[{"role":"user","content":"Weather?"},"#,
///         r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},"#,
///         r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":"{}"},"#,
///         r#"{"type":"function_call_output","call_id":"call_1","output":"sunny"}]}"#,
///     ),
/// );
/// # Ok::<(), calls::Error>(())
/// ```
///
/// # Errors
///
/// As [`continuation`], and [`Error::Document`] if the request cannot be read.
pub fn next_request(
    protocol: Protocol,
    request: &[u8],
    response: &[u8],
    outputs: &[ToolOutput],
) -> Result<Vec<u8>, Error> {
    continuation(protocol, response, outputs)?.append_to(request)
}

/// The calls of the first answer, as values of their own.
pub(crate) fn tool_calls(response: &Response<'_>) -> Vec<ToolCall> {
    calls_in(response).enumerate().map(|(ordinal, call)| tool_call(call, ordinal)).collect()
}

/// The calls of the first answer.
fn calls_in<'r, 'a>(response: &'r Response<'a>) -> impl Iterator<Item = &'r Call<'a>> {
    let turns = response.candidates.first().map(|candidate| candidate.turns.as_slice());
    turns
        .unwrap_or_default()
        .iter()
        .flat_map(|turn| &turn.items)
        .filter_map(|item| if let Item::Call(call) = item { Some(call) } else { None })
}

fn tool_call(call: &Call<'_>, ordinal: usize) -> ToolCall {
    let input = match &call.arguments {
        Arguments::Text(text) => Input::Arguments(text.decode().into_owned()),
        Arguments::Json(json) => Input::Arguments(json.text().to_owned()),
        Arguments::Freeform(text) => Input::Freeform(text.decode().into_owned()),
        Arguments::Native(kind, action) => Input::Action(*kind, action.text().to_owned()),
    };
    ToolCall {
        id: call_id(call, ordinal).into_owned(),
        name: call.name.decode().into_owned(),
        namespace: call.namespace.as_ref().map(|namespace| namespace.decode()).map(Cow::into_owned),
        input,
    }
}

/// The id that the result of a call must have, made up if the call has none.
fn call_id<'a>(call: &'a Call<'_>, ordinal: usize) -> Cow<'a, str> {
    match &call.id {
        Some(id) => id.decode(),
        None => Cow::Owned(ids::mint(&call.name.decode(), ordinal)),
    }
}
