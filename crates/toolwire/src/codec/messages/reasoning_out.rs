//! Reasoning and its seals: from the model to `thinking` and `redacted_thinking`
//! blocks, and to the envelope in which other vendors' reasoning stays with a
//! Messages client.

use std::borrow::Cow;

use super::content_out::{Pen, Wrote};
use super::reasoning_in::nobody;
use crate::ledger::Code;
use crate::model::{Issuer, Reasoning, Sealed};
use crate::wire::envelope::Envelope;
use crate::wire::{Object, Str};

/// Writes reasoning of the history for the vendor, who takes back only what it
/// sealed itself.
pub(super) fn encode_history(
    reasoning: &Reasoning<'_>,
    pen: &mut Pen<'_>,
    out: &mut Vec<u8>,
) -> Wrote {
    match loss(reasoning) {
        Some(code) => {
            pen.ledger.dropped(reasoning.at, code);
            Wrote::Nothing
        }
        None => encode(reasoning, pen, out),
    }
}

/// Why the vendor does not get reasoning of the history, if it does not.
fn loss(reasoning: &Reasoning<'_>) -> Option<Code> {
    let Reasoning { at: _, summary: _, content: _, sealed, place: _, extra: _ } = reasoning;
    match sealed {
        Some(Sealed { issuer: Issuer::Anthropic, item_id: _, blob: Some(blob), redacted: _ })
            if !(blob.is_empty() || Envelope::is_sealed(&blob.decode())) =>
        {
            None
        }
        Some(Sealed { issuer: Issuer::Anthropic, item_id: _, blob: _, redacted: _ })
        | Some(Sealed { issuer: _, item_id: _, blob: None, redacted: _ })
        | None => Some(Code::ReasoningUnsigned),
        Some(Sealed { issuer: _, item_id: _, blob: Some(_), redacted: _ }) => {
            Some(Code::ReasoningForeign)
        }
    }
}

/// Writes reasoning for a client, who must be able to hand it back.
pub(super) fn encode(reasoning: &Reasoning<'_>, pen: &mut Pen<'_>, out: &mut Vec<u8>) -> Wrote {
    let Reasoning { at, summary, content, sealed, place: _, extra } = reasoning;
    let mut block = Object::new(out);
    match sealed {
        Some(Sealed {
            issuer: Issuer::Anthropic,
            item_id: _,
            blob: Some(blob),
            redacted: true,
        }) => {
            if !(summary.is_empty() && content.is_empty()) {
                let note = pen.ledger.dropped(*at, Code::ReasoningDisplay);
                note.detail("Reasoning that its vendor withheld has no text.");
            }
            block.put("type", "redacted_thinking");
            block.put("data", blob);
            pen.ledger.only(extra);
            return Wrote::Block;
        }
        Some(Sealed {
            issuer: Issuer::Anthropic,
            item_id: _,
            blob: Some(blob),
            redacted: false,
        }) => {
            if !content.is_empty() {
                let note = pen.ledger.dropped(*at, Code::ReasoningDisplay).key("content");
                note.detail("The signature covers one text of reasoning; the summary was kept.");
            }
            block.put("type", "thinking");
            block.put("thinking", &shown(summary, &[]));
            block.put("signature", blob);
            pen.ledger.only(extra);
            return Wrote::Block;
        }
        Some(Sealed { issuer: _, item_id: _, blob: _, redacted: _ }) | None => {}
    }
    block.put("type", "thinking");
    block.put("thinking", &shown(summary, content));
    block.put("signature", &envelope(reasoning, pen));
    pen.ledger.only(extra);
    Wrote::Block
}

/// The signature by which a client keeps reasoning that the API did not seal.
pub(super) fn envelope(reasoning: &Reasoning<'_>, pen: &mut Pen<'_>) -> String {
    let Reasoning { at, summary, content, sealed, place: _, extra: _ } = reasoning;
    let own = |texts: &[Str<'_>]| texts.iter().map(|text| text.decode().into_owned()).collect();
    let signature = match sealed {
        Some(Sealed { issuer: _, item_id: _, blob: Some(blob), redacted: _ })
            if Envelope::is_sealed(&blob.decode()) =>
        {
            blob.decode().into_owned()
        }
        Some(Sealed { issuer, item_id, blob, redacted }) => {
            if !content.is_empty() && !summary.is_empty() {
                let note = pen.ledger.dropped(*at, Code::ReasoningDisplay).key("content");
                note.detail("The target shows one text of reasoning; the summary was kept.");
            }
            let envelope = Envelope {
                issuer: issuer.clone(),
                item_id: item_id.as_ref().map(|id| id.decode().into_owned()),
                text: Some(own(summary)),
                blob: blob.as_ref().map(|blob| blob.decode().into_owned()),
                redacted: *redacted,
                place: None,
            };
            envelope.seal()
        }
        None => {
            let envelope = Envelope {
                issuer: nobody(),
                item_id: None,
                text: Some(if content.is_empty() { own(summary) } else { own(content) }),
                blob: None,
                redacted: false,
                place: None,
            };
            envelope.seal()
        }
    };
    let note = pen.ledger.emulated(*at, Code::ReasoningForeign);
    note.detail("The reasoning crosses with an envelope as its signature and goes back to its vendor as it was.");
    signature
}

/// The one text that a client sees.
fn shown<'s>(summary: &'s [Str<'_>], content: &'s [Str<'_>]) -> Str<'s> {
    let parts = if summary.is_empty() { content } else { summary };
    match parts {
        [] => Str::plain(""),
        [one] => one.borrowed(),
        several => {
            let texts: Vec<Cow<'_, str>> = several.iter().map(Str::decode).collect();
            Str::plain(texts.join("\n\n"))
        }
    }
}
