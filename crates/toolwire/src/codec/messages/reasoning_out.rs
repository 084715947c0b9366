//! Reasoning: from the model to `thinking` and `redacted_thinking` blocks.
//!
//! Reasoning that another vendor sealed gets an envelope as its signature. The
//! client keeps it like any signature, and it goes back to its vendor.

use std::borrow::Cow;

use super::blocks_out::WrittenBlock;
use super::reasoning_in::unsealed_issuer;
use crate::ledger::{Code, Ledger};
use crate::model::{Issuer, Reasoning, Sealed};
use crate::wire::envelope::Envelope;
use crate::wire::{Object, Str};

/// Writes reasoning of the conversation so far for the vendor, who takes back
/// only what it sealed itself.
pub(super) fn write_past(
    reasoning: &Reasoning<'_>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) -> WrittenBlock {
    match vendor_loss(reasoning) {
        Some(code) => {
            ledger.dropped(reasoning.at, code);
            WrittenBlock::Nothing
        }
        None => write_block(reasoning, out, ledger),
    }
}

/// Why the vendor cannot take reasoning back, if it cannot.
fn vendor_loss(reasoning: &Reasoning<'_>) -> Option<Code> {
    let sealed = reasoning.sealed.as_ref();
    match own_seal(sealed) {
        Some((blob, _)) if blob.is_empty() || Envelope::is_sealed(&blob.decode()) => {
            Some(Code::ReasoningUnsigned)
        }
        Some(_) => None,
        None if sealed.is_some_and(|sealed| sealed.blob.is_some()) => Some(Code::ReasoningForeign),
        None => Some(Code::ReasoningUnsigned),
    }
}

/// The blob with which the vendor itself sealed reasoning, and whether it
/// withheld the text.
pub(super) fn own_seal<'s, 'a>(sealed: Option<&'s Sealed<'a>>) -> Option<(&'s Str<'a>, bool)> {
    let Sealed { issuer, item_id: _, blob, redacted } = sealed?;
    let blob = blob.as_ref().filter(|_| *issuer == Issuer::Anthropic)?;
    Some((blob, *redacted))
}

/// Writes reasoning as a block that a client can send back.
pub(super) fn write_block(
    reasoning: &Reasoning<'_>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) -> WrittenBlock {
    let Reasoning { at, summary, content, sealed, place: _, extra } = reasoning;
    let mut block = Object::new(out);
    match own_seal(sealed.as_ref()) {
        Some((blob, true)) => {
            if !(summary.is_empty() && content.is_empty()) {
                let note = ledger.dropped(*at, Code::ReasoningDisplay);
                note.detail("Reasoning that its vendor withheld has no text.");
            }
            block.put("type", "redacted_thinking");
            block.put("data", blob);
        }
        Some((blob, false)) => {
            if !content.is_empty() && !summary.is_empty() {
                let note = ledger.dropped(*at, Code::ReasoningDisplay).key("content");
                note.detail("The signature covers one text of reasoning; the summary was kept.");
            }
            block.put("type", "thinking");
            let covered = if summary.is_empty() { content } else { summary };
            block.put("thinking", &joined(covered));
            block.put("signature", blob);
        }
        None => {
            block.put("type", "thinking");
            let shown = if summary.is_empty() { content } else { summary };
            block.put("thinking", &joined(shown));
            block.put("signature", &envelope(reasoning, ledger));
        }
    }
    ledger.only(extra);
    WrittenBlock::Block
}

/// The signature with which a client keeps reasoning that the API did not seal.
pub(super) fn envelope(reasoning: &Reasoning<'_>, ledger: &mut Ledger) -> String {
    let Reasoning { at, summary, content, sealed, place: _, extra: _ } = reasoning;
    let decoded = |texts: &[Str<'_>]| texts.iter().map(|text| text.decode().into_owned()).collect();
    let signature = match sealed {
        Some(Sealed { issuer: _, item_id: _, blob: Some(blob), redacted: _ })
            if Envelope::is_sealed(&blob.decode()) =>
        {
            blob.decode().into_owned()
        }
        Some(sealed) => {
            if let Some(text) = content.first().filter(|_| summary.is_empty()) {
                // Other vendors get the text back as the block shows it.
                if sealed.issuer == Issuer::OpenAi {
                    let note = ledger.degraded(text.pos(), Code::ReasoningUnsigned);
                    note.detail("The text is shown to the client but does not come back.").info();
                }
            } else if !content.is_empty() {
                let note = ledger.dropped(*at, Code::ReasoningDisplay).key("content");
                note.detail("The target shows one text of reasoning; the summary was kept.");
            }
            Envelope::of(sealed).with_text(Some(decoded(summary))).seal()
        }
        None => {
            let text = if content.is_empty() { decoded(summary) } else { decoded(content) };
            let unsealed = Sealed::new(unsealed_issuer(), None);
            Envelope::of(&unsealed).with_text(Some(text)).seal()
        }
    };
    let note = ledger.emulated(*at, Code::ReasoningForeign);
    note.detail("The reasoning crosses with an envelope as its signature and goes back to its vendor as it was.");
    signature
}

/// The parts of reasoning as the one text that a block has.
fn joined<'s>(parts: &'s [Str<'_>]) -> Str<'s> {
    match parts {
        [] => Str::plain(""),
        [one] => one.borrowed(),
        several => {
            let texts: Vec<Cow<'_, str>> = several.iter().map(Str::decode).collect();
            Str::plain(texts.join(PART_SEPARATOR))
        }
    }
}

/// What stands between the parts of reasoning in one text.
pub(super) const PART_SEPARATOR: &str = "\n\n";
