//! A whole answer as the stream it would have been, every member as it came.

use super::events::{self, Grows, Tap};
use crate::wire::{Kind, Raw, ReadError, Str};

/// Writes the stream. An answer that does not say why it stopped has no end.
pub(in super::super) fn unroll(body: &str) -> Result<Vec<u8>, ReadError> {
    let answer = Raw::parse(body)?;
    let keys = ["content", "stop_reason", "stop_sequence", "stop_details", "usage"];
    let [content, reason, sequence, details, usage] = answer.reader().pick(keys)?;
    let mut out = Vec::with_capacity(2 * body.len());
    let begun = answer.but(&BEGUN)?;
    events::write(events::MESSAGE_START, &mut out, |event| event.put("message", &begun));
    let mut tap = Tap::default();
    for block in content.as_ref().map_or(Ok(Vec::new()), Raw::elements)? {
        write_block(&mut tap, &block, &mut out)?;
    }
    let Some(reason) = reason.filter(|reason| reason.kind() == Kind::String) else {
        return Ok(out);
    };
    events::write(events::MESSAGE_DELTA, &mut out, |event| {
        let mut delta = event.object("delta");
        delta.put("stop_reason", &reason);
        delta.put("stop_sequence", &sequence);
        delta.maybe("stop_details", details.as_ref());
        drop(delta);
        event.maybe("usage", usage.as_ref());
    });
    events::write(events::MESSAGE_STOP, &mut out, |_event| {});
    Ok(out)
}

/// Writes a block. What does not grow is there from the start.
fn write_block(tap: &mut Tap, block: &Raw<'_>, out: &mut Vec<u8>) -> Result<(), ReadError> {
    let keys = ["type", "text", "citations", "thinking", "signature", "input"];
    let [kind, text, citations, thinking, signature, input] = block.reader().pick(keys)?;
    let is_text = |value: &Raw<'_>| value.kind() == Kind::String;
    let kind = kind.filter(is_text);
    let kind = kind.as_ref().map(|kind| kind.reader().string()).transpose()?;
    let kind = kind.as_ref().map(Str::decode).unwrap_or_default();
    let (grows, other): (_, &[(&str, &str)]) = match kind.as_ref() {
        "text" => (Grows::Text, &[("text", "\"\""), ("citations", "[]")]),
        "thinking" => (Grows::Thinking, &[("thinking", "\"\""), ("signature", "\"\"")]),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => (Grows::Input, &[("input", "{}")]),
        _given => (Grows::Text, &[]),
    };
    let begun = block.but(other)?;
    tap.begin(grows, out, |out| out.extend_from_slice(begun.text().as_bytes()));
    match kind.as_ref() {
        "text" => {
            if let Some(text) = text.filter(is_text) {
                tap.other("text_delta", "text", &text, out);
            }
            for citation in citations.as_ref().map_or(Ok(Vec::new()), Raw::elements)? {
                tap.other("citations_delta", "citation", &citation, out);
            }
        }
        "thinking" => {
            if let Some(thinking) = thinking.filter(is_text) {
                tap.other("thinking_delta", "thinking", &thinking, out);
            }
            if let Some(signature) = signature.filter(is_text) {
                tap.other("signature_delta", "signature", &signature, out);
            }
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            if let Some(input) = input {
                let json = Str::plain(input.text());
                tap.other("input_json_delta", "partial_json", &json, out);
            }
        }
        _given => {}
    }
    tap.end(out);
    Ok(())
}

/// What an answer that has just begun does not have yet.
const BEGUN: [(&str, &str); 4] = [
    ("content", "[]"),
    ("stop_reason", "null"),
    ("stop_sequence", "null"),
    ("stop_details", "null"),
];
