//! What a server that remembers reads in requests and answers.

use super::turns_in::ItemList;
use crate::model::{Item, Opaque, Turn};
use crate::stateful::{StatefulAnswer, StatefulItem, StatefulItems, StatefulRequest};
use crate::wire::{Extra, Kind, Object, Raw, Read, ReadError, Reader, Str, What};

/// Reads a request whose head was read, so nothing is checked for the second time.
pub(super) fn request(mut reader: Reader<'_>) -> Result<StatefulRequest<'_>, ReadError> {
    let mut request = StatefulRequest::default();
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        if key == *INPUT && reader.peek() == Kind::Array {
            request.input = known_items(&mut reader, known_item)?;
            continue;
        }
        let value = known(&mut reader)?;
        let is_set = value.kind() != Kind::Null;
        match key.decode().as_ref() {
            STORE => request.store = boolean(&value)?,
            "background" => request.background = boolean(&value)?.unwrap_or_default(),
            "previous_response_id" if is_set => request.previous = Some(string(&value)?),
            "conversation" if is_set => request.conversation = Some(conversation_id(&value)?),
            INPUT if is_set => request.input = input(value)?,
            name if name == INPUT || STATE.contains(&name) => {}
            _other => request.others.push(Extra { key, value }),
        }
    }
    reader.finish()?;
    Ok(request)
}

/// Reads only the input of a request whose head was read.
pub(super) fn request_input(mut reader: Reader<'_>) -> Result<Vec<StatefulItem<'_>>, ReadError> {
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        if key != *INPUT {
            reader.skip_known()?;
            continue;
        }
        return match reader.peek() == Kind::Array {
            true => known_items(&mut reader, known_item),
            false => {
                let value = known(&mut reader)?;
                if value.kind() == Kind::Null { Ok(Vec::new()) } else { input(value) }
            }
        };
    }
    Ok(Vec::new())
}

/// Reads an answer, as far as the last member that matters.
pub(super) fn answer(body: &str) -> Result<StatefulAnswer<'_>, ReadError> {
    let mut answer = StatefulAnswer::default();
    let mut missing = 3 + ECHO.len();
    let mut reader = Reader::new(body);
    let mut members = reader.object()?;
    while missing > 0
        && let Some(key) = members.next(&mut reader)?
    {
        match key.decode().as_ref() {
            "id" => answer.id = reader.string()?.into_decoded().into_owned(),
            "status" if reader.peek() == Kind::String => {
                answer.status = reader.string()?.into_decoded().into_owned();
            }
            "output" => answer.output = known_items(&mut reader, answered_item)?,
            name if ECHO.contains(&name) => {
                let start = reader.here().offset();
                if missing == ECHO.len()
                    && name == FIRST_ECHO
                    && let Some(start) = start
                    && let Some(end) = echo_end(body)
                    && start < end
                {
                    answer.repeats = Some(start..end);
                    break;
                }
                reader.skip_known()?;
                if let (Some(start), Some(end)) = (start, reader.behind().offset()) {
                    // Only short members are between them.
                    let start = answer.repeats.as_ref().map_or(start, |found| found.start);
                    answer.repeats = Some(start..end);
                }
            }
            _other => {
                reader.skip_known()?;
                continue;
            }
        }
        missing -= 1;
    }
    Ok(answer)
}

/// Reads an item of a request's input, of which it is known whether it has an id.
pub(super) fn input_item(item: &str, has_id: bool) -> Result<StatefulItem<'_>, ReadError> {
    if has_id {
        return known_item(&mut Reader::new(item));
    }
    // Without an id, only its type makes it a reference.
    if let Some((kind, _)) = type_in_front(item) {
        return Ok(StatefulItem::new(None, kind == REFERENCE, item));
    }
    let mut is_reference = false;
    let mut reader = Reader::new(item);
    if reader.peek() == Kind::Object {
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            if key == *"type" {
                is_reference = reader.peek() == Kind::String && reader.string()? == *REFERENCE;
                break;
            }
            reader.skip_known()?;
        }
    }
    Ok(StatefulItem::new(None, is_reference, item))
}

/// Reads an item of an answer, which refers to nothing. Nothing behind its id is read.
pub(super) fn output_item(item: &str) -> Result<StatefulItem<'_>, ReadError> {
    let id = match id_behind_type(item) {
        Some(id) => Some(id.to_owned()),
        None => answered_id(Reader::new(item))?,
    };
    Ok(StatefulItem::new(id, false, item))
}

