//! What must follow a conversation when the model has called tools: the answer
//! as it came, and the results in the protocol's own shape.

use super::{AnsweredCall, Error, ToolOutput, call_id, calls_in};
use crate::model::{Call, Protocol};
use crate::tracker::pairing::{Paired, Pairing};
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
    let results = (codec.result_items)(&answered)?;
    Ok(Continuation { protocol, answer, results })
}

/// The output of every call, in the order of the calls. Outputs that share an
/// id answer the calls that share it in turn.
fn pair<'a>(
    calls: &[&'a Call<'a>],
    outputs: &'a [ToolOutput],
    error_prefix: &'static str,
) -> Result<Vec<AnsweredCall<'a>>, Error> {
    let ids: Vec<_> = (0..).zip(calls).map(|(ordinal, call)| call_id(call, ordinal)).collect();
    let mut pairing = Pairing::of_answer(ids.iter().map(|id| &**id));
    let mut slots = vec![None; calls.len()];
    // An output with a wrong id also leaves a call without output. The wrong id
    // is the cause, so it is reported first.
    for output in outputs {
        let id = || output.id.clone();
        match pairing.result(Some(&output.id)) {
            Paired::Answers(call) => {
                if let Some(slot) = slots.get_mut(call) {
                    *slot = Some(output);
                }
            }
            Paired::Repeats { call: _, earlier: _ } => return Err(Error::Duplicate { id: id() }),
            Paired::Orphan => return Err(Error::Unknown { id: id() }),
        }
    }
    drop(pairing);
    let mut answered = Vec::with_capacity(calls.len());
    let mut missing = Vec::new();
    for ((id, call), slot) in ids.into_iter().zip(calls).zip(slots) {
        match slot {
            Some(output) => answered.push(AnsweredCall { id, call, output, error_prefix }),
            None => missing.push(id.into_owned()),
        }
    }
    if missing.is_empty() { Ok(answered) } else { Err(Error::Missing { ids: missing }) }
}

/// The bytes of a member of the object that comes next.
pub fn member<'a>(mut reader: Reader<'a>, name: &'static str) -> Result<Raw<'a>, ReadError> {
    reader.enter(name)?;
    reader.raw()
}

/// The JSON text that `write` writes.
pub fn item<E>(write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<String, E> {
    let mut out = Vec::with_capacity(SHORT_ITEM);
    write(&mut out)?;
    // JSON is only written from texts, so it is UTF-8.
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// Room for a result of a few words. An answer may have a thousand of them, and
/// each would grow several times otherwise.
const SHORT_ITEM: usize = 128;
