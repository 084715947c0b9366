//! Deltas that carry one text and nothing else.
//!
//! Most events of a stream repeat the one before except for their text, so they
//! need not be parsed in full.

use crate::wire::stencil::Holes;
use crate::wire::{At, Reader, Str};

/// Which block the text of an event belongs to, and as what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextDelta {
    /// The vendor's index of the block.
    pub(super) index: Option<u64>,
    pub(super) kind: DeltaKind,
}

/// What a delta adds to its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeltaKind {
    Text,
    Thinking,
    Input,
}

/// Finds the text of an event, if the event is such a delta.
pub(super) fn find(data: &str, holes: &mut Holes<'_>) -> Option<TextDelta> {
    let (delta, text) = read(data)?;
    holes.text(&text)?;
    Some(delta)
}

/// Reads an event, if it is such a delta. Any other, and one that is at fault, is left
/// to whoever reads all events.
pub(super) fn read(data: &str) -> Option<(TextDelta, Str<'_>)> {
    let mut reader = Reader::new(data);
    let (mut named, mut index, mut delta) = (None, None, None);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(&mut reader).ok()? {
        let is_repeated = match key.decode().as_ref() {
            "type" => named.replace(reader.string().ok()?).is_some(),
            "index" => index.replace(reader.nullable::<At<u64>>().ok()?).is_some(),
            "delta" => delta.replace(read_delta(&mut reader)?).is_some(),
            _other => return None,
        };
        if is_repeated {
            return None;
        }
    }
    reader.finish().ok()?;
    if named? != "content_block_delta" {
        return None;
    }
    let (kind, text) = delta?;
    Some((TextDelta { index: index.flatten().map(|index| index.value), kind }, text))
}

fn read_delta<'a>(reader: &mut Reader<'a>) -> Option<(DeltaKind, Str<'a>)> {
    let (mut named, mut held) = (None, None);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(reader).ok()? {
        let kind = match key.decode().as_ref() {
            "type" if named.is_none() => {
                named = Some(reader.string().ok()?);
                continue;
            }
            "text" => DeltaKind::Text,
            "thinking" => DeltaKind::Thinking,
            "partial_json" => DeltaKind::Input,
            _other => return None,
        };
        if held.replace((kind, reader.string().ok()?)).is_some() {
            return None;
        }
    }
    let kind = match named?.decode().as_ref() {
        "text_delta" => DeltaKind::Text,
        "thinking_delta" => DeltaKind::Thinking,
        "input_json_delta" => DeltaKind::Input,
        _other => return None,
    };
    held.filter(|(held, _)| *held == kind)
}