/// The id of an item whose first members are its type and its id, spelled as this codec
/// does it.
fn id_behind_type(item: &str) -> Option<&str> {
    let (_, rest) = type_in_front(item)?;
    plain_text(rest.strip_prefix(",\"id\":\"")?).map(|(id, _)| id)
}

/// The type of an item, if it is its first member and spelled as most clients do it, and what
/// is behind it.
fn type_in_front(item: &str) -> Option<(&str, &str)> {
    plain_text(item.strip_prefix("{\"type\":\"")?)
}

/// The text whose quote has come, if nothing in it is escaped, and what is behind it.
fn plain_text(rest: &str) -> Option<(&str, &str)> {
    let end = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
    let (text, rest) = rest.split_at_checked(end)?;
    Some((text, rest.strip_prefix('"')?))
}

/// Reads an object with `items` and `metadata`.
pub(super) fn list(body: &str) -> Result<StatefulItems<'_>, ReadError> {
    let mut list = StatefulItems::default();
    let mut reader = Reader::new(body);
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        match key.decode().as_ref() {
            "items" if reader.peek() != Kind::Null => {
                // What no request could have would stop every later one in its conversation.
                for turn in ItemList::read(&mut reader.clone())?.0 {
                    is_item(&turn)?;
                }
                list.items = items(&mut reader)?;
            }
            "metadata" => list.metadata = Some(reader.raw()?.into_text()),
            _other => reader.skip()?,
        }
    }
    reader.finish()?;
    Ok(list)
}

/// Whether what was read is an item at all: it says what it is, or who has said it.
fn is_item(turn: &Turn<'_>) -> Result<(), ReadError> {
    match turn.items.as_slice() {
        [Item::Opaque(Opaque { kind: None, raw })] if raw.reader().tag("role")?.is_none() => {
            Err(ReadError::new(raw.pos(), What::Missing("type")))
        }
        _others => Ok(()),
    }
}

/// A text is one message of the user.
fn input(value: Raw<'_>) -> Result<Vec<StatefulItem<'_>>, ReadError> {
    if value.kind() == Kind::String {
        let mut item = Vec::with_capacity(value.text().len() + 48);
        {
            let mut message = Object::new(&mut item);
            message.put("type", "message");
            message.put("role", "user");
            message.put("content", &value);
        }
        let item = String::from_utf8(item).unwrap_or_default();
        return Ok(vec![StatefulItem::new(None, false, item)]);
    }
    match value.source_reader() {
        Some(mut reader) => items(&mut reader),
        None => Ok(Vec::new()),
    }
}

fn items<'a>(reader: &mut Reader<'a>) -> Result<Vec<StatefulItem<'a>>, ReadError> {
    let mut found = Vec::new();
    let mut list = reader.array()?;
    while list.more(reader)? {
        found.push(item(reader)?);
    }
    Ok(found)
}

fn item<'a>(reader: &mut Reader<'a>) -> Result<StatefulItem<'a>, ReadError> {
    // The whitespace in front of it is no part of it.
    reader.peek();
    let start = reader.clone();
    let [id, kind, role] = reader.pick(["id", "type", "role"])?;
    let value = reader.raw_since(&start);
    let id = id.as_ref().and_then(|id| string(id).ok());
    // A reference may leave out its type.
    let is_reference = match kind.as_ref().and_then(|kind| string(kind).ok()) {
        Some(kind) => kind == REFERENCE,
        None => id.is_some() && role.is_none(),
    };
    Ok(StatefulItem::new(id, is_reference, value.into_text()))
}

/// The items of a document that was read or written before.
fn known_items<'a>(
    reader: &mut Reader<'a>,
    item: impl Fn(&mut Reader<'a>) -> Result<StatefulItem<'a>, ReadError>,
) -> Result<Vec<StatefulItem<'a>>, ReadError> {
    let mut found = Vec::new();
    let mut list = reader.array()?;
    while list.more(reader)? {
        found.push(item(reader)?);
    }
    Ok(found)
}

