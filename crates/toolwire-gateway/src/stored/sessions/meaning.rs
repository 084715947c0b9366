//! What a message says, however it is spelled.

use std::hash::{DefaultHasher, Hash, Hasher};

use toolwire::wire::{Kind, ReadError, Reader};

/// A digest of what a message says. Two messages have the same one if they differ
/// only in the order of members, white space, escapes, members that are null,
/// marks for a cache, and whether a text is a string or a list with one text.
pub(super) fn meaning(message: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(message).ok()?;
    value(&mut Reader::new(text)).ok()
}

fn value(reader: &mut Reader<'_>) -> Result<u64, ReadError> {
    match reader.peek() {
        Kind::Object => object(reader),
        Kind::Array => {
            let mut values = Vec::new();
            let mut elements = reader.array()?;
            while elements.more(reader)? {
                values.push(value(reader)?);
            }
            Ok(digest(&("list", values)))
        }
        Kind::String => Ok(string(&reader.string()?.decode())),
        Kind::Null | Kind::Bool | Kind::Number | Kind::Invalid | Kind::End => {
            Ok(digest(&("literal", reader.raw()?.text())))
        }
    }
}

fn object(reader: &mut Reader<'_>) -> Result<u64, ReadError> {
    let mut found = Vec::new();
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        let name = key.decode();
        let kind = reader.peek();
        if kind == Kind::Null || name == CACHE_MARK {
            reader.skip()?;
            continue;
        }
        let said = match kind == Kind::String && name == CONTENT {
            true => text_list(&reader.string()?.decode()),
            false => value(reader)?,
        };
        found.push(member(&name, said));
    }
    Ok(in_any_order(found))
}

/// A text as the list of parts that it stands for.
fn text_list(text: &str) -> u64 {
    let part = vec![member("type", string("text")), member("text", string(text))];
    digest(&("list", vec![in_any_order(part)]))
}

fn in_any_order(mut members: Vec<u64>) -> u64 {
    members.sort_unstable();
    digest(&("object", members))
}

fn member(name: &str, value: u64) -> u64 {
    digest(&(name, value))
}

fn string(text: &str) -> u64 {
    digest(&("string", text))
}

/// It need not withstand anybody: whoever makes two messages look alike is told
/// that a session has them.
fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The member of messages and results that is a text or a list of parts.
const CONTENT: &str = "content";

/// The member that says where a vendor's cache ends, which moves from request to
/// request.
const CACHE_MARK: &str = "cache_control";
