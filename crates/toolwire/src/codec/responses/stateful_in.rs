//! What a server that remembers reads in requests and answers.

use crate::stateful::{StatefulAnswer, StatefulItem, StatefulItems, StatefulRequest};
use crate::wire::{Extra, Kind, Object, Raw, Read, ReadError, Reader, Str, What};

/// Reads a request.
pub(super) fn request(mut reader: Reader<'_>) -> Result<StatefulRequest<'_>, ReadError> {
    let mut request = StatefulRequest::default();
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        if key == *"input" && reader.peek() == Kind::Array {
            request.input = items(&mut reader)?;
            continue;
        }
        let value = reader.raw()?;
        let is_set = value.kind() != Kind::Null;
        match key.decode().as_ref() {
            STORE => request.store = boolean(&value)?,
            "background" => request.background = boolean(&value)?.unwrap_or_default(),
            "previous_response_id" if is_set => request.previous = Some(string(&value)?),
            "conversation" if is_set => request.conversation = Some(conversation_id(&value)?),
            "input" if is_set => request.input = input(value)?,
            name if name == "input" || STATE.contains(&name) => {}
            _other => request.others.push(Extra { key, value }),
        }
    }
    reader.finish()?;
    Ok(request)
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
            "output" => answer.output = known_items(&mut reader)?,
            name if ECHO.contains(&name) => {
                let start = reader.here().offset();
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

/// Reads an object with `items` and `metadata`.
pub(super) fn list(body: &str) -> Result<StatefulItems<'_>, ReadError> {
    let mut list = StatefulItems::default();
    let mut reader = Reader::new(body);
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        match key.decode().as_ref() {
            "items" if reader.peek() != Kind::Null => list.items = items(&mut reader)?,
            "metadata" if reader.peek() == Kind::Object => {
                list.metadata = Some(reader.raw()?.into_text());
            }
            _other => reader.skip()?,
        }
    }
    reader.finish()?;
    Ok(list)
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

/// The items of a document that was read or written before. They refer to nothing.
fn known_items<'a>(reader: &mut Reader<'a>) -> Result<Vec<StatefulItem<'a>>, ReadError> {
    let mut found = Vec::new();
    let mut list = reader.array()?;
    while list.more(reader)? {
        reader.peek();
        let mut start = reader.clone();
        reader.skip_known()?;
        let value = reader.raw_since(&start);
        let id = if value.kind() == Kind::Object { id_of(&mut start)? } else { None };
        found.push(StatefulItem::new(id, false, value.into_text()));
    }
    Ok(found)
}

/// The id of the item that comes next, of which nothing behind the id is read.
fn id_of(reader: &mut Reader<'_>) -> Result<Option<String>, ReadError> {
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        if key == *"id" {
            let is_string = reader.peek() == Kind::String;
            return is_string.then(|| Ok(reader.string()?.into_decoded().into_owned())).transpose();
        }
        reader.skip_known()?;
    }
    Ok(None)
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

pub(super) const STATE: [&str; 3] = ["previous_response_id", "conversation", "background"];

/// The long members of an answer that come from its request. They are behind its
/// output, and close together.
const ECHO: [&str; 2] = ["instructions", "tools"];

pub(super) const REFERENCE: &str = "item_reference";
