//! The stream: put together to the answer that it amounts to.

use std::collections::BTreeMap;

use crate::codec::StreamAccumulator;
use crate::wire::growing::GrowingObject;
use crate::wire::sse::Frame;
use crate::wire::{Extra, Kind, Object, Raw, ReadError, Reader, read_fields, written};

/// An answer that grows chunk by chunk.
#[derive(Debug, Default)]
pub(crate) struct ChatAccumulator {
    /// The members of the chunks that are not about a choice.
    answer: GrowingObject,
    message: GrowingObject,
    /// The calls by their number. A vendor that numbers none gives each its id.
    calls: BTreeMap<u64, GrowingObject>,
    /// The members of the first choice that are not its message.
    choice: GrowingObject,
}

impl StreamAccumulator for ChatAccumulator {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), ReadError> {
        if frame.data.trim() == "[DONE]" {
            return Ok(());
        }
        for field in read_fields(&mut Reader::new(frame.data))? {
            let key = field.key.decode();
            match key.as_ref() {
                "choices" => {
                    for choice in field.value.elements()? {
                        self.choice(&choice)?;
                    }
                }
                "object" => {}
                other => self.answer.set(other, &field.value)?,
            }
        }
        Ok(())
    }

    fn response(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut answer = Object::new(&mut out);
        answer.put("object", "chat.completion");
        self.answer.write_members(&mut answer);
        let mut choices = answer.array("choices");
        let mut choice = choices.object();
        choice.put("index", &0_u64);
        {
            let mut message = choice.object("message");
            message.put("role", "assistant");
            self.message.write_members(&mut message);
            if !self.calls.is_empty() {
                let mut calls = message.array("tool_calls");
                self.calls.values().for_each(|call| calls.push(call));
            }
        }
        self.choice.write_members(&mut choice);
        drop(choice);
        drop(choices);
        drop(answer);
        out
    }
}

impl ChatAccumulator {
    /// Adds a piece of the first choice; the others are other answers.
    fn choice(&mut self, choice: &Raw<'_>) -> Result<(), ReadError> {
        if choice.kind() != Kind::Object {
            return Ok(());
        }
        let fields = read_fields(&mut choice.reader())?;
        if fields.iter().any(|field| field.key == "index" && field.value.text() != "0") {
            return Ok(());
        }
        for field in fields {
            let Extra { key, value } = &field;
            let key = key.decode();
            match (key.as_ref(), value.kind()) {
                ("delta", Kind::Object) => self.delta(value)?,
                ("index" | "delta", _kind) => {}
                (_key, Kind::Null) => {}
                ("logprobs", _kind) => self.choice.add("logprobs", value)?,
                (other, _kind) => self.choice.set(other, value)?,
            }
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Raw<'_>) -> Result<(), ReadError> {
        for field in read_fields(&mut delta.reader())? {
            let key = field.key.decode();
            match (key.as_ref(), field.value.kind()) {
                ("role", _kind) => {}
                ("tool_calls", Kind::Array) => {
                    for call in field.value.elements()? {
                        self.call(&call)?;
                    }
                }
                ("function_call", Kind::Object) => {
                    merge_called(&mut self.message, "function_call", &field.value)?;
                }
                ("tool_calls", _kind) => {}
                (other, _kind) => self.message.add(other, &field.value)?,
            }
        }
        Ok(())
    }

    /// Adds a piece of a call.
    fn call(&mut self, piece: &Raw<'_>) -> Result<(), ReadError> {
        if piece.kind() != Kind::Object {
            return Ok(());
        }
        let fields = read_fields(&mut piece.reader())?;
        let number = fields.iter().find(|field| field.key == "index");
        let number: Option<u64> = number.and_then(|field| field.value.text().parse().ok());
        let id = fields.iter().find(|field| field.key == "id").map(|field| &field.value);
        let last = self.calls.last_key_value();
        let number = number.unwrap_or_else(|| match (last, id) {
            (Some((last, call)), Some(id)) => last + u64::from(!is_text(call, "id", id)),
            (Some((last, _)), None) => *last,
            (None, _) => 0,
        });
        let call = self.calls.entry(number).or_default();
        for Extra { key, value } in &fields {
            let key = key.decode();
            match (key.as_ref(), value.kind()) {
                ("index", _kind) => {}
                // Vendors repeat these with every piece, or leave them empty.
                ("id" | "type", Kind::String) if value.text() != "\"\"" => {
                    call.set(&key, value)?;
                }
                ("id" | "type", _kind) => {}
                ("function" | "custom", Kind::Object) => merge_called(call, &key, value)?,
                (other, _kind) => call.add(other, value)?,
            }
        }
        Ok(())
    }
}

/// Adds to what is called. A name that is repeated is not longer for it.
fn merge_called(call: &mut GrowingObject, key: &str, piece: &Raw<'_>) -> Result<(), ReadError> {
    let repeats = |name: &Raw<'_>| {
        let known = call.object(key).and_then(|called| called.text("name"));
        let name = name.reader().string().ok();
        known.is_some() && known == name
    };
    let mut members = Vec::new();
    for field in read_fields(&mut piece.reader())? {
        if !(field.key == "name" && repeats(&field.value)) {
            members.push(field);
        }
    }
    let rest = written(|out| Object::new(out).extra(&members));
    call.add(key, &Raw::made(rest))
}

fn is_text(call: &GrowingObject, key: &str, raw: &Raw<'_>) -> bool {
    let text = raw.reader().string().ok();
    text.is_some() && call.text(key) == text
}
