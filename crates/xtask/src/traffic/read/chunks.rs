//! Lines: server-sent events, one JSON chunk of a stream per line, or one document per line.

use serde_json::Value;

use super::{Exchange, cassette};
use crate::traffic::sse;

/// The exchanges of a file of lines. `None` if they are neither events nor JSON.
pub(super) fn exchanges(text: &str) -> Option<Vec<Exchange>> {
    if sse::is_stream(text.as_bytes()) {
        return Some(vec![Exchange::document("", text.as_bytes().to_vec())]);
    }
    // A file with another ending may still be one document.
    if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
        if cassette::is_exchange(&value) {
            return Some(vec![cassette::exchange(0, &value)]);
        }
        if !is_chunk(&value) {
            return Some(vec![Exchange::document("", text.as_bytes().to_vec())]);
        }
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let values: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
    Some(of_values(&values.ok()?))
}

/// The exchanges of a list: streams if there are chunks in it, else each element for itself.
pub(super) fn of_values(list: &[Value]) -> Vec<Exchange> {
    if list.iter().any(is_chunk) {
        let streams = streams(list);
        let entry = |at: usize| if streams.len() > 1 { at.to_string() } else { String::new() };
        let each = streams.iter().enumerate();
        return each
            .map(|(at, chunks)| Exchange::document(entry(at), event_stream(chunks)))
            .collect();
    }
    let each = list.iter().enumerate().map(|(at, value)| {
        if cassette::is_exchange(value) {
            cassette::exchange(at, value)
        } else if value.is_object() {
            Exchange::document(at.to_string(), value.to_string().into_bytes())
        } else {
            Exchange::default()
        }
    });
    each.collect()
}

/// The streams of a list of chunks: recordings of several steps have one after the other.
fn streams(chunks: &[Value]) -> Vec<&[Value]> {
    let ends = |chunk: &Value| {
        let kind = chunk.get("type").and_then(Value::as_str).unwrap_or_default();
        ["message_stop", "response.completed", "response.incomplete"].contains(&kind)
    };
    chunks.split_inclusive(ends).collect()
}

/// Chunks as the stream that they were: vendors that give their events a type also name them by
/// it, and those that do not end a stream with `[DONE]`.
fn event_stream(chunks: &[Value]) -> Vec<u8> {
    let mut stream = String::new();
    let kind = |chunk: &Value| chunk.get("type").and_then(Value::as_str).map(str::to_owned);
    for chunk in chunks {
        if let Some(kind) = kind(chunk) {
            stream.push_str(&format!("event: {kind}\n"));
        }
        stream.push_str(&format!("data: {chunk}\n\n"));
    }
    if chunks.first().is_some_and(|first| kind(first).is_none()) {
        stream.push_str("data: [DONE]\n\n");
    }
    stream.into_bytes()
}

/// Whether a document is the first event of a stream.
fn is_chunk(value: &Value) -> bool {
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let has_delta = value.pointer("/choices/0/delta").is_some();
    let kind = text("type");
    has_delta
        || text("object") == "chat.completion.chunk"
        || kind.starts_with("response.")
        || kind == "message_start"
}
