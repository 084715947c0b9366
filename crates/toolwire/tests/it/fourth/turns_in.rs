//! The conversation: from the protocol into the model.

use toolwire::model::{Item, ResultKind, Role, Slot, ToolResult, Turn};
use toolwire::wire::{Extra, Raw, Read, ReadError, Str};

use super::content_in;
use super::wire::Entry;

/// Reads `charter`.
pub(super) fn charter(says: Raw<'_>) -> Result<Turn<'_>, ReadError> {
    let at = says.pos();
    let mut turn = Turn::new(at, Role::System, content_in::decode(says)?);
    turn.slot = Slot::Top;
    Ok(turn)
}

/// Reads one entry of `dialogue`.
pub(super) fn decode(entry: Entry<'_>) -> Result<Turn<'_>, ReadError> {
    let Entry { at, by, says, reference, gave, failed, mut extra } = entry;
    let by = by.ok_or_else(|| ReadError::missing(at, "by"))?;
    let role = match by.decode().as_ref() {
        "human" => Role::User,
        "machine" => Role::Assistant,
        "guide" => Role::System,
        "tool" => {
            extra.extend(kept("says", says));
            let result = ToolResult {
                at,
                call_id: reference.as_ref().map(read).transpose()?,
                name: None,
                namespace: None,
                kind: ResultKind::Function,
                content: gave.map(content_in::decode).transpose()?.unwrap_or_default(),
                is_error: failed.as_ref().map(read).transpose()?,
                cache: None,
                extra,
            };
            return Ok(Turn::new(at, Role::User, vec![Item::Result(result)]));
        }
        _other => Role::Other(by.clone()),
    };
    let items = says.map(content_in::decode).transpose()?.unwrap_or_default();
    // Members that only an entry of a tool has mean nothing here.
    extra.extend(kept("ref", reference));
    extra.extend(kept("gave", gave));
    extra.extend(kept("failed", failed));
    let mut turn = Turn::new(at, role, items);
    turn.extra = extra;
    Ok(turn)
}

fn read<'a, T: Read<'a>>(raw: &Raw<'a>) -> Result<T, ReadError> {
    let reader = raw.source_reader();
    let mut reader = reader.ok_or_else(|| ReadError::missing(raw.pos(), "by"))?;
    T::read(&mut reader)
}

fn kept<'a>(key: &'static str, value: Option<Raw<'a>>) -> Option<Extra<'a>> {
    value.map(|value| Extra { key: Str::plain(key), value })
}
