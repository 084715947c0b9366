//! A whole answer of Messages as a stream, with every member as it came.

use super::events::{
    BlockDeltas, BlockEvents, MESSAGE_DELTA, MESSAGE_START, MESSAGE_STOP, write_message_event,
};
use crate::wire::{Kind, Raw, ReadError, Str};

/// The stream of an answer. If the answer does not say why the model stopped,
/// the stream has no end.
pub(in super::super) fn stream_from_response(body: &str) -> Result<Vec<u8>, ReadError> {
    let answer = Raw::parse(body)?;
    let keys = ["content", "stop_reason", "stop_sequence", "stop_details", "usage"];
    let [content, reason, sequence, details, usage] = answer.reader().pick(keys)?;
    let mut out = Vec::with_capacity(2 * body.len());
    let begun = answer.but(&AT_START)?;
    write_message_event(MESSAGE_START, &mut out, |event| event.put("message", &begun));
    let mut events = BlockEvents::default();
    for block in content.as_ref().map_or(Ok(Vec::new()), Raw::elements)? {
        write_block(&mut events, &block, &mut out)?;
    }
    let Some(reason) = reason.filter(|reason| reason.kind() == Kind::String) else {
        return Ok(out);
    };
    write_message_event(MESSAGE_DELTA, &mut out, |event| {
        let mut delta = event.object("delta");
        delta.put("stop_reason", &reason);
        delta.put("stop_sequence", &sequence);
        delta.maybe("stop_details", details.as_ref());
        drop(delta);
        event.maybe("usage", usage.as_ref());
    });
    write_message_event(MESSAGE_STOP, &mut out, |_event| {});
    Ok(out)
}

/// Writes a block. Members that have no deltas are there from the start.
fn write_block(
    events: &mut BlockEvents,
    block: &Raw<'_>,
    out: &mut Vec<u8>,
) -> Result<(), ReadError> {
    let keys = ["type", "text", "citations", "thinking", "signature", "input"];
    let [kind, text, citations, thinking, signature, input] = block.reader().pick(keys)?;
    let is_text = |value: &Raw<'_>| value.kind() == Kind::String;
    let kind = kind.filter(is_text);
    let kind = kind.as_ref().map(|kind| kind.reader().string()).transpose()?;
    let kind = kind.as_ref().map(Str::decode).unwrap_or_default();
    let (deltas, at_start): (_, &[(&str, &str)]) = match kind.as_ref() {
        "text" if citations.as_ref().is_some_and(|list| list.kind() == Kind::Array) => {
            (BlockDeltas::Text, &[("text", "\"\""), ("citations", "[]")])
        }
        "text" => (BlockDeltas::Text, &[("text", "\"\"")]),
        "thinking" => (BlockDeltas::Thinking, &[("thinking", "\"\""), ("signature", "\"\"")]),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => (BlockDeltas::Input, &[("input", "{}")]),
        _other => (BlockDeltas::Text, &[]),
    };
    let begun = block.but(at_start)?;
    events.open(deltas, out, |out| out.extend_from_slice(begun.text().as_bytes()));
    match kind.as_ref() {
        "text" => {
            if let Some(text) = text.filter(is_text) {
                events.other_delta("text_delta", "text", &text, out);
            }
            for citation in citations.as_ref().map_or(Ok(Vec::new()), Raw::elements)? {
                events.other_delta("citations_delta", "citation", &citation, out);
            }
        }
        "thinking" => {
            if let Some(thinking) = thinking.filter(is_text) {
                events.other_delta("thinking_delta", "thinking", &thinking, out);
            }
            if let Some(signature) = signature.filter(is_text) {
                events.other_delta("signature_delta", "signature", &signature, out);
            }
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            if let Some(input) = input {
                let json = Str::plain(input.text());
                events.other_delta("input_json_delta", "partial_json", &json, out);
            }
        }
        _other => {}
    }
    events.close(out);
    Ok(())
}

/// Members that have other values while the answer has only begun.
const AT_START: [(&str, &str); 4] = [
    ("content", "[]"),
    ("stop_reason", "null"),
    ("stop_sequence", "null"),
    ("stop_details", "null"),
];
