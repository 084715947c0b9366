//! Reasoning: from `thinking` and `redacted_thinking` blocks into the model.

use super::wire::{RedactedThinking, ThinkingBlock};
use crate::model::{Issuer, Own, Reasoning, Sealed};
use crate::wire::envelope::Envelope;
use crate::wire::{Pos, Str};

/// Reads a `thinking` block.
pub(super) fn thinking(block: ThinkingBlock<'_>) -> Reasoning<'_> {
    let ThinkingBlock { at, kind: _, thinking, signature, extra } = block;
    let mut reasoning = Reasoning::new(at);
    reasoning.summary.extend(thinking);
    reasoning.extra = extra;
    let Some(signature) = signature.filter(|signature| !signature.is_empty()) else {
        return reasoning;
    };
    let text = signature.decode();
    if !Envelope::is_sealed(&text) {
        drop(text);
        reasoning.sealed = Some(Sealed::new(Issuer::Anthropic, Some(signature)));
        return reasoning;
    }
    match Envelope::open(&text) {
        Some(envelope) => restore(&mut reasoning, envelope),
        // No vendor takes a damaged envelope, so it is kept as it is.
        None => {
            drop(text);
            reasoning.sealed =
                Some(Sealed::new(Issuer::Vendor(UNKNOWN_ISSUER.to_owned()), Some(signature)));
        }
    }
    reasoning
}

/// The seal in a signature that came after its text.
pub(super) fn sealed(signature: &Str<'_>) -> Option<Sealed<'static>> {
    let signature = Some(signature.borrowed());
    let (at, extra) = (Pos::START, Vec::new());
    thinking(ThinkingBlock { at, kind: None, thinking: None, signature, extra }).sealed.into_owned()
}

/// Reads a `redacted_thinking` block.
pub(super) fn redacted(block: RedactedThinking<'_>) -> Reasoning<'_> {
    let RedactedThinking { at, kind: _, data, extra } = block;
    let sealed = Sealed { issuer: Issuer::Anthropic, item_id: None, blob: data, redacted: true };
    let mut reasoning = Reasoning::new(at);
    reasoning.sealed = Some(sealed);
    reasoning.extra = extra;
    reasoning
}

/// Restores the reasoning that an envelope holds.
fn restore(reasoning: &mut Reasoning<'_>, mut envelope: Envelope) {
    let texts = envelope.text.take();
    let texts = texts.map(|parts| parts.into_iter().map(Str::from).collect::<Vec<_>>());
    reasoning.place = envelope.place;
    if envelope.issuer == unsealed_issuer() {
        reasoning.content = texts.unwrap_or_else(|| std::mem::take(&mut reasoning.summary));
        reasoning.summary = Vec::new();
        return;
    }
    match texts {
        // There was no summary, so what the block shows is the reasoning itself.
        Some(texts) if texts.is_empty() => {
            reasoning.content = std::mem::take(&mut reasoning.summary);
            reasoning.content.retain(|text| !text.is_empty());
        }
        Some(texts) => reasoning.summary = texts,
        None => {}
    }
    reasoning.sealed = Some(envelope.into_sealed());
}

/// What an envelope names as the issuer of reasoning that no vendor sealed.
pub(super) fn unsealed_issuer() -> Issuer {
    Issuer::Vendor("none".to_owned())
}

const UNKNOWN_ISSUER: &str = "unknown";
