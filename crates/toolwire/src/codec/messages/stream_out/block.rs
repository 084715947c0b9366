//! One block of a stream that is written.

use super::call::StreamedCall;
use super::events::{BlockDeltas, BlockEvents};
use super::text::StreamedText;
use super::thinking::StreamedThinking;
use crate::ledger::{Code, Ledger};
use crate::model::{Piece, Sealed};
use crate::wire::Raw;

/// What a block is.
#[derive(Debug)]
pub(super) enum BlockBody {
    Text(StreamedText),
    Thinking(StreamedThinking),
    Call(StreamedCall),
    /// A block that is written in one piece.
    Whole(Vec<u8>),
}

/// Where a block that is being written goes. `None` while it waits.
pub(super) type Destination<'w> = Option<(&'w mut BlockEvents, &'w mut Vec<u8>)>;

impl BlockBody {
    pub(super) fn push(
        &mut self,
        piece: &Piece<'_>,
        destination: Destination<'_>,
        ledger: &mut Ledger,
    ) {
        match (self, piece) {
            (Self::Text(body), Piece::Text { text, logprobs }) => {
                report_logprobs(logprobs.as_ref(), ledger);
                body.push(text, destination);
            }
            (Self::Text(_), Piece::Citation(citation)) => {
                ledger.dropped(citation.pos(), Code::Citations);
            }
            (Self::Call(body), Piece::Arguments(text)) => body.push(text, destination),
            (
                Self::Thinking(body),
                Piece::Summary { part: _, text: _ } | Piece::Reasoning { part: _, text: _ },
            ) => body.push(piece, destination),
            // Clients stop reading at a piece that does not fit its block.
            (_, _) => {}
        }
    }

    /// The block's turn has come.
    pub(super) fn start(&mut self, events: &mut BlockEvents, out: &mut Vec<u8>) {
        match self {
            Self::Text(body) => body.start(events, out),
            Self::Thinking(body) => body.start(events, out),
            Self::Call(body) => body.start(events, out),
            Self::Whole(block) => {
                events.open(BlockDeltas::Text, out, |out| out.extend_from_slice(block));
            }
        }
    }

    /// The block is complete. Writes what is missing before its end.
    pub(super) fn finish(
        &mut self,
        sealed: Option<Sealed<'static>>,
        events: &mut BlockEvents,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        match self {
            Self::Text(body) => body.finish(events, ledger),
            Self::Thinking(body) => body.finish(sealed, events, out, ledger),
            Self::Call(body) => body.finish(events, out, ledger),
            Self::Whole(_) => {}
        }
    }
}

pub(super) fn report_logprobs(logprobs: Option<&Raw<'_>>, ledger: &mut Ledger) {
    if let Some(list) = logprobs.filter(|list| list.text() != "[]") {
        ledger.dropped(list.pos(), Code::Logprobs).info();
    }
}
