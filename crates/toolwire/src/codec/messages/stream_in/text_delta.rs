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
    let mut reader = Reader::new(data);
    let (mut index, mut kind) = (None, None);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(&mut reader).ok()? {
        match key.decode().as_ref() {
            "type" => (reader.string().ok()? == "content_block_delta").then_some(())?,
            "index" => index = reader.nullable::<At<u64>>().ok()?,
            "delta" => kind = Some(find_in_delta(&mut reader, holes)?),
            _other => return None,
        }
    }
    Some(TextDelta { index: index.map(|index| index.value), kind: kind? })
}

fn find_in_delta(reader: &mut Reader<'_>, holes: &mut Holes<'_>) -> Option<DeltaKind> {
    let (mut named, mut held): (Option<Str<'_>>, _) = (None, None);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(reader).ok()? {
        let kind = match key.decode().as_ref() {
            "type" => {
                named = Some(reader.string().ok()?);
                continue;
            }
            "text" => DeltaKind::Text,
            "thinking" => DeltaKind::Thinking,
            "partial_json" => DeltaKind::Input,
            _other => return None,
        };
        holes.text(&reader.string().ok()?)?;
        held = Some(kind);
    }
    let kind = match named?.decode().as_ref() {
        "text_delta" => DeltaKind::Text,
        "thinking_delta" => DeltaKind::Thinking,
        "input_json_delta" => DeltaKind::Input,
        _other => return None,
    };
    (held? == kind).then_some(kind)
}
