//! A whole answer of Responses as a stream, with every item as it came.

use super::event_writer::{EventWriter, part_place, place};
use crate::codec::responses::error_out;
use crate::model::ApiError;
use crate::wire::{Kind, Object, Raw, ReadError, Write};

/// Writes the stream. An answer that is not finished has no end.
pub(crate) fn stream_from_response(kind: &str) -> Result<Vec<u8>, ReadError> {
    // A line end between two tokens would end the data of an event.
    let kind = kind.replace(['\n', '\r'], " ");
    let answer = Raw::parse(&kind)?;
    let [status, output] = answer.reader().pick(["status", "output"])?;
    let mut events =
        ResponseEvents { events: EventWriter::default(), out: Vec::with_capacity(4 * kind.len()) };
    for kind in ["response.created", "response.in_progress"] {
        events.write(kind, b"", &[("response", &answer.but(&BEGUN)?)]);
    }
    for (number, item) in (0u64..).zip(list(output.as_ref())?) {
        events.item(number, &item)?;
    }
    let end = match status.as_ref().and_then(text).as_deref() {
        Some("incomplete") => "response.incomplete",
        Some("failed") => "response.failed",
        Some("cancelled") => CANCELLED,
        Some("queued" | "in_progress") => return Ok(events.out),
        // A status that nobody knows is in the answer for those who do.
        // vectors/responses/responses-unknown-status
        Some(_) | None => "response.completed",
    };
    events.write(end, b"", &[("response", &answer)]);
    Ok(events.out)
}

/// Writes the last events of the stream of an answer that is not made any further, each on
/// its own. `number` is that of the first of them: a stream without events begins before it
/// ends, because the SDK's helpers expect that.
pub(crate) fn ending(
    answer: &str,
    failure: Option<&ApiError>,
    number: u64,
) -> Result<Vec<Vec<u8>>, ReadError> {
    let answer = Raw::made(answer);
    let mut events = EventWriter::after(number);
    let mut written = Vec::new();
    let mut write = |kind: &str, members: &dyn Fn(&mut Object<'_>)| {
        let mut out = Vec::with_capacity(answer.text().len() + 128);
        events.write(kind, b"", &mut out, members);
        written.push(out);
    };
    if number == 0 {
        let begun = answer.but(&BEGUN)?;
        for kind in ["response.created", "response.in_progress"] {
            write(kind, &|event| event.put("response", &begun));
        }
    }
    let Some(failure) = failure else {
        // OpenAI publishes no event for it and sends none, so that a client cannot tell its
        // stream from one that was cut off. This is the name that its webhooks have for it.
        // The SDKs pass events on that they do not know, and Open Responses ends a stream
        // with this line.
        write(CANCELLED, &|event| event.put("response", &answer));
        if let Some(last) = written.last_mut() {
            last.extend_from_slice(DONE);
        }
        return Ok(written);
    };
    write("error", &|event| error_out::write_event(failure, event));
    write("response.failed", &|event| event.put("response", &answer));
    Ok(written)
}

/// The events of the stream.
struct ResponseEvents {
    events: EventWriter,
    out: Vec<u8>,
}

