//! Events in which nothing is new but one text.

use crate::wire::stencil::Holes;
use crate::wire::{At, Reader, Str};

/// What the text of an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grows {
    /// The vendor's index of the block.
    pub(super) index: Option<u64>,
    pub(super) kind: Growth,
}

/// What a block grows by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    Text,
    Thinking,
    Input,
}

/// Looks for the text of an event that has been read.
pub(super) fn find(data: &str, holes: &mut Holes<'_>) -> Option<Grows> {
    let mut reader = Reader::new(data);
    let (mut index, mut kind) = (None, None);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(&mut reader).ok()? {
        match key.decode().as_ref() {
            "type" => (reader.string().ok()? == "content_block_delta").then_some(())?,
            "index" => index = reader.nullable::<At<u64>>().ok()?,
            "delta" => kind = Some(delta(&mut reader, holes)?),
            _reported => return None,
        }
    }
    Some(Grows { index: index.map(|index| index.value), kind: kind? })
}

fn delta(reader: &mut Reader<'_>, holes: &mut Holes<'_>) -> Option<Growth> {
    let (mut named, mut held): (Option<Str<'_>>, _) = (None, None);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(reader).ok()? {
        let growth = match key.decode().as_ref() {
            "type" => {
                named = Some(reader.string().ok()?);
                continue;
            }
            "text" => Growth::Text,
            "thinking" => Growth::Thinking,
            "partial_json" => Growth::Input,
            _other => return None,
        };
        holes.text(&reader.string().ok()?)?;
        held = Some(growth);
    }
    let kind = match named?.decode().as_ref() {
        "text_delta" => Growth::Text,
        "thinking_delta" => Growth::Thinking,
        "input_json_delta" => Growth::Input,
        _other => return None,
    };
    (held? == kind).then_some(kind)
}
