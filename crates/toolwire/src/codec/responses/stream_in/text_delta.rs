//! Events that only add text.

use super::item_events::TextKind;
use super::items::{ItemKey, ReasoningText};
use crate::wire::stencil::Holes;
use crate::wire::{At, Kind, Reader, Str};

/// Where the text of such an event belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemTextDelta {
    pub(super) kind: TextKind,
    /// The item it is added to.
    pub(super) item: usize,
    /// Which of its texts, by the vendor's number.
    pub(super) number: Option<u64>,
}

/// Where the text of an event belongs, in the words of the event.
pub(super) struct DeltaPlace<'d> {
    pub(super) kind: TextKind,
    pub(super) number: Option<u64>,
    id: Option<Str<'d>>,
    output: Option<u64>,
}

impl DeltaPlace<'_> {
    pub(super) fn key(&self) -> ItemKey<'_> {
        ItemKey { id: self.id.as_ref(), place: self.output }
    }
}

/// Finds the text of an event that has been read.
pub(super) fn find<'d>(data: &'d str, holes: &mut Holes<'_>) -> Option<DeltaPlace<'d>> {
    let mut reader = Reader::new(data);
    let (mut kind, mut id) = (None, None);
    let (mut output, mut content, mut summary) = (None, None, None);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(&mut reader).ok()? {
        match key.decode().as_ref() {
            "type" => kind = Some(kind_of(&reader.string().ok()?)?),
            "sequence_number" if reader.peek() == Kind::Number => {
                holes.number(&reader.number().ok()?)?;
            }
            "item_id" => id = reader.nullable().ok()?,
            "output_index" => output = reader.nullable::<At<u64>>().ok()?,
            "content_index" => content = reader.nullable::<At<u64>>().ok()?,
            "summary_index" => summary = reader.nullable::<At<u64>>().ok()?,
            "delta" => holes.text(&reader.string().ok()?)?,
            "logprobs" => reader.raw().ok()?.is_empty().then_some(())?,
            "obfuscation" if reader.peek() == Kind::String => {
                holes.padding(&reader.string().ok()?)?;
            }
            _other => return None,
        }
    }
    let kind = kind?;
    let is_summary = kind == TextKind::Reasoning(ReasoningText::Summary);
    let number = if is_summary { summary } else { content };
    let value = |at: Option<At<u64>>| at.map(|at| at.value);
    Some(DeltaPlace { kind, number: value(number), id, output: value(output) })
}

fn kind_of(event: &Str<'_>) -> Option<TextKind> {
    TextKind::of_event(event.decode().strip_suffix(".delta")?)
}