impl ResponseEvents {
    /// Writes an event: where it belongs, and members that are JSON already.
    fn write(&mut self, kind: &str, place: &[u8], members: &[(&str, &Raw<'_>)]) {
        self.events.write(kind, place, &mut self.out, |event| {
            for (key, value) in members {
                event.put(key, value);
            }
        });
    }

    fn item(&mut self, number: u64, item: &Raw<'_>) -> Result<(), ReadError> {
        let keys = ["type", "id", "content", "summary", "arguments", "input"];
        let [kind, id, content, summary, arguments, input] = item.reader().pick(keys)?;
        let kind = kind.as_ref().and_then(text).unwrap_or_default();
        let id = id.as_ref().and_then(text).unwrap_or_default();
        let mut index = b",\"output_index\":".to_vec();
        number.write(&mut index);
        let begun = match kind.as_str() {
            "message" | "reasoning" | "function_call" | "custom_tool_call" => item.but(&EMPTY)?,
            _given => item.borrowed(),
        };
        self.write("response.output_item.added", &index, &[("item", &begun)]);
        match (kind.as_str(), &arguments, &input) {
            ("function_call", Some(text), _) => {
                self.grow(
                    "response.function_call_arguments",
                    &place(&id, number),
                    "arguments",
                    text,
                );
            }
            ("custom_tool_call", _, Some(text)) => {
                self.grow("response.custom_tool_call_input", &place(&id, number), "input", text);
            }
            ("reasoning", _, _) => {
                for (part, text) in (0u64..).zip(list(summary.as_ref())?) {
                    let place = part_place(&id, number, "summary_index", part);
                    self.part(SUMMARY, &place, &text)?;
                }
                for (part, text) in (0u64..).zip(list(content.as_ref())?) {
                    self.part(CONTENT, &part_place(&id, number, "content_index", part), &text)?;
                }
            }
            ("message", _, _) => {
                for (part, value) in (0u64..).zip(list(content.as_ref())?) {
                    self.part(CONTENT, &part_place(&id, number, "content_index", part), &value)?;
                }
            }
            (_given, _, _) => {}
        }
        self.write("response.output_item.done", &index, &[("item", item)]);
        Ok(())
    }

    /// Writes a part of an item. A part without text comes in one piece.
    fn part(&mut self, names: [&str; 2], place: &[u8], part: &Raw<'_>) -> Result<(), ReadError> {
        let keys = ["type", "text", "refusal", "annotations"];
        let [kind, value, refusal, annotations] = part.reader().pick(keys)?;
        let kind = kind.as_ref().and_then(text).unwrap_or_default();
        let grows = match (kind.as_str(), &value, &refusal) {
            ("output_text", Some(value), _) => Some(("response.output_text", "text", value)),
            ("summary_text", Some(value), _) => {
                Some(("response.reasoning_summary_text", "text", value))
            }
            ("reasoning_text", Some(value), _) => Some(("response.reasoning_text", "text", value)),
            ("refusal", _, Some(value)) => Some(("response.refusal", "refusal", value)),
            (_given, _, _) => None,
        };
        let [added, done] = names;
        let begun = if grows.is_some() { part.but(&EMPTY)? } else { part.borrowed() };
        self.write(added, place, &[("part", &begun)]);
        if let Some((event, key, value)) = grows {
            self.grow(event, place, key, value);
        }
        for (number, annotation) in (0u64..).zip(list(annotations.as_ref())?) {
            let index = Raw::made(number.to_string());
            let members = [("annotation_index", &index), ("annotation", &annotation)];
            self.write("response.output_text.annotation.added", place, &members);
        }
        self.write(done, place, &[("part", part)]);
        Ok(())
    }

    /// Writes a text as one delta and the event that ends it.
    fn grow(&mut self, event: &str, place: &[u8], key: &str, text: &Raw<'_>) {
        self.write(&format!("{event}.delta"), place, &[("delta", text)]);
        self.write(&format!("{event}.done"), place, &[(key, text)]);
    }
}

fn list<'r>(raw: Option<&'r Raw<'_>>) -> Result<Vec<Raw<'r>>, ReadError> {
    raw.map_or(Ok(Vec::new()), Raw::elements)
}

fn text(raw: &Raw<'_>) -> Option<String> {
    if raw.kind() != Kind::String {
        return None;
    }
    Some(raw.reader().string().ok()?.decode().into_owned())
}

const CANCELLED: &str = "response.cancelled";

/// What a stream ends with.
const DONE: &[u8] = b"data: [DONE]\n\n";

const CONTENT: [&str; 2] = ["response.content_part.added", "response.content_part.done"];
const SUMMARY: [&str; 2] =
    ["response.reasoning_summary_part.added", "response.reasoning_summary_part.done"];

/// What an answer that has just begun does not have yet.
const BEGUN: [(&str, &str); 6] = [
    ("status", "\"in_progress\""),
    ("output", "[]"),
    ("usage", "null"),
    ("error", "null"),
    ("incomplete_details", "null"),
    ("completed_at", "null"),
];

/// What an item or a part that has just begun does not have yet.
const EMPTY: [(&str, &str); 9] = [
    ("status", "\"in_progress\""),
    ("content", "[]"),
    ("summary", "[]"),
    ("arguments", "\"\""),
    ("input", "\"\""),
    ("text", "\"\""),
    ("refusal", "\"\""),
    ("annotations", "[]"),
    ("logprobs", "[]"),
];
