//! One protocol on both sides: the bytes pass, observed. Only the model's name
//! may change, and what the answer says about what is kept of it.
//!
//! Only whole events pass, so an error that ends a cut stream never stands
//! inside an event that has half arrived.

use super::rewrite::Rewrite;
use crate::codec::{Codec, EventOutcome, StreamObserver, StreamWriter, codec};
use crate::ledger::Ledger;
use crate::model::{Event, KeptState, Protocol, ResponseContext, ResponseSummary};
use crate::wire::sse::Frame;
use crate::wire::{ReadError, Str};

/// A stream that is forwarded.
pub(super) struct Forward {
    codec: &'static Codec,
    observer: Box<dyn StreamObserver>,
    /// Says how the stream failed, if it does.
    writer: Box<dyn StreamWriter>,
    /// What the client sees with other values than the upstream's.
    rewrite: Option<Rewrite>,
    /// Whether the last event that was observed never reached the client.
    retracted: bool,
}

impl Forward {
    pub(super) fn new(
        protocol: Protocol,
        context: ResponseContext,
        model: Option<&str>,
        kept: Option<&KeptState>,
    ) -> Self {
        let codec = codec(protocol);
        let rewrite = Rewrite::new(codec, model, kept);
        let (observer, writer) = ((codec.stream_observer)(), (codec.stream_writer)(context));
        Self { codec, observer, writer, rewrite, retracted: false }
    }

    /// Passes an event on, and says what it means for the stream.
    pub(super) fn frame(
        &mut self,
        frame: &Frame<'_>,
        summary: &mut ResponseSummary,
        out: &mut Vec<u8>,
    ) -> Result<EventOutcome, ReadError> {
        let outcome = self.observer.frame(frame, summary)?;
        summary.note_frame(frame, self.codec.opens_stream);
        let last = match outcome {
            EventOutcome::GoesOn => false,
            EventOutcome::Cut => return Ok(outcome),
            EventOutcome::End => {
                summary.complete = summary.error.is_none();
                true
            }
            EventOutcome::Failed => true,
        };
        // A buffer that doubles for a long event takes twice what it holds.
        out.reserve_exact(frame.raw.len() + 2);
        match &mut self.rewrite {
            Some(rewrite) => rewrite.write(frame, summary, out),
            None => out.extend_from_slice(frame.raw),
        }
        end_event(frame, last, out);
        Ok(outcome)
    }

    /// The bytes have ended. Whether the answer is complete by the protocol's
    /// own rules.
    pub(super) fn finish(&mut self, summary: &mut ResponseSummary) -> bool {
        let is_complete = self.observer.is_complete();
        summary.complete = is_complete && summary.error.is_none();
        is_complete
    }

    /// The client does not get the last event.
    pub(super) fn retract_end(&mut self) {
        self.retracted = true;
    }

    pub(super) fn fail(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if let Some((mut start, sequence)) = self.observer.begun() {
            if let Some(model) = self.rewrite.as_ref().and_then(Rewrite::model) {
                start.model = Some(Str::plain(model));
            }
            self.writer.resume(&start, sequence.saturating_sub(u64::from(self.retracted)));
        }
        let mut events = Vec::new();
        self.writer.write(event, &mut events, &mut Ledger::default());
        match &self.rewrite {
            Some(rewrite) => rewrite.write_own(&events, out),
            None => out.extend_from_slice(&events),
        }
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
