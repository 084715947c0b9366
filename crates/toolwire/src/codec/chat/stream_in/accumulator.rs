//! The stream: put together to the answer that it amounts to.

use std::collections::BTreeMap;

use crate::codec::StreamAccumulator;
use crate::codec::chat::lenient_in::Index;
use crate::wire::growing::GrowingObject;
use crate::wire::sse::Frame;
use crate::wire::{
    Extra, Kind, Object, Raw, Read, ReadError, Reader, Str, ids, read_fields, written,
};

/// An answer that grows chunk by chunk.
#[derive(Debug, Default)]
pub(crate) struct ChatAccumulator {
    /// The members of the chunks that are not about a choice.
    answer: GrowingObject,
    message: GrowingObject,
    calls: Vec<GrowingObject>,
    /// The place of the last call with each number. Vendors give one number to
    /// several calls, or none at all, and then only the id tells them apart.
    numbered: BTreeMap<u64, usize>,
    /// The members of the first choice that are not its message.
    choice: GrowingObject,
    /// Whether the answer began with a message where a delta belongs.
    sends_messages: bool,
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
                for (ordinal, call) in self.calls.iter().enumerate() {
                    let mut object = calls.object();
                    // A call without an id gets the one that its result will have.
                    if call.text("id").is_none() {
                        object.put("id", &minted_id(call, ordinal));
                    }
                    call.write_members(&mut object);
                }
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
        let number = fields.iter().find(|field| field.key == "index").and_then(number);
        if number.is_some_and(|number| number != 0) {
            return Ok(());
        }
        let has_delta =
            fields.iter().any(|field| field.key == "delta" && field.value.kind() == Kind::Object);
        for field in fields {
            let Extra { key, value } = &field;
            let key = key.decode();
            match (key.as_ref(), value.kind()) {
                ("delta", Kind::Object) => self.delta(value)?,
                // Perplexity's whole answers have an empty delta beside the message.
                ("message", Kind::Object) if !has_delta => self.message(value)?,
                ("index" | "delta" | "message", _kind) => {}
                (_key, Kind::Null) => {}
                ("logprobs", _kind) => self.choice.add("logprobs", value)?,
                (other, _kind) => self.choice.set(other, value)?,
            }
        }
        Ok(())
    }

    /// Adds a message that came without a delta: in place of one, or again behind them, and
    /// then only what no delta had. vectors/streams/chat-message-repeated-behind-deltas
    fn message(&mut self, message: &Raw<'_>) -> Result<(), ReadError> {
        let fields = read_fields(&mut message.reader())?;
        if self.says_nothing() || self.sends_messages {
            self.add(fields)?;
            self.sends_messages = !self.says_nothing();
            return Ok(());
        }
        let is_new = |field: &Extra<'_>| match field.key.decode().as_ref() {
            "tool_calls" => self.calls.is_empty(),
            other => !self.message.says(other),
        };
        let news = fields.into_iter().filter(is_new).collect();
        self.add(news)
    }

    fn says_nothing(&self) -> bool {
        self.calls.is_empty() && self.message.says_nothing()
    }

    fn delta(&mut self, delta: &Raw<'_>) -> Result<(), ReadError> {
        self.add(read_fields(&mut delta.reader())?)
    }

    /// Adds pieces of the members of the message.
    fn add(&mut self, pieces: Vec<Extra<'_>>) -> Result<(), ReadError> {
        for field in pieces {
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
        let number = fields.iter().find(|field| field.key == "index").and_then(number);
        let id = fields.iter().find(|field| field.key == "id");
        // Where calls have no number, one that names an id begins, even if the id
        // is empty.
        let begins = number.is_none() && id.is_some();
        let id = id.and_then(|field| field.value.reader().string().ok());
        let id = id.filter(|id| !id.is_empty());
        let last = self.calls.len().checked_sub(1);
        let known = match number.map(|number| self.numbered.get(&number).copied()) {
            // Some vendors number the pieces of a call otherwise than its beginning, but
            // only a beginning has a name. vectors/streams/chat-index-ahead-of-its-call
            Some(None) if !is_named(&fields)? => last,
            Some(known) => known,
            None => last,
        };
        let continues = |place: &usize| {
            let known = self.calls.get(*place).and_then(|call| call.text("id"));
            match (known, &id) {
                (Some(known), Some(id)) => known == *id,
                (_, _) => !begins,
            }
        };
        let place = known.filter(continues).unwrap_or(self.calls.len());
        if let Some(number) = number {
            self.numbered.insert(number, place);
        }
        if place == self.calls.len() {
            self.calls.push(GrowingObject::default());
        }
        let Some(call) = self.calls.get_mut(place) else { return Ok(()) };
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

/// The number of a choice or of a call, if its index is one.
fn number(index: &Extra<'_>) -> Option<u64> {
    let Index(number) = Index::read(&mut index.value.reader()).ok()?;
    number
}

/// Whether a piece of a call says what is called.
fn is_named(piece: &[Extra<'_>]) -> Result<bool, ReadError> {
    let called = |field: &&Extra<'_>| field.key == "function" || field.key == "custom";
    for field in piece.iter().filter(called).filter(|field| field.value.kind() == Kind::Object) {
        let [name] = field.value.reader().pick(["name"])?;
        if name.is_some_and(|name| !name.says_nothing()) {
            return Ok(true);
        }
    }
    Ok(false)
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

fn minted_id(call: &GrowingObject, ordinal: usize) -> String {
    let called = call.object("function").or_else(|| call.object("custom"));
    let name = called.and_then(|called| called.text("name"));
    ids::mint(&name.as_ref().map(Str::decode).unwrap_or_default(), ordinal)
}
