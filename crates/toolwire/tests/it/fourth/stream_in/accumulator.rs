//! A stream put together through the model, which suffices for a protocol whose
//! encoder writes what its own decoder reads.

use toolwire::Ledger;
use toolwire::codec::{EventSink, StreamAccumulator, StreamReader};
use toolwire::fold::Fold;
use toolwire::model::Event;
use toolwire::wire::ReadError;
use toolwire::wire::sse::Frame;

use super::super::response_out;
use super::FourthStreamReader;

/// An answer that grows event by event.
#[derive(Default)]
pub(crate) struct FourthAccumulator {
    reader: FourthStreamReader,
    sink: FoldSink,
}

#[derive(Default)]
struct FoldSink {
    fold: Fold,
    ledger: Ledger,
}

impl StreamAccumulator for FourthAccumulator {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), ReadError> {
        self.reader.read(frame, &mut self.sink)
    }

    fn response(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let response = self.sink.fold.response();
        response_out::encode(&response, None, &mut out, &mut Ledger::default());
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
