//! One protocol on both sides: the bytes pass as they are, watched. Only the
//! model's name may be another.
//!
//! Only whole events pass, so an error that ends a cut stream never stands
//! inside an event that has half arrived.

use super::rename::Rename;
use crate::codec::{EventOutcome, StreamObserver, StreamWriter, codec};
use crate::ledger::Ledger;
use crate::model::{Event, Protocol, ResponseContext, ResponseSummary};
use crate::wire::sse::Frame;
use crate::wire::{ReadError, Str};

/// A stream that is forwarded.
pub(super) struct Forward {
    watch: Box<dyn StreamObserver>,
    /// Says how the stream failed, if it does.
    writer: Box<dyn StreamWriter>,
    /// The model's name toward the client, if it is not the upstream's.
    rename: Option<Rename>,
}

impl Forward {
    pub(super) fn new(protocol: Protocol, asked: ResponseContext, model: Option<&str>) -> Self {
        let codec = codec(protocol);
        let rename = model.map(|model| Rename::new(codec, model));
        Self { watch: codec.stream_observer(), writer: codec.stream_writer(asked), rename }
    }

    /// Passes an event on, and says what it means for the stream.
    pub(super) fn frame(
        &mut self,
        frame: &Frame<'_>,
        seen: &mut ResponseSummary,
        out: &mut Vec<u8>,
    ) -> Result<EventOutcome, ReadError> {
        let watched = self.watch.frame(frame, seen)?;
        let last = match watched {
            EventOutcome::GoesOn => false,
            EventOutcome::Cut => return Ok(watched),
            EventOutcome::End => {
                seen.complete = true;
                true
            }
            EventOutcome::Failed => true,
        };
        // A buffer that doubles for a long event takes twice what it holds.
        out.reserve_exact(frame.raw.len() + 2);
        match &mut self.rename {
            Some(rename) => rename.write(frame, seen, out),
            None => out.extend_from_slice(frame.raw),
        }
        end_event(frame, last, out);
        Ok(watched)
    }

    /// The bytes have ended. Whether the answer is complete by the protocol's
    /// own rules.
    pub(super) fn finish(&mut self, seen: &mut ResponseSummary) -> bool {
        seen.complete = self.watch.is_complete();
        seen.complete
    }

    pub(super) fn fail(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if let Some((mut start, sequence)) = self.watch.begun() {
            if let Some(rename) = &self.rename {
                start.model = Some(Str::plain(rename.name()));
            }
            self.writer.resume(&start, sequence);
        }
        self.writer.write(event, out, &mut Ledger::default());
    }
}

/// Ends an event as its lines end. The LF of its last CRLF comes with what
/// follows, so the last event gets it here; an event at which the upstream's
/// bytes ended lacks its empty line.
fn end_event(frame: &Frame<'_>, last: bool, out: &mut Vec<u8>) {
    if !frame.ended {
        out.extend_from_slice(b"\n\n");
    } else if last && frame.raw.ends_with(b"\n\r") {
        out.push(b'\n');
    }
}
