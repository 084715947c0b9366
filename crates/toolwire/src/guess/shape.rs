//! Shapes that only one protocol has: in its messages, its tools and its choice.

use crate::model::Protocol;
use crate::wire::{Kind, ReadError, Reader, Str};

/// The protocol of a list of messages, by the first one that tells.
pub(super) fn turns(reader: &mut Reader<'_>) -> Result<Option<Protocol>, ReadError> {
    let mut found = None;
    let mut first = true;
    let mut members = reader.array()?;
    while members.more(reader)? {
        if found.is_some() || reader.peek() != Kind::Object {
            reader.skip()?;
        } else {
            found = turn(reader, first)?;
        }
        first = false;
    }
    Ok(found)
}

fn turn(reader: &mut Reader<'_>, first: bool) -> Result<Option<Protocol>, ReadError> {
    let mut found = None;
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        match (key.decode().as_ref(), reader.peek()) {
            ("role", Kind::String) => match reader.string()?.decode().as_ref() {
                "developer" | "tool" | "function" => found = Some(Protocol::Chat),
                // Messages takes system turns too, but never before a user's.
                "system" if first => found = Some(Protocol::Chat),
                _ => {}
            },
            ("content", Kind::Array) => found = found.or(each(reader, part)?),
            ("tool_calls" | "tool_call_id" | "function_call", _) => {
                found = Some(Protocol::Chat);
                reader.skip()?;
            }
            (_, _) => reader.skip()?,
        }
    }
    Ok(found)
}

fn part(reader: &mut Reader<'_>) -> Result<Option<Protocol>, ReadError> {
    let found = reader.tag("type")?.and_then(|kind| match kind.decode().as_ref() {
        "image_url" | "input_audio" | "file" | "refusal" => Some(Protocol::Chat),
        "image" | "document" | "tool_use" | "tool_result" | "thinking" | "redacted_thinking"
        | "search_result" | "server_tool_use" => Some(Protocol::Messages),
        _ => None,
    });
    reader.skip()?;
    Ok(found)
}

/// The protocol of a list of tool definitions, by the first one that tells.
pub(super) fn tools(reader: &mut Reader<'_>) -> Result<Option<Protocol>, ReadError> {
    let mut flat = false;
    let mut found = None;
    let mut members = reader.array()?;
    while members.more(reader)? {
        if found.is_some() || reader.peek() != Kind::Object {
            reader.skip()?;
            continue;
        }
        match tool(reader)? {
            // Any protocol's vendor may have flat kinds of its own, so another
            // tool may know better. vectors/tools/chat-unknown
            Shape::Flat => flat = true,
            Shape::Of(protocol) => found = Some(protocol),
            Shape::Unknown => {}
        }
    }
    Ok(found.or(flat.then_some(Protocol::Responses)))
}

/// What the shape of a tool definition tells.
enum Shape {
    /// Only this protocol has it.
    Of(Protocol),
    /// A kind and its options side by side, as Responses has most tools.
    Flat,
    Unknown,
}

fn tool(reader: &mut Reader<'_>) -> Result<Shape, ReadError> {
    let mut kind = None;
    let mut nested = false;
    let mut schema = false;
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        match (key.decode().as_ref(), reader.peek()) {
            ("type", Kind::String) => {
                kind = Some(reader.string()?);
                continue;
            }
            ("function" | "custom", Kind::Object) => nested = true,
            ("input_schema", _) => schema = true,
            (_, _) => {}
        }
        reader.skip()?;
    }
    if nested {
        return Ok(Shape::Of(Protocol::Chat));
    }
    if schema {
        return Ok(Shape::Of(Protocol::Messages));
    }
    Ok(match kind.as_ref().map(Str::decode).as_deref() {
        Some(kind) if is_versioned(kind) => Shape::Of(Protocol::Messages),
        Some("function" | "custom") => Shape::Of(Protocol::Responses),
        Some(_) => Shape::Flat,
        None => Shape::Unknown,
    })
}

/// Whether a tool kind is spelled as Messages spells those of its own making,
/// with a date at the end: `bash_20250124`.
fn is_versioned(kind: &str) -> bool {
    let date = kind.rsplit_once('_').map(|(_, date)| date);
    kind == "mcp_toolset"
        || date.is_some_and(|date| date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()))
}

/// The protocol of a choice, given that it is that of Chat or Messages.
pub(super) fn choice(reader: &mut Reader<'_>) -> Result<Option<Protocol>, ReadError> {
    let found = match reader.tag("type")?.as_ref().map(Str::decode).as_deref() {
        Some("auto" | "any" | "tool" | "none") => Some(Protocol::Messages),
        Some("function" | "custom" | "allowed_tools") => Some(Protocol::Chat),
        Some(_) => None,
        None => (reader.peek() == Kind::String).then_some(Protocol::Chat),
    };
    reader.skip()?;
    Ok(found)
}

/// Asks every element of an array until one tells.
fn each(
    reader: &mut Reader<'_>,
    ask: fn(&mut Reader<'_>) -> Result<Option<Protocol>, ReadError>,
) -> Result<Option<Protocol>, ReadError> {
    let mut found = None;
    let mut members = reader.array()?;
    while members.more(reader)? {
        if found.is_some() {
            reader.skip()?;
        } else {
            found = ask(reader)?;
        }
    }
    Ok(found)
}
