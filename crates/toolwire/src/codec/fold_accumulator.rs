//! A stream put together through the model, for a protocol whose encoder writes
//! what its own decoder reads.

use super::{EventSink, StreamAccumulator, StreamReader, codec};
use crate::fold::Fold;
use crate::ledger::Ledger;
use crate::model::{Event, Protocol};
use crate::wire::ReadError;
use crate::wire::sse::Frame;

/// An answer that grows event by event.
pub(super) struct FoldAccumulator {
    protocol: Protocol,
    reader: Box<dyn StreamReader>,
    sink: FoldSink,
}

#[derive(Default)]
struct FoldSink {
    fold: Fold,
    ledger: Ledger,
}

impl FoldAccumulator {
    pub(super) fn new(protocol: Protocol) -> Self {
        let reader = codec(protocol).stream_reader();
        Self { protocol, reader, sink: FoldSink::default() }
    }
}

impl StreamAccumulator for FoldAccumulator {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), ReadError> {
        self.reader.read(frame, &mut self.sink)
    }

    fn response(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let response = self.sink.fold.response();
        codec(self.protocol).encode_response(&response, None, &mut out, &mut Ledger::default());
        out
    }
}

impl EventSink for FoldSink {
    fn event(&mut self, event: Event<'_>) {
        self.fold.event(&event);
    }

    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}
