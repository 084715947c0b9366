//! What must follow a conversation when the model has called tools: the answer
//! as it came, and the results in the protocol's own shape.

use std::collections::{BTreeMap, VecDeque};

use super::{AnsweredCall, Error, ToolOutput, calls_in, tool_call};
use crate::model::{Call, Protocol};
use crate::translate::{invalid, utf8};
use crate::wire::{Raw, ReadError, Reader};

/// What the next request has behind the conversation of the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuation {
    protocol: Protocol,
    answer: Vec<String>,
    results: Vec<String>,
}

impl Continuation {
    /// The protocol it is written in.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Everything to append to Chat's and Messages' `messages` or to
    /// Responses' `input`, each as JSON: the answer, then the results.
    pub fn items(&self) -> impl Iterator<Item = &str> {
        self.answer.iter().chain(&self.results).map(String::as_str)
    }

    /// The results alone, for servers that keep the conversation (Responses'
    /// `previous_response_id` and `conversation`).
    pub fn results(&self) -> impl Iterator<Item = &str> {
        self.results.iter().map(String::as_str)
    }
}

/// What the next request must have behind the conversation: the model's answer
/// as it came, and one result per call, in the order of the calls.
///
/// - Chat: the assistant's message, then one `tool` message per call.
/// - Responses: every output item, reasoning included, then one output item per
///   call, of the kind that answers it.
/// - Messages: the assistant's content, then one user message with a
///   `tool_result` per call.
///
/// An answer without calls continues with itself alone.
///
/// ```
/// use toolwire::calls::{self, ToolOutput};
/// use toolwire::Protocol::*;
///
/// let answer = br#"{"role":"assistant","stop_reason":"tool_use","content":[
///     {"type":"thinking","thinking":"","signature":"EqQB"},
///     {"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"Paris"}}]}"#;
/// let outputs = [ToolOutput::error("toolu_1", "no such city")];
/// let continuation = calls::continuation(Messages, answer, &outputs)?;
/// let items: Vec<&str> = continuation.items().collect();
/// assert!(items[0].contains(r#"{"type":"thinking","thinking":"","signature":"EqQB"}"#));
/// assert_eq!(
///     items[1],
///     concat!(
///         r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","#,
///         r#""content":"no such city","is_error":true}]}"#,
///     ),
/// );
/// # Ok::<(), calls::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Missing`] if a call has no output, [`Error::Unknown`] and
/// [`Error::Duplicate`] if an output has no call left to answer,
/// [`Error::Content`] if the protocol has no place for an output, and
/// [`Error::Document`] if the answer cannot be read.
pub fn continuation(
    protocol: Protocol,
    response: &[u8],
    outputs: &[ToolOutput],
) -> Result<Continuation, Error> {
    let source = utf8(response)?;
    let fault = |error| invalid(source, error);
    let codec = protocol.codec();
    let decoded = (codec.decode_response)(source).map_err(fault)?;
    let calls: Vec<&Call<'_>> = calls_in(&decoded).collect();
    let answered = pair(&calls, outputs, (codec.default_profile)().error_prefix)?;
    let answer = (codec.answer_items)(source).map_err(fault)?;
    let results = (codec.result_items)(&answer, &answered)?;
    Ok(Continuation { protocol, answer, results })
}

/// The output of every call, in the order of the calls. Outputs that share an
/// id answer the calls that share it in turn.
fn pair<'a>(
    calls: &[&'a Call<'a>],
    outputs: &'a [ToolOutput],
    error_prefix: &'static str,
) -> Result<Vec<AnsweredCall<'a>>, Error> {
    let mut waiting: BTreeMap<&str, VecDeque<&'a ToolOutput>> = BTreeMap::new();
    for output in outputs {
        waiting.entry(output.id.as_str()).or_default().push_back(output);
    }
    let mut answered = Vec::with_capacity(calls.len());
    let mut missing = Vec::new();
    for (ordinal, call) in calls.iter().enumerate() {
        let id = tool_call(call, ordinal).id;
        match waiting.get_mut(id.as_str()).and_then(VecDeque::pop_front) {
            Some(output) => answered.push(AnsweredCall { id, call, output, error_prefix }),
            None => missing.push(id),
        }
    }
    // An output with a wrong id also leaves a call without output. The wrong id
    // is the cause, so it is reported first.
    if let Some((id, _)) = waiting.iter().find(|(_, left)| !left.is_empty()) {
        let id = (*id).to_owned();
        let known = answered.iter().any(|answered| answered.id == id);
        return Err(if known { Error::Duplicate { id } } else { Error::Unknown { id } });
    }
    if missing.is_empty() { Ok(answered) } else { Err(Error::Missing { ids: missing }) }
}

/// The bytes of a member of the object that comes next.
pub fn member<'a>(mut reader: Reader<'a>, name: &'static str) -> Result<Raw<'a>, ReadError> {
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        let value = reader.raw()?;
        if key == name {
            return Ok(value);
        }
    }
    Err(ReadError::missing(members.at(), name))
}

/// The JSON text that `write` writes.
pub fn item<E>(write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<String, E> {
    let mut out = Vec::new();
    write(&mut out)?;
    // JSON is only written from texts, so it is UTF-8.
    Ok(String::from_utf8(out).unwrap_or_default())
}
