//! The stream: from events to Chat.

pub(super) mod from_response;

mod answer;
mod chunk;
mod deferred;

use self::answer::Answer;
use super::error_out;
use crate::codec::StreamWriter;
use crate::ledger::Ledger;
use crate::model::{Event, ResponseContext};
use crate::wire::sse::write_event;

/// A stream being written.
#[derive(Debug)]
pub(super) struct Writing {
    asked: ResponseContext,
    state: State,
}

#[derive(Debug)]
enum State {
    Before,
    Begun(Box<Answer>),
    Over,
}

impl Writing {
    /// A stream for a client who asked for it so.
    pub(super) fn new(asked: ResponseContext) -> Self {
        Self { asked, state: State::Before }
    }
}

impl StreamWriter for Writing {
    fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let answer = match (&mut self.state, event) {
            (State::Over, _) => return,
            (State::Before | State::Begun(_), Event::Error(error)) => {
                self.state = State::Over;
                return write_event(None, out, |out| {
                    error_out::encode(error, out);
                });
            }
            (State::Before, Event::Start(start)) => {
                self.state = State::Begun(Box::new(Answer::new(start, &self.asked)));
                return;
            }
            (State::Before, other) => {
                debug_assert!(false, "nothing comes before the start: {other:?}");
                return;
            }
            (State::Begun(answer), _) => answer,
        };
        match event {
            Event::Start(_) | Event::Error(_) => {}
            Event::Open { block, head } => answer.open(*block, head, out, ledger),
            Event::Delta { block, piece } => answer.grow(*block, piece, out, ledger),
            Event::Close { block, tail } => answer.close(*block, tail, out, ledger),
            Event::Whole(turn) => answer.whole(turn, out, ledger),
            Event::About { tier, extra } => answer.about(tier.as_ref(), extra, ledger),
            Event::Usage(usage) => answer.count(usage, ledger),
            Event::Stop { stop, extra } => answer.stop(stop, extra, ledger),
            Event::End => {
                answer.end(out, ledger);
                self.state = State::Over;
            }
        }
    }
}
