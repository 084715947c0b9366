//! Reasoning items and envelopes: wire to model.

use super::turns_in::turn;
use super::wire::{ReasoningItem, ReasoningPart};
use crate::model::{Issuer, Item, Reasoning, Role, Sealed, Turn};
use crate::wire::envelope::Envelope;
use crate::wire::{Read, ReadError, Reader, Str};

/// Reads a reasoning item. `None` if it holds parts that the model has no room
/// for. The item is then kept as it came.
pub(super) fn decode<'a>(reader: &mut Reader<'a>) -> Result<Option<Turn<'a>>, ReadError> {
    let ReasoningItem { at, kind: _, id, summary, content, encrypted_content, status, extra } =
        ReasoningItem::read(reader)?;
    let (Some(summary), Some(content)) = (texts(summary), texts(content)) else {
        return Ok(None);
    };
    let mut reasoning = Reasoning { at, summary, content, sealed: None, place: None, extra };
    match encrypted_content {
        Some(blob) if Envelope::is_sealed(&blob.decode()) => unseal(&mut reasoning, blob),
        Some(blob) => {
            let mut sealed = Sealed::new(Issuer::OpenAi, Some(blob));
            sealed.item_id.clone_from(&id);
            reasoning.sealed = Some(sealed);
        }
        None => {}
    }
    Ok(Some(turn(at, Role::Assistant, Item::Reasoning(reasoning), id, status)))
}

fn texts<'a>(parts: Option<Vec<ReasoningPart<'a>>>) -> Option<Vec<Str<'a>>> {
    let part = |part| {
        let ReasoningPart { at: _, kind: _, text, extra } = part;
        text.filter(|_| extra.is_empty())
    };
    parts.unwrap_or_default().into_iter().map(part).collect()
}

/// Restores what another vendor sealed.
fn unseal<'a>(reasoning: &mut Reasoning<'a>, blob: Str<'a>) {
    let pos = blob.pos();
    let Some(mut envelope) = Envelope::open(&blob.decode()) else {
        // It was damaged on the way, so no vendor can read it.
        reasoning.sealed = Some(Sealed::new(Issuer::Vendor(String::new()), Some(blob)));
        return;
    };
    if let Some(text) = envelope.text.take() {
        reasoning.summary = text.into_iter().map(|text| Str::plain(text).at(pos)).collect();
        if reasoning.content == reasoning.summary {
            reasoning.content.clear();
        }
    }
    reasoning.place = envelope.place;
    reasoning.sealed = Some(envelope.into_sealed());
}
