//! Events that only add text.

use super::item_events::ItemEvent;
use super::items::ItemKey;
use crate::wire::stencil::Holes;
use crate::wire::{At, Kind, Reader, Str};

/// Where the text of such an event belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemTextDelta {
    pub(super) event: ItemEvent,
    /// The item it is added to.
    pub(super) item: usize,
    /// Which of its texts, by the vendor's number.
    pub(super) number: Option<u64>,
}

/// Where the text of an event belongs, in the words of the event.
pub(super) struct DeltaPlace<'d> {
    pub(super) event: ItemEvent,
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
    let (mut event, mut id) = (None, None);
    let (mut output, mut content, mut summary) = (None, None, None);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(&mut reader).ok()? {
        match key.decode().as_ref() {
            "type" => event = Some(event_of(&reader.string().ok()?)?),
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
    let event = event?;
    let number = if let ItemEvent::Summary = event { summary } else { content };
    let value = |at: Option<At<u64>>| at.map(|at| at.value);
    Some(DeltaPlace { event, number: value(number), id, output: value(output) })
}

fn event_of(kind: &Str<'_>) -> Option<ItemEvent> {
    match kind.decode().as_ref() {
        "response.output_text.delta" => Some(ItemEvent::Text),
        "response.refusal.delta" => Some(ItemEvent::Refusal),
        "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
            Some(ItemEvent::Arguments)
        }
        "response.reasoning_summary_text.delta" => Some(ItemEvent::Summary),
        "response.reasoning_text.delta" | "response.reasoning.delta" => Some(ItemEvent::Reasoning),
        _other => None,
    }
}
