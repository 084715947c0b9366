//! Reasoning that another vendor sealed, in a request whose bytes pass.

use std::ops::Range;

use toolwire::wire::cuts::Cuts;
use toolwire::wire::envelope::Envelope;
use toolwire::wire::{Raw, ReadError, Reader};
use toolwire::{Code, Ledger};

use super::reasoning_in::own_issuer;

/// Cuts out the pieces whose seal is an envelope around another vendor's.
pub(super) fn find(source: &str, ledger: &mut Ledger) -> Result<Vec<Range<usize>>, ReadError> {
    let mut reader = Reader::new(source);
    let [dialogue] = reader.pick(["dialogue"])?;
    reader.finish()?;
    let mut cuts = Cuts::default();
    for entry in dialogue.as_ref().map_or(Ok(Vec::new()), Raw::elements)? {
        let [says] = entry.reader().pick(["says"])?;
        let mut pieces = cuts.container();
        for piece in says.as_ref().map_or(Ok(Vec::new()), Raw::elements)? {
            let Some(range) = piece.range() else { continue };
            if is_foreign(&piece)? {
                ledger.dropped(piece.pos(), Code::ReasoningForeign);
                pieces.cut(range);
            } else {
                pieces.keep(range);
            }
        }
        pieces.finish();
    }
    Ok(cuts.into_ranges())
}

fn is_foreign(piece: &Raw<'_>) -> Result<bool, ReadError> {
    let Some(seal) = piece.reader().tag("seal")? else { return Ok(false) };
    let seal = seal.decode();
    let own = Envelope::open(&seal).is_some_and(|envelope| envelope.issuer == own_issuer());
    Ok(Envelope::is_sealed(&seal) && !own)
}
