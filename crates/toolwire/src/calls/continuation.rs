//! What must follow a conversation when the model has called tools: the answer
//! as it came, and the results in the protocol's own shape.

use std::collections::{BTreeMap, VecDeque};

use super::results::{Answered, chat_result, messages_results, responses_result};
use super::{Error, ToolOutput, found, owned};
use crate::codec::codec;
use crate::model::{Call, Protocol};
use crate::translate::{invalid, utf8};
use crate::wire::{Kind, Object, Raw, ReadError, Reader, What};

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

    pub(super) fn size(&self) -> usize {
        self.items().map(|item| item.len() + 1).sum()
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
/// use toolwire::Protocol;
///
/// let answer = br#"{"role":"assistant","stop_reason":"tool_use","content":[
///     {"type":"thinking","thinking":"","signature":"EqQB"},
///     {"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"Paris"}}]}"#;
/// let outputs = [ToolOutput::error("toolu_1", "no such city")];
/// let continuation = calls::continuation(Protocol::Messages, answer, &outputs)?;
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
    let decoded = codec(protocol).decode_response(source).map_err(fault)?;
    let calls: Vec<&Call<'_>> = found(&decoded).collect();
    let answered = pair(&calls, outputs)?;
    let mut continuation = Continuation { protocol, answer: Vec::new(), results: Vec::new() };
    match protocol {
        Protocol::Chat => {
            let message = chat_message(source).map_err(fault)?;
            continuation.answer.push(with_role(&message));
            let legacy = is_legacy(&message);
            for (call, answer) in calls.iter().zip(answered) {
                let name = legacy.then_some(&call.name);
                continuation.results.push(json(|out| chat_result(name, &answer, out))?);
            }
        }
        Protocol::Responses => {
            let items = field(Reader::new(source), "output").map_err(fault)?;
            continuation.answer = elements(&items).map_err(fault)?;
            for (call, answer) in calls.iter().zip(answered) {
                continuation.results.push(json(|out| responses_result(call, &answer, out))?);
            }
        }
        Protocol::Messages => {
            let content = field(Reader::new(source), "content").map_err(fault)?;
            continuation.answer.push(json(|out| {
                let mut message = Object::new(out);
                message.put("role", "assistant");
                message.put("content", &content);
                Ok(())
            })?);
            if !answered.is_empty() {
                continuation.results.push(json(|out| messages_results(&answered, out))?);
            }
        }
        Protocol::Custom(_) => {}
    }
    Ok(continuation)
}

/// The output of every call, in the order of the calls. Outputs that share an
/// id answer the calls that share it in turn.
fn pair<'o>(calls: &[&Call<'_>], outputs: &'o [ToolOutput]) -> Result<Vec<Answered<'o>>, Error> {
    let mut waiting: BTreeMap<&str, VecDeque<&'o ToolOutput>> = BTreeMap::new();
    for output in outputs {
        waiting.entry(output.id.as_str()).or_default().push_back(output);
    }
    let mut answered = Vec::with_capacity(calls.len());
    let mut missing = Vec::new();
    for (ordinal, call) in calls.iter().enumerate() {
        let id = owned(call, ordinal).id;
        match waiting.get_mut(id.as_str()).and_then(VecDeque::pop_front) {
            Some(output) => answered.push(Answered { id, output }),
            None => missing.push(id),
        }
    }
    // An output under a wrong id leaves its call without one: the wrong id is
    // the better news.
    if let Some((id, _)) = waiting.iter().find(|(_, left)| !left.is_empty()) {
        let id = (*id).to_owned();
        let known = answered.iter().any(|answered| answered.id == id);
        return Err(if known { Error::Duplicate { id } } else { Error::Unknown { id } });
    }
    if missing.is_empty() { Ok(answered) } else { Err(Error::Missing { ids: missing }) }
}

/// The message of the first choice.
fn chat_message(source: &str) -> Result<Raw<'_>, ReadError> {
    let choices = field(Reader::new(source), "choices")?;
    let mut reader = inside(&choices)?;
    let mut members = reader.array()?;
    if !members.more(&mut reader)? {
        return Err(ReadError::new(choices.pos(), What::Invalid("no answer in `choices`".into())));
    }
    field(reader, "message")
}

/// A message that can stand in a conversation: some vendors leave out who
/// speaks.
fn with_role(message: &Raw<'_>) -> String {
    match message.reader().tag("role") {
        Ok(None) => {
            let members = message.text().strip_prefix('{').unwrap_or_default();
            let comma = if members.trim_start().starts_with('}') { "" } else { "," };
            format!("{{\"role\":\"assistant\"{comma}{members}")
        }
        Ok(Some(_)) | Err(_) => message.text().to_owned(),
    }
}

/// Whether the message calls a function in the deprecated way, without an id.
fn is_legacy(message: &Raw<'_>) -> bool {
    field(message.reader(), "function_call").is_ok_and(|call| call.kind() == Kind::Object)
}

/// The bytes of a member of the object that comes next.
fn field<'a>(mut reader: Reader<'a>, name: &'static str) -> Result<Raw<'a>, ReadError> {
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        let value = reader.raw()?;
        if key == name {
            return Ok(value);
        }
    }
    Err(ReadError::missing(members.at(), name))
}

/// The bytes of every element of a list.
fn elements(list: &Raw<'_>) -> Result<Vec<String>, ReadError> {
    let mut reader = inside(list)?;
    let mut members = reader.array()?;
    let mut found = Vec::new();
    while members.more(&mut reader)? {
        found.push(reader.raw()?.text().to_owned());
    }
    Ok(found)
}

fn inside<'a>(value: &Raw<'a>) -> Result<Reader<'a>, ReadError> {
    value.source_reader().ok_or_else(|| ReadError::new(value.pos(), What::End))
}

fn json(write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> Result<String, Error> {
    let mut out = Vec::new();
    write(&mut out)?;
    // Everything written above is text.
    Ok(String::from_utf8(out).unwrap_or_default())
}
