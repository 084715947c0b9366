//! The stream: put together to the answer that it amounts to.

use super::call_finder::CallFinder;
use super::chunk::AnyCallDelta;
use super::fragment::CallFragment;
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
    /// Finds the call of a piece, as whoever reads the stream does.
    finder: CallFinder,
    /// The place of each call that the finder knows.
    places: Vec<usize>,
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
            let mut begun = self.calls.iter().filter(|call| !is_empty(call)).enumerate().peekable();
            if begun.peek().is_some() {
                let mut calls = message.array("tool_calls");
                for (ordinal, call) in begun {
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
                    let calls = field.value.elements()?;
                    let several = calls.len() > 1;
                    for (place, call) in calls.iter().enumerate() {
                        self.call(call, several.then_some(place))?;
                    }
                }
                ("function_call", Kind::Object) => {
                    let takes_name = !repeats_name(&self.message, &field.value)?;
                    merge_called(&mut self.message, "function_call", &field.value, takes_name)?;
                }
                ("tool_calls", _kind) => {}
                (other, _kind) => self.message.add(other, &field.value)?,
            }
        }
        Ok(())
    }

    /// Adds a piece of a call, which has a place if it came with others.
    fn call(&mut self, piece: &Raw<'_>, place: Option<usize>) -> Result<(), ReadError> {
        if piece.kind() != Kind::Object {
            return Ok(());
        }
        let fields = read_fields(&mut piece.reader())?;
        let (place, takes_name) = match AnyCallDelta::read(&mut piece.reader())? {
            AnyCallDelta::Unknown { kind: _, raw: _ } => (self.calls.len(), true),
            AnyCallDelta::Known(call) => {
                let mut fragment = CallFragment::from_delta(call).without_empty();
                fragment.place = place;
                if fragment.is_empty() {
                    return Ok(());
                }
                self.find(&fragment)
            }
        };
        if place == self.calls.len() {
            self.calls.push(GrowingObject::default());
        }
        let Some(call) = self.calls.get_mut(place) else { return Ok(()) };
        for Extra { key, value } in &fields {
            let key = key.decode();
            match (key.as_ref(), value.kind()) {
                ("index", _kind) => {}
                // Vendors repeat these with every piece, or leave them empty. Some make up an
                // id for every piece.
                ("id" | "type", Kind::String)
                    if value.text() != "\"\"" && call.text(&key).is_none() =>
                {
                    call.set(&key, value)?;
                }
                ("id" | "type", _kind) => {}
                ("function" | "custom", Kind::Object) => {
                    merge_called(call, &key, value, takes_name)?;
                }
                (other, _kind) => call.add(other, value)?,
            }
        }
        Ok(())
    }

    /// The place of the call that a fragment belongs to, and whether it takes the
    /// fragment's name.
    fn find(&mut self, fragment: &CallFragment<'_>) -> (usize, bool) {
        let number = self.finder.find_or_begin(fragment);
        let call = self.finder.get(number);
        let takes_name = match (call, &fragment.name) {
            (Some(call), Some(name)) => !call.refuses_name(name),
            (_, _) => false,
        };
        self.finder.take(number, fragment);
        if number == self.places.len() {
            self.places.push(self.calls.len());
        }
        (self.places.get(number).copied().unwrap_or(self.calls.len()), takes_name)
    }
}

/// The number of a choice or of a call, if its index is one.
fn number(index: &Extra<'_>) -> Option<u64> {
    let Index(number) = Index::read(&mut index.value.reader()).ok()?;
    number
}

/// Whether a piece of a deprecated function call has the name that is known.
fn repeats_name(message: &GrowingObject, piece: &Raw<'_>) -> Result<bool, ReadError> {
    let known = message.object("function_call").and_then(|called| called.text("name"));
    let [name] = piece.reader().pick(["name"])?;
    let name = name.as_ref().and_then(|name| name.reader().string().ok());
    Ok(known.is_some() && known == name)
}

/// Adds to what is called. A name that is repeated is not longer for it.
fn merge_called(
    call: &mut GrowingObject,
    key: &str,
    piece: &Raw<'_>,
    takes_name: bool,
) -> Result<(), ReadError> {
    let mut members = read_fields(&mut piece.reader())?;
    members.retain(|field| takes_name || field.key != "name");
    let rest = written(|out| Object::new(out).extra(&members));
    call.add(key, &Raw::made(rest))
}

/// Whether a call has only begun: it names no tool, so it is none.
fn is_empty(call: &GrowingObject) -> bool {
    let is_known = call.text("type").is_none_or(|kind| kind == "function" || kind == "custom");
    let says = |key| call.object(key).is_some_and(|called| !called.says_nothing());
    is_known && !says("function") && !says("custom")
}

fn minted_id(call: &GrowingObject, ordinal: usize) -> String {
    let called = call.object("function").or_else(|| call.object("custom"));
    let name = called.and_then(|called| called.text("name"));
    ids::mint(&name.as_ref().map(Str::decode).unwrap_or_default(), ordinal)
}
