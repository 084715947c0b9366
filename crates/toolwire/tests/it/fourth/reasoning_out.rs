//! Reasoning and its seals: from the model to the protocol.

use toolwire::model::{Reasoning, Sealed};
use toolwire::wire::envelope::Envelope;
use toolwire::wire::{Array, Str};
use toolwire::{Code, Ledger};

use super::reasoning_in::own_issuer;

/// Writes reasoning of the conversation. The vendor takes back what it sealed
/// and what nobody sealed.
pub(super) fn encode_history(
    reasoning: &Reasoning<'_>,
    pieces: &mut Array<'_>,
    ledger: &mut Ledger,
) {
    let foreign = |sealed: &Sealed<'_>| sealed.issuer != own_issuer();
    if reasoning.sealed.as_ref().is_some_and(foreign) {
        ledger.dropped(reasoning.at, Code::ReasoningForeign);
        return;
    }
    encode(reasoning, pieces, ledger);
}

/// Writes reasoning for a client, who must be able to hand it back.
pub(super) fn encode(reasoning: &Reasoning<'_>, pieces: &mut Array<'_>, ledger: &mut Ledger) {
    let Reasoning { at: _, summary, content, sealed, place, extra } = reasoning;
    let mut piece = pieces.object();
    piece.put("think", content);
    if !summary.is_empty() {
        piece.put("gist", summary);
    }
    if let Some(sealed) = sealed {
        piece.put("seal", &seal(sealed, *place));
    }
    ledger.only(extra);
}

/// The seal as a client keeps it: the vendor's own, or an envelope.
pub(super) fn seal<'s>(sealed: &'s Sealed<'_>, place: Option<u64>) -> Str<'s> {
    let Sealed { issuer, item_id: _, blob, redacted: _ } = sealed;
    match blob {
        Some(blob) if *issuer == own_issuer() || Envelope::is_sealed(&blob.decode()) => {
            blob.borrowed()
        }
        Some(_) | None => Str::plain(Envelope::of(sealed).with_place(place).seal()),
    }
}
