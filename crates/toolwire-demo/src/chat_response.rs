//! The reply in the Chat protocol, as one document or as a stream.

use serde_json::{Map, Value, json};
use toolwire::wire::hash;

use crate::reply::{CallInput, Reply, ToolCall};

/// A reply, and what the protocol wants to know beside it.
pub(crate) struct ChatResponse<'r> {
    /// What ids are derived from: the request. So they are the same every time
    /// and differ between the turns of a conversation.
    pub(crate) id_seed: &'r str,
    pub(crate) model: String,
    /// Whether the client declared the deprecated `functions`.
    pub(crate) legacy_functions: bool,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) reply: Reply,
}

impl ChatResponse<'_> {
    /// The reply as one document.
    pub(crate) fn completion(&self) -> Vec<u8> {
        let content =
            if self.reply.calls.is_empty() { json!(self.reply.text) } else { Value::Null };
        let mut message =
            object([("role", json!("assistant")), ("content", content), ("refusal", Value::Null)]);
        if let Some((key, calls)) = self.calls() {
            message.insert(key.to_owned(), calls);
        }
        let choice = json!({
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": self.finish_reason(),
        });
        let mut document = self.document("chat.completion", json!([choice]));
        document.insert("usage".to_owned(), self.usage());
        Value::Object(document).to_string().into_bytes()
    }

    /// The reply as server-sent events, one in each element.
    pub(crate) fn stream(&self, include_usage: bool) -> Vec<Vec<u8>> {
        let content = if self.reply.calls.is_empty() { json!("") } else { Value::Null };
        let mut events = vec![self.delta(json!({"role": "assistant", "content": content}))];
        for piece in pieces(&self.reply.text) {
            events.push(self.delta(json!({"content": piece})));
        }
        for (index, call) in self.reply.calls.iter().enumerate() {
            events.push(self.delta(self.call_start(index, call)));
            for piece in pieces(call.input.text()) {
                events.push(self.delta(self.call_delta(index, &call.input, piece)));
            }
        }
        events.push(self.chunk(json!({}), Some(self.finish_reason())));
        if include_usage {
            let mut document = self.document(CHUNK, json!([]));
            document.insert("usage".to_owned(), self.usage());
            events.push(sse_event(document));
        }
        events.push(b"data: [DONE]\n\n".to_vec());
        events
    }

    /// The members that a document and a chunk have in common.
    fn document(&self, kind: &str, choices: Value) -> Map<String, Value> {
        let hash = hash::base62(&[self.id_seed.as_bytes()], 20);
        object([
            ("id", json!(format!("chatcmpl-demo{hash}"))),
            ("object", json!(kind)),
            // A clock would make two answers to one request differ.
            ("created", json!(CREATED)),
            ("model", json!(self.model)),
            ("choices", choices),
        ])
    }

    /// The calls, with the key that they have in a message.
    fn calls(&self) -> Option<(&'static str, Value)> {
        let first = self.reply.calls.first()?;
        if self.legacy_functions {
            let function = json!({"name": first.name, "arguments": first.input.text()});
            return Some(("function_call", function));
        }
        let call = |(index, call): (usize, &ToolCall)| {
            let (kind, key) = (call.input.kind(), call.input.key());
            json!({
                "id": self.call_id(index),
                "type": kind,
                (kind): {"name": call.name, (key): call.input.text()},
            })
        };
        Some(("tool_calls", self.reply.calls.iter().enumerate().map(call).collect()))
    }

    /// The delta that begins a call.
    fn call_start(&self, index: usize, call: &ToolCall) -> Value {
        let (kind, key) = (call.input.kind(), call.input.key());
        if self.legacy_functions {
            return json!({"function_call": {"name": call.name, "arguments": ""}});
        }
        json!({"tool_calls": [{
            "index": index,
            "id": self.call_id(index),
            "type": kind,
            (kind): {"name": call.name, (key): ""},
        }]})
    }

    /// A delta with a piece of a call's input.
    fn call_delta(&self, index: usize, input: &CallInput, piece: &str) -> Value {
        let (kind, key) = (input.kind(), input.key());
        if self.legacy_functions {
            return json!({"function_call": {"arguments": piece}});
        }
        json!({"tool_calls": [{"index": index, (kind): {(key): piece}}]})
    }

    fn delta(&self, delta: Value) -> Vec<u8> {
        self.chunk(delta, None)
    }

    fn chunk(&self, delta: Value, finish_reason: Option<&str>) -> Vec<u8> {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        sse_event(self.document(CHUNK, json!([choice])))
    }

    fn usage(&self) -> Value {
        json!({
            "prompt_tokens": self.input_tokens,
            "completion_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
        })
    }

    fn finish_reason(&self) -> &'static str {
        match (self.reply.calls.is_empty(), self.legacy_functions) {
            (true, _) if self.reply.truncated => "length",
            (true, _) => "stop",
            (false, true) => "function_call",
            (false, false) => "tool_calls",
        }
    }

    fn call_id(&self, index: usize) -> String {
        let ordinal = (index as u64).to_be_bytes();
        format!("call_{}", hash::base62(&[self.id_seed.as_bytes(), &ordinal], 24))
    }
}

impl CallInput {
    /// The type of the call, which is also the key of its content.
    fn kind(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "function",
            Self::Freeform(_) => "custom",
        }
    }

    /// The key of the input in the call's content.
    fn key(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "arguments",
            Self::Freeform(_) => "input",
        }
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn sse_event(document: Map<String, Value>) -> Vec<u8> {
    format!("data: {}\n\n", Value::Object(document)).into_bytes()
}

/// A text in pieces of about the size that models send.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(PIECE_LENGTH) {
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

const CHUNK: &str = "chat.completion.chunk";
/// In characters.
const PIECE_LENGTH: usize = 12;

/// When it says that it answered: the beginning of 2026. The same request always
/// gets the same answer, so it is never the time of day.
const CREATED: u64 = 1_767_225_600;
