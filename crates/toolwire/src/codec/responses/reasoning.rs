//! Reasoning items, both directions, and the envelope of another vendor's.

use super::turns_in::turn;
use super::wire::{ReasoningItem, ReasoningPart};
use crate::ledger::{Code, Ledger};
use crate::model::{Issuer, Item, Reasoning, Role, Sealed, Turn};
use crate::wire::envelope::Envelope;
use crate::wire::{Array, Object, Read, ReadError, Reader, Str};

/// Reads a reasoning item. `None` if it holds parts that the model has no room
/// for; the item then stays as it came.
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
            reasoning.sealed = Some(Sealed {
                issuer: Issuer::OpenAi,
                item_id: id.clone(),
                blob: Some(blob),
                redacted: false,
            });
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

/// Restores what another vendor had sealed.
fn unseal<'a>(reasoning: &mut Reasoning<'a>, blob: Str<'a>) {
    let pos = blob.pos();
    let Some(envelope) = Envelope::open(&blob.decode()) else {
        // Damaged on the way: nobody can read it, so nobody's it stays.
        reasoning.sealed = Some(Sealed {
            issuer: Issuer::Vendor(String::new()),
            item_id: None,
            blob: Some(blob),
            redacted: false,
        });
        return;
    };
    let Envelope { issuer, item_id, text, blob, redacted, place } = envelope;
    if let Some(text) = text {
        reasoning.summary = text.into_iter().map(|text| Str::plain(text).at(pos)).collect();
    }
    reasoning.place = place;
    reasoning.sealed = Some(Sealed {
        issuer,
        item_id: item_id.map(|id| Str::plain(id).at(pos)),
        blob: blob.map(|blob| Str::plain(blob).at(pos)),
        redacted,
    });
}

/// Writes reasoning of the history for an upstream, which only takes back what
/// it sealed itself.
pub(super) fn write_history(reasoning: &Reasoning<'_>, items: &mut Array<'_>, ledger: &mut Ledger) {
    let Reasoning { at, summary, content: _, sealed, place: _, extra } = reasoning;
    let Some(Sealed { issuer: Issuer::OpenAi, item_id, blob: Some(blob), redacted: _ }) = sealed
    else {
        let bound = sealed.as_ref().is_some_and(|sealed| sealed.blob.is_some());
        let code = if bound { Code::ReasoningForeign } else { Code::ReasoningUnsigned };
        ledger.dropped(*at, code);
        return;
    };
    let mut item = items.object();
    item.put("type", "reasoning");
    item.maybe("id", item_id.as_ref());
    write_texts("summary", "summary_text", summary.iter(), &mut item);
    item.put("encrypted_content", blob);
    ledger.only(extra);
}

/// Writes reasoning of an answer for a client. What another vendor sealed goes
/// into an envelope, which the client returns with the conversation.
pub(super) fn write_item(
    reasoning: &Reasoning<'_>,
    id: &Str<'_>,
    items: &mut Array<'_>,
    ledger: &mut Ledger,
) {
    let Reasoning { at: _, summary, content, sealed, place, extra } = reasoning;
    let mut item = items.object();
    item.put("type", "reasoning");
    item.put("id", id);
    let shown = summary.iter().filter(|text| !text.is_empty());
    write_texts("summary", "summary_text", shown, &mut item);
    if !content.is_empty() {
        write_texts("content", "reasoning_text", content.iter(), &mut item);
    }
    match sealed {
        Some(Sealed { issuer: Issuer::OpenAi, item_id: _, blob, redacted: _ }) => {
            item.maybe("encrypted_content", blob.as_ref());
        }
        Some(Sealed { issuer, item_id, blob, redacted }) => {
            let own = |text: &Str<'_>| text.decode().into_owned();
            let envelope = Envelope {
                issuer: issuer.clone(),
                item_id: item_id.as_ref().map(own),
                text: Some(summary.iter().map(own).collect()).filter(|_| !summary.is_empty()),
                blob: blob.as_ref().map(own),
                redacted: *redacted,
                place: *place,
            };
            item.put("encrypted_content", &envelope.seal());
        }
        None => {}
    }
    ledger.only(extra);
}

fn write_texts<'t>(
    key: &str,
    kind: &str,
    texts: impl Iterator<Item = &'t Str<'t>>,
    item: &mut Object<'_>,
) {
    let mut parts = item.array(key);
    for text in texts {
        let mut part = parts.object();
        part.put("type", kind);
        part.put("text", text);
    }
}
