//! Reasoning items and envelopes: model to wire.

use crate::ledger::{Code, Ledger};
use crate::model::{Issuer, Reasoning, Sealed};
use crate::wire::envelope::Envelope;
use crate::wire::{Array, Object, Str};

/// Writes reasoning of the history for an upstream, which only accepts what it
/// sealed itself.
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
        Some(sealed) => {
            // A signature covers the text, wherever a vendor in between has put it.
            // vectors/streams/chat-litellm-repeated-thinking
            let is_signed = sealed.issuer == Issuer::Anthropic;
            let covered = if summary.is_empty() && is_signed { content } else { summary };
            let texts = || covered.iter().map(|text| text.decode().into_owned()).collect();
            let text = (!covered.is_empty()).then(texts);
            let envelope = Envelope::of(sealed).with_text(text).with_place(*place);
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
