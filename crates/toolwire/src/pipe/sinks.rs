//! Where the events of a stream go, from the reader to the writer.

use super::call_restorer::CallRestorer;
use super::grammar::EventGrammar;
use crate::codec::{EventSink, StreamWriter};
use crate::ledger::Ledger;
use crate::model::{ApiError, Event, ResponseSummary};
use crate::wire::Str;

/// Takes the reader's events and restores the client's tools in them.
pub(super) struct RestoringSink<'s> {
    pub(super) grammar: &'s mut EventGrammar,
    pub(super) restorer: &'s mut CallRestorer,
    pub(super) next: WritingSink<'s>,
}

impl EventSink for RestoringSink<'_> {
    fn event(&mut self, event: Event<'_>) {
        if *self.next.done {
            return;
        }
        self.grammar.check(&event);
        self.restorer.event(event, &mut self.next);
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.next.ledger
    }
}

/// How the client's stream ends.
pub(super) enum StreamEnding {
    Complete,
    Failed(ApiError),
}

/// Takes restored events, sums them up and writes them for the client.
pub(super) struct WritingSink<'s> {
    pub(super) written: &'s mut EventGrammar,
    pub(super) writer: &'s mut dyn StreamWriter,
    pub(super) model: Option<&'s str>,
    pub(super) summary: &'s mut ResponseSummary,
    pub(super) ledger: &'s mut Ledger,
    pub(super) done: &'s mut bool,
    pub(super) ending: &'s mut Option<StreamEnding>,
    pub(super) out: &'s mut Vec<u8>,
}

impl EventSink for WritingSink<'_> {
    fn event(&mut self, mut event: Event<'_>) {
        self.written.check(&event);
        self.summary.note(&event);
        if let Event::Start(start) = &mut event {
            self.summary.called(start.model.as_ref());
            if let Some(model) = self.model {
                start.model = Some(Str::plain(model.to_owned()));
            }
        }
        if let Event::Error(error) = event {
            // It is written when all losses of the upstream's event are known.
            return self.end(StreamEnding::Failed(error));
        }
        self.writer.write(&event, self.out, self.ledger);
        if let Event::End = event {
            self.end(StreamEnding::Complete);
        }
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.ledger
    }
}

impl WritingSink<'_> {
    fn end(&mut self, ending: StreamEnding) {
        *self.done = true;
        *self.ending = Some(ending);
    }
}
