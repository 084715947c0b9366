//! Reasoning and its seals: `thinking` and `redacted_thinking` blocks, and the
//! envelope by which other vendors' reasoning stays with a Messages client.

use std::borrow::Cow;

use super::content_out::{Pen, Wrote};
use super::wire::{RedactedThinking, ThinkingBlock};
use crate::ledger::Code;
use crate::model::{Issuer, Own, Reasoning, Sealed};
use crate::wire::envelope::Envelope;
use crate::wire::{Object, Str};

pub(super) fn thinking(block: ThinkingBlock<'_>) -> Reasoning<'_> {
    let ThinkingBlock { at, kind: _, thinking, signature, extra } = block;
    let summary: Vec<Str<'_>> = thinking.into_iter().collect();
    let mut reasoning =
        Reasoning { at, summary, content: Vec::new(), sealed: None, place: None, extra };
    let Some(signature) = signature.filter(|signature| !signature.is_empty()) else {
        return reasoning;
    };
    let text = signature.decode();
    if !Envelope::is_sealed(&text) {
        drop(text);
        reasoning.sealed = Some(sealed_by(Issuer::Anthropic, signature));
        return reasoning;
    }
    match Envelope::open(&text) {
        Some(envelope) => opened(&mut reasoning, envelope),
        // A damaged envelope is nobody's: it goes back to the client as it is.
        None => {
            drop(text);
            reasoning.sealed = Some(sealed_by(Issuer::Vendor(UNKNOWN.to_owned()), signature));
        }
    }
    reasoning
}

/// What a signature that came after its text says.
pub(super) fn sealed(signature: &Str<'_>) -> Option<Sealed<'static>> {
    let at = signature.pos();
    let block = ThinkingBlock {
        at,
        kind: None,
        thinking: None,
        signature: Some(signature.borrowed()),
        extra: Vec::new(),
    };
    thinking(block).sealed.into_owned()
}

pub(super) fn redacted(block: RedactedThinking<'_>) -> Reasoning<'_> {
    let RedactedThinking { at, kind: _, data, extra } = block;
    let sealed = Sealed { issuer: Issuer::Anthropic, item_id: None, blob: data, redacted: true };
    Reasoning {
        at,
        summary: Vec::new(),
        content: Vec::new(),
        sealed: Some(sealed),
        place: None,
        extra,
    }
}

fn sealed_by(issuer: Issuer, blob: Str<'_>) -> Sealed<'_> {
    Sealed { issuer, item_id: None, blob: Some(blob), redacted: false }
}

fn opened(reasoning: &mut Reasoning<'_>, envelope: Envelope) {
    let Envelope { issuer, item_id, text, blob, redacted, place } = envelope;
    let shown = text.map(|parts| parts.into_iter().map(Str::from).collect::<Vec<_>>());
    reasoning.place = place;
    if issuer == nobody() {
        reasoning.content = shown.unwrap_or_else(|| std::mem::take(&mut reasoning.summary));
        reasoning.summary = Vec::new();
        return;
    }
    if let Some(shown) = shown {
        reasoning.summary = shown;
    }
    reasoning.sealed = Some(Sealed {
        issuer,
        item_id: item_id.map(Str::from),
        blob: blob.map(Str::from),
        redacted,
    });
}

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

/// The issuer of reasoning that nobody sealed.
fn nobody() -> Issuer {
    Issuer::Vendor("none".to_owned())
}

const UNKNOWN: &str = "unknown";
