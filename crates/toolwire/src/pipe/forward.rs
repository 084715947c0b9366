//! One protocol on both sides: the bytes pass as they are, watched.
//!
//! Only whole events pass, so an error that ends a cut stream never stands
//! inside an event that has half arrived.

use crate::codec::{EventsOut, Watch, Watched, codec};
use crate::ledger::Ledger;
use crate::model::{Asked, Event, Protocol, Seen};
use crate::wire::ReadError;
use crate::wire::sse::Frame;

/// A stream that is forwarded.
pub(super) struct Forward {
    watch: Box<dyn Watch>,
    /// Says how the stream failed, if it does.
    writer: Box<dyn EventsOut>,
}

impl Forward {
    pub(super) fn new(protocol: Protocol, asked: Asked) -> Self {
        let codec = codec(protocol);
        Self { watch: codec.watch(), writer: codec.events_out(asked) }
    }

    /// Passes an event on. Whether it was the last.
    pub(super) fn frame(
        &mut self,
        frame: &Frame<'_>,
        seen: &mut Seen,
        out: &mut Vec<u8>,
    ) -> Result<bool, ReadError> {
        let watched = self.watch.frame(frame, seen)?;
        out.extend_from_slice(frame.raw);
        let last = match watched {
            Watched::GoesOn => false,
            Watched::End => {
                seen.complete = true;
                true
            }
            Watched::Failed => true,
        };
        end_event(frame.raw, last, out);
        Ok(last)
    }

    /// The bytes have ended. Whether the answer is complete by the protocol's
    /// own rules.
    pub(super) fn finish(&mut self, seen: &mut Seen) -> bool {
        seen.complete = self.watch.is_complete();
        seen.complete
    }

    pub(super) fn fail(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if let Some((start, sequence)) = self.watch.begun() {
            self.writer.resume(&start, sequence);
        }
        self.writer.write(event, out, &mut Ledger::default());
    }
}

/// Ends an event as its lines end. The LF of its last CRLF comes with what
/// follows, so the last event gets it here; an event at which the upstream's
/// bytes ended lacks its empty line.
fn end_event(raw: &[u8], last: bool, out: &mut Vec<u8>) {
    match raw {
        [.., b'\n', b'\r'] if last => out.push(b'\n'),
        [.., b'\n', b'\n' | b'\r'] | [.., b'\r', b'\r'] => {}
        _unended => out.extend_from_slice(b"\n\n"),
    }
}
