//! The stream: writing it.

pub(super) mod from_response;

mod answer;
mod calls;
mod chunk;
mod deferred;

use self::answer::StreamedAnswer;
use self::chunk::DONE;
use super::error_out;
use crate::codec::StreamWriter;
use crate::ledger::Ledger;
use crate::model::{Event, ResponseContext};
use crate::stateful::WrittenEnding;
use crate::wire::sse::write_event;

/// Writes a stream of Chat.
#[derive(Debug)]
pub(super) struct ChatStreamWriter {
    context: ResponseContext,
    state: WriterState,
}

#[derive(Debug)]
enum WriterState {
    Before,
    Begun(Box<StreamedAnswer>),
    /// Everything is said but that it is the end.
    Ended,
    /// The end was taken back, so only an error can follow.
    Retracted,
    Over,
}

impl ChatStreamWriter {
    /// A stream for a client with that request.
    pub(super) fn new(context: ResponseContext) -> Self {
        Self { context, state: WriterState::Before }
    }
}

impl StreamWriter for ChatStreamWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let answer = match (&mut self.state, event) {
            (WriterState::Ended | WriterState::Over, _) => return,
            (
                WriterState::Before | WriterState::Begun(_) | WriterState::Retracted,
                Event::Error(error),
            ) => {
                self.state = WriterState::Over;
                return write_event(None, out, |out| {
                    error_out::encode(error, out);
                });
            }
            (WriterState::Before, Event::Start(start)) => {
                self.state =
                    WriterState::Begun(Box::new(StreamedAnswer::new(start, &self.context)));
                return;
            }
            (WriterState::Retracted, _) => return,
            (WriterState::Before, other) => {
                debug_assert!(false, "nothing comes before the start: {other:?}");
                return;
            }
            (WriterState::Begun(answer), _) => answer,
        };
        match event {
            Event::Start(_) | Event::Error(_) => {}
            Event::Open { block, head } => answer.open(*block, head, out, ledger),
            Event::Delta { block, piece } => answer.push(*block, piece, out, ledger),
            Event::Close { block, tail } => answer.close(*block, tail, out, ledger),
            Event::Whole(turn) => answer.write_whole(turn, out, ledger),
            Event::About { tier, extra } => answer.set_tier(tier.as_ref(), extra, ledger),
            Event::Usage(usage) => answer.set_usage(usage, ledger),
            Event::Stop { stop, extra } => answer.set_stop(stop, extra, ledger),
            Event::End => {
                answer.end(out, ledger);
                self.state = WriterState::Ended;
            }
        }
    }

    fn write_end(&mut self, out: &mut Vec<u8>) -> Option<WrittenEnding> {
        if let WriterState::Ended = self.state {
            self.state = WriterState::Over;
            out.extend_from_slice(DONE);
        }
        None
    }

    fn retract_end(&mut self) {
        self.state = WriterState::Retracted;
    }
}
