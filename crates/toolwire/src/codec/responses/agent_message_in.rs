//! What one agent writes to another: wire to model.
//!
//! Codex gives a task to an agent, and gets its answer, in items of the type
//! `agent_message`. No other protocol has agents, so such an item is read as a turn of
//! the user's that says who wrote to whom.

use super::content_in;
use super::wire::{AgentMessage, SealedPart};
use crate::model::{Item, Role, Text, Turn};
use crate::wire::envelope::Envelope;
use crate::wire::{Kind, Read, ReadError, Reader, Str};

/// Reads the item.
pub(super) fn read<'a>(reader: &mut Reader<'a>) -> Result<Turn<'a>, ReadError> {
    let AgentMessage { at, kind: _, id, author, recipient, content, status, extra } =
        AgentMessage::read(reader)?;
    let mut items = Vec::new();
    if let Some(head) = head(author.as_ref(), recipient.as_ref()) {
        items.push(Item::Text(Text::new(Str::plain(head))));
    }
    items.extend(content.map(|content| content.0).unwrap_or_default());
    let mut turn = Turn::new(at, Role::User, items);
    turn.id = id;
    turn.status = status;
    turn.extra = extra;
    Ok(turn)
}

/// Who wrote to whom.
fn head(author: Option<&Str<'_>>, recipient: Option<&Str<'_>>) -> Option<String> {
    match (author.map(Str::decode), recipient.map(Str::decode)) {
        (Some(author), Some(recipient)) => {
            Some(format!("Message from {author} to {recipient}:\n\n"))
        }
        (Some(author), None) => Some(format!("Message from {author}:\n\n")),
        (None, Some(recipient)) => Some(format!("Message to {recipient}:\n\n")),
        (None, None) => None,
    }
}

/// The content of the item: text, or parts.
#[derive(Debug)]
pub(super) struct AgentContent<'a>(Vec<Item<'a>>);

impl<'a> Read<'a> for AgentContent<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() == Kind::String {
            return Ok(Self(vec![Item::Text(Text::new(reader.string()?))]));
        }
        Ok(Self(reader.list(part)?))
    }
}

/// Reads one part. What the vendor's model writes to another agent is encrypted, and what
/// any other model writes in its place is plain text. An encrypted part is kept as it
/// came, and so lost toward other protocols.
fn part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let is_sealed = reader.tag("type")?.is_some_and(|kind| kind == "encrypted_content");
    let start = reader.clone();
    if is_sealed {
        let SealedPart { at, kind: _, encrypted_content, extra } = SealedPart::read(reader)?;
        if let Some(text) = encrypted_content.filter(|text| !is_blob(&text.decode())) {
            let mut text = Text::new(text);
            text.at = at;
            text.extra = extra;
            return Ok(Item::Text(text));
        }
        *reader = start;
    }
    content_in::part(reader)
}

/// Whether a text is nothing that anybody has written: an envelope, a token of OpenAI's
/// (`gAAAA…`), or a long run of the characters of base64.
fn is_blob(text: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte);
    let is_run = text.bytes().all(is_base64);
    Envelope::is_sealed(text) || (is_run && (text.starts_with("gAAAA") || text.len() >= LONG_RUN))
}

/// A word or a path is shorter, and so is an id.
const LONG_RUN: usize = 160;
