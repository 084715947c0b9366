//! A whole answer as the stream it would have been, every item as it came.

use super::pen::{Pen, part_place, place};
use crate::wire::{Kind, Object, Raw, ReadError, Reader, Write, read_fields};

/// Writes the stream. An answer that is not finished has no end.
pub(super) fn unroll(body: &str) -> Result<Vec<u8>, ReadError> {
    // A line end between two tokens would end the data of an event.
    let body = body.replace(['\n', '\r'], " ");
    let answer = Raw::parse(&body)?;
    let [status, output] = answer.reader().pick(["status", "output"])?;
    let mut events = Events { pen: Pen::default(), out: Vec::with_capacity(4 * body.len()) };
    for kind in ["response.created", "response.in_progress"] {
        let begun = but(&answer, &BEGUN)?;
        events.write(kind, b"", &[("response", &begun)]);
    }
    for (number, item) in (0u64..).zip(elements(output.as_ref())?) {
        events.item(number, &item)?;
    }
    let end = match status.as_ref().and_then(text).as_deref() {
        Some("completed") | None => "response.completed",
        Some("incomplete") => "response.incomplete",
        Some("failed") => "response.failed",
        Some("cancelled") => "response.cancelled",
        Some(_unfinished) => return Ok(events.out),
    };
    events.write(end, b"", &[("response", answer.text().as_bytes())]);
    Ok(events.out)
}

/// A stream being written.
struct Events {
    pen: Pen,
    out: Vec<u8>,
}

impl Events {
    /// Writes an event: where it belongs, and members of JSON.
    fn write(&mut self, kind: &str, place: &[u8], members: &[(&str, &[u8])]) {
        self.pen.begin(kind, &mut self.out);
        self.out.extend_from_slice(place);
        for (key, value) in members {
            self.out.extend_from_slice(b",\"");
            self.out.extend_from_slice(key.as_bytes());
            self.out.extend_from_slice(b"\":");
            self.out.extend_from_slice(value);
        }
        Pen::end(&mut self.out);
    }

    fn item(&mut self, number: u64, item: &Raw<'_>) -> Result<(), ReadError> {
        let keys = ["type", "id", "content", "summary", "arguments", "input"];
        let [kind, id, content, summary, arguments, input] = item.reader().pick(keys)?;
        let kind = kind.as_ref().and_then(text).unwrap_or_default();
        let id = id.as_ref().and_then(text).unwrap_or_default();
        let mut index = b",\"output_index\":".to_vec();
        number.write(&mut index);
        let begun = match kind.as_str() {
            "message" | "reasoning" | "function_call" | "custom_tool_call" => but(item, &EMPTY)?,
            _given => item.text().as_bytes().to_vec(),
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
                for (part, text) in (0u64..).zip(elements(summary.as_ref())?) {
                    let place = part_place(&id, number, "summary_index", part);
                    self.part(SUMMARY, &place, &text)?;
                }
                for (part, text) in (0u64..).zip(elements(content.as_ref())?) {
                    self.part(CONTENT, &part_place(&id, number, "content_index", part), &text)?;
                }
            }
            ("message", _, _) => {
                for (part, said) in (0u64..).zip(elements(content.as_ref())?) {
                    self.part(CONTENT, &part_place(&id, number, "content_index", part), &said)?;
                }
            }
            (_given, _, _) => {}
        }
        self.write("response.output_item.done", &index, &[("item", item.text().as_bytes())]);
        Ok(())
    }

    /// Writes a part of an item. What does not grow is given at once.
    fn part(&mut self, names: [&str; 2], place: &[u8], part: &Raw<'_>) -> Result<(), ReadError> {
        let keys = ["type", "text", "refusal", "annotations"];
        let [kind, said, refusal, annotations] = part.reader().pick(keys)?;
        let kind = kind.as_ref().and_then(text).unwrap_or_default();
        let grows = match (kind.as_str(), &said, &refusal) {
            ("output_text", Some(said), _) => Some(("response.output_text", "text", said)),
            ("summary_text", Some(said), _) => {
                Some(("response.reasoning_summary_text", "text", said))
            }
            ("reasoning_text", Some(said), _) => Some(("response.reasoning_text", "text", said)),
            ("refusal", _, Some(said)) => Some(("response.refusal", "refusal", said)),
            (_given, _, _) => None,
        };
        let [added, done] = names;
        let begun = if grows.is_some() { but(part, &EMPTY)? } else { part.text().into() };
        self.write(added, place, &[("part", &begun)]);
        if let Some((event, key, said)) = grows {
            self.grow(event, place, key, said);
        }
        for (number, annotation) in (0u64..).zip(elements(annotations.as_ref())?) {
            let mut index = Vec::new();
            number.write(&mut index);
            let members: [(&str, &[u8]); 2] =
                [("annotation_index", &index), ("annotation", annotation.text().as_bytes())];
            self.write("response.output_text.annotation.added", place, &members);
        }
        self.write(done, place, &[("part", part.text().as_bytes())]);
        Ok(())
    }

    /// Writes a text in one delta, and that it is all.
    fn grow(&mut self, event: &str, place: &[u8], key: &str, text: &Raw<'_>) {
        let text = text.text().as_bytes();
        self.write(&format!("{event}.delta"), place, &[("delta", text)]);
        self.write(&format!("{event}.done"), place, &[(key, text)]);
    }
}

/// An object with other values for some of its members.
fn but(object: &Raw<'_>, other: &[(&str, &str)]) -> Result<Vec<u8>, ReadError> {
    let mut out = Vec::with_capacity(object.text().len());
    let mut written = Object::new(&mut out);
    for field in read_fields(&mut object.reader())? {
        let other = other.iter().find(|(key, _)| field.key == *key);
        let value = other.map_or(field.value.text(), |(_, value)| value);
        written.foreign_key(&field.key).extend_from_slice(value.as_bytes());
    }
    drop(written);
    Ok(out)
}

/// The elements of a list. What is no list has none.
fn elements<'r>(list: Option<&'r Raw<'_>>) -> Result<Vec<Raw<'r>>, ReadError> {
    match list.filter(|list| list.kind() == Kind::Array) {
        Some(list) => crate::wire::Read::read(&mut list.reader()),
        None => Ok(Vec::new()),
    }
}

fn text(raw: &Raw<'_>) -> Option<String> {
    let mut reader: Reader<'_> = raw.reader();
    (raw.kind() == Kind::String).then(|| reader.string().ok())??.decode().into_owned().into()
}

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