/// An item of a client's, as [`item`] reads it.
fn known_item<'a>(reader: &mut Reader<'a>) -> Result<StatefulItem<'a>, ReadError> {
    if reader.peek() != Kind::Object {
        return Ok(StatefulItem::new(None, false, known(reader)?.into_text()));
    }
    let (mut id, mut kind, mut has_role) = (None, None, false);
    let start = reader.clone();
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        let found = reader.peek();
        if key == *"id" && found == Kind::String {
            id = Some(reader.string()?.into_decoded().into_owned());
        } else if key == *"type" && found == Kind::String {
            kind = Some(reader.string()?);
        } else {
            has_role |= found != Kind::Null && key == *"role";
            reader.skip_known()?;
        }
    }
    let is_reference = match kind {
        Some(kind) => kind == *REFERENCE,
        None => id.is_some() && !has_role,
    };
    Ok(StatefulItem::new(id, is_reference, reader.raw_since(&start).into_text()))
}

/// Whether an item of a client's only names another one.
pub(super) fn is_reference(mut reader: Reader<'_>) -> Result<bool, ReadError> {
    known_item(&mut reader).map(|item| item.is_reference)
}

/// An item of an answer, as [`output_item`] reads it.
fn answered_item<'a>(reader: &mut Reader<'a>) -> Result<StatefulItem<'a>, ReadError> {
    let start = reader.clone();
    let value = known(reader)?;
    Ok(StatefulItem::new(answered_id(start)?, false, value.into_text()))
}

/// The id of the item of an answer that comes next.
fn answered_id(mut reader: Reader<'_>) -> Result<Option<String>, ReadError> {
    if reader.peek() != Kind::Object {
        return Ok(None);
    }
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        if key == *ID {
            let is_text = reader.peek() == Kind::String;
            return is_text.then(|| string_of(&mut reader)).transpose();
        }
        reader.skip_known()?;
    }
    Ok(None)
}

fn string_of(reader: &mut Reader<'_>) -> Result<String, ReadError> {
    Ok(reader.string()?.into_decoded().into_owned())
}

/// The value that comes next, in a document that was read or written before.
fn known<'a>(reader: &mut Reader<'a>) -> Result<Raw<'a>, ReadError> {
    // The whitespace in front of it is no part of it.
    reader.peek();
    let start = reader.clone();
    reader.skip_known()?;
    Ok(reader.raw_since(&start))
}

/// Where the members of an answer end that repeat its request, if the answer is
/// written as this codec does it: they are long, and what is behind them is short. It
/// may only be a guess, because any part of an answer may be kept apart from the rest.
fn echo_end(body: &str) -> Option<usize> {
    let bytes = body.as_bytes();
    let tail = bytes.len().saturating_sub(BEHIND_ECHO);
    let found = memchr::memmem::rfind(bytes.get(tail..)?, AFTER_ECHO.as_bytes())?;
    // The list before it is part of the echo with its bracket.
    Some(tail + found + 1)
}

fn boolean(value: &Raw<'_>) -> Result<Option<bool>, ReadError> {
    if value.kind() == Kind::Null {
        return Ok(None);
    }
    value.reader().boolean().map(Some)
}

fn string(value: &Raw<'_>) -> Result<String, ReadError> {
    let text = Str::read(&mut value.reader())?;
    Ok(text.into_decoded().into_owned())
}

/// The id, or an object that has it.
fn conversation_id(value: &Raw<'_>) -> Result<String, ReadError> {
    if value.kind() != Kind::Object {
        return string(value);
    }
    let [id] = value.reader().pick(["id"])?;
    let id = id.ok_or_else(|| ReadError::new(value.pos(), What::Missing("id")))?;
    string(&id)
}

pub(super) const STORE: &str = "store";

pub(super) const INPUT: &str = "input";

pub(super) const STATE: [&str; 3] = ["previous_response_id", "conversation", "background"];

/// The long members of an answer that come from its request. They are behind its
/// output, and close together.
const ECHO: [&str; 2] = [FIRST_ECHO, "tools"];

const FIRST_ECHO: &str = "instructions";

/// The end of the tools and the key behind them.
const AFTER_ECHO: &str = "],\"tool_choice\":";

/// How many bytes are usually behind them at most.
const BEHIND_ECHO: usize = 2048;

pub(super) const ID: &str = "id";

const REFERENCE: &str = "item_reference";

#[cfg(test)]
mod tests;
