//! Reasoning and its seals: from the protocol into the model.

use toolwire::model::{Issuer, Reasoning, Sealed};
use toolwire::wire::envelope::Envelope;
use toolwire::wire::{Extra, Pos, Str};

use super::description::VENDOR_NAME;

/// Reads a piece of reasoning.
pub(super) fn decode<'a>(
    at: Pos,
    think: Option<Vec<Str<'a>>>,
    gist: Option<Vec<Str<'a>>>,
    seal: Option<Str<'a>>,
    extra: Vec<Extra<'a>>,
) -> Reasoning<'a> {
    let (sealed, place) = match seal {
        Some(seal) => decode_seal(seal),
        None => (None, None),
    };
    let (summary, content) = (gist.unwrap_or_default(), think.unwrap_or_default());
    Reasoning { at, summary, content, sealed, place, extra }
}

/// Reads a seal: the vendor's own, or the envelope around another vendor's.
pub(super) fn decode_seal(seal: Str<'_>) -> (Option<Sealed<'_>>, Option<u64>) {
    let text = seal.decode();
    let envelope = Envelope::is_sealed(&text).then(|| Envelope::open(&text));
    drop(text);
    let issuer = match envelope {
        Some(Some(envelope)) => {
            let place = envelope.place;
            return (Some(envelope.into_sealed()), place);
        }
        // A damaged envelope is nobody's: it goes back to the client as it is.
        Some(None) => Issuer::Vendor("unknown".to_owned()),
        None => own_issuer(),
    };
    (Some(Sealed { issuer, item_id: None, blob: Some(seal), redacted: false }), None)
}

/// The vendor of this protocol.
pub(super) fn own_issuer() -> Issuer {
    Issuer::Vendor(VENDOR_NAME.to_owned())
}
