//! A stream that passes between two that both speak the protocol.

use toolwire::codec::{EventOutcome, StreamObserver};
use toolwire::model::{Own, ResponseSummary, Start};
use toolwire::wire::sse::Frame;
use toolwire::wire::{Raw, ReadError};

use super::super::wire::{Because, Began, Spent};
use super::super::{error_in, usage_in};
use super::whole;

/// A stream being observed.
#[derive(Debug, Default)]
pub(in super::super) struct FourthStreamObserver {
    /// Whether the model has said why it stopped.
    stopped: bool,
}

impl StreamObserver for FourthStreamObserver {
    fn frame(
        &mut self,
        frame: &Frame<'_>,
        summary: &mut ResponseSummary,
    ) -> Result<EventOutcome, ReadError> {
        match frame.name.unwrap_or_default() {
            "began" => {
                let event: Began<'_> = whole(frame.data)?;
                let piece = event.piece.as_ref().map(|piece| piece.reader().pick(["do"]));
                summary.calls += usize::from(matches!(piece, Some(Ok([Some(_)]))));
            }
            "spent" => {
                let spent: Spent<'_> = whole(frame.data)?;
                summary.usage = Some(usage_in::decode(spent).into_owned());
            }
            "because" => {
                let event: Because<'_> = whole(frame.data)?;
                self.stopped |= event.because.is_some();
            }
            "closed" => {
                whole::<Raw<'_>>(frame.data)?;
                let good = if self.stopped { EventOutcome::End } else { EventOutcome::Cut };
                return Ok(good);
            }
            "fault" => {
                summary.error = Some(error_in::decode(None, frame.data)?);
                return Ok(EventOutcome::Failed);
            }
            _other => {
                whole::<Raw<'_>>(frame.data)?;
            }
        }
        Ok(EventOutcome::GoesOn)
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn begun(&self) -> Option<(Start<'_>, u64)> {
        None
    }
}
