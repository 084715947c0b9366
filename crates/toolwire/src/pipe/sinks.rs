//! Where the events of a stream go, from the reader to the writer.

use super::call_recovery::CallRecovery;
use super::call_restorer::CallRestorer;
use super::grammar::EventGrammar;
use crate::codec::{EventSink, StreamWriter};
use crate::ledger::Ledger;
use crate::model::{ApiError, Event, Piece, ResponseSummary};
use crate::wire::Str;

/// How much of a frame may be kept after it has been written.
#[derive(Default)]
pub(super) struct FrameMeasure {
    events: usize,
    pieces: usize,
    /// Whether something came that is neither a piece nor replaces what came
    /// before it.
    is_unmeasured: bool,
}

impl FrameMeasure {
    fn note(&mut self, event: &Event<'_>) {
        self.events += 1;
        match event {
            Event::Delta { block: _, piece } => match piece {
                Piece::Text { text, logprobs: None }
                | Piece::Summary { part: _, text }
                | Piece::Reasoning { part: _, text }
                | Piece::Arguments(text) => self.pieces += text.size_hint(),
                Piece::Text { text: _, logprobs: Some(_) } | Piece::Citation(_) => {
                    self.is_unmeasured = true;
                }
            },
            Event::Start(_)
            | Event::Usage(_)
            | Event::Stop { stop: _, extra: _ }
            | Event::End
            | Event::Error(_) => {}
            Event::Open { block: _, head: _ }
            | Event::Close { block: _, tail: _ }
            | Event::Whole(_)
            | Event::About { tier: _, extra: _ } => self.is_unmeasured = true,
        }
    }

    /// An upper bound of what is kept of a frame of `length` bytes. Of a frame
    /// from which nothing came, the reader may keep everything.
    pub(super) fn take(&mut self, length: usize) -> usize {
        let Self { events, pieces, is_unmeasured } = std::mem::take(self);
        if is_unmeasured || events == 0 { length } else { pieces.min(length) }
    }
}

/// Takes the reader's events, finds the calls in their text and restores the
/// client's tools.
pub(super) struct RestoringSink<'s> {
    pub(super) measure: &'s mut FrameMeasure,
    pub(super) grammar: &'s mut EventGrammar,
    pub(super) recovery: Option<&'s mut CallRecovery>,
    pub(super) restorer: &'s mut CallRestorer,
    pub(super) next: WritingSink<'s>,
}

impl EventSink for RestoringSink<'_> {
    fn event(&mut self, event: Event<'_>) {
        if *self.next.done {
            return;
        }
        self.grammar.check(&event);
        self.measure.note(&event);
        let Self { measure: _, grammar: _, recovery, restorer, next } = self;
        match recovery {
            Some(recovery) => recovery.event(event, &mut RestorerSink { restorer, next }),
            None => restorer.event(event, next),
        }
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.next.ledger
    }
}

/// Takes events with calls in them and restores the client's tools.
struct RestorerSink<'s, 'w> {
    restorer: &'s mut CallRestorer,
    next: &'s mut WritingSink<'w>,
}

impl EventSink for RestorerSink<'_, '_> {
    fn event(&mut self, event: Event<'_>) {
        self.restorer.event(event, self.next);
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
    pub(super) fallback_id: Option<&'s str>,
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
            if start.id.as_ref().is_none_or(Str::is_empty)
                && let Some(fallback) = self.fallback_id
            {
                start.id = Some(Str::plain(fallback.to_owned()));
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
