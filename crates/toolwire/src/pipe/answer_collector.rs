//! The answer that a client gets as a stream, put together for a caller that
//! keeps it.

use std::ops::ControlFlow;

use crate::codec::{StreamAccumulator, codec};
use crate::model::Protocol;
use crate::wire::sse::{Frame, Frames};

/// What a client has got of an answer.
pub(super) struct AnswerCollector {
    frames: Frames,
    accumulator: Box<dyn StreamAccumulator>,
    is_broken: bool,
    /// How long the answer was when it was last measured.
    measured: usize,
    /// How many bytes have come since.
    unmeasured: usize,
    has_ending: bool,
}

impl AnswerCollector {
    pub(super) fn new(client: Protocol) -> Self {
        Self {
            // What is written is never longer than what may be read.
            frames: Frames::new(usize::MAX),
            accumulator: (codec(client).stream_accumulator)(),
            is_broken: false,
            measured: 0,
            unmeasured: 0,
            has_ending: false,
        }
    }

    /// Takes bytes that go to the client.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.is_broken {
            return;
        }
        let Self { frames, accumulator, is_broken, measured, unmeasured, has_ending: _ } = self;
        let each = |frame: Frame<'_>| {
            if !frame.data.is_empty() {
                *is_broken |= accumulator.frame(&frame).is_err();
            }
            ControlFlow::Continue(())
        };
        *is_broken |= frames.push(bytes, each).is_err();
        *unmeasured += bytes.len();
        // Measuring costs what the answer is long, so it is done again when the
        // answer may be twice as long.
        if *unmeasured > MEASURED_AFTER + *measured {
            *measured = accumulator.response().len();
            *unmeasured = 0;
        }
    }

    /// Takes the ending, which the client gets later. It comes once.
    pub(super) fn push_ending(&mut self, ending: &[u8]) {
        if !self.has_ending {
            self.has_ending = true;
            self.push(ending);
        }
    }

    /// The answer so far, unless it cannot be put together.
    pub(super) fn answer(&self) -> Option<String> {
        if self.is_broken {
            return None;
        }
        String::from_utf8(self.accumulator.response()).ok()
    }

    /// How many bytes are kept, at most.
    pub(super) fn kept(&self) -> usize {
        self.measured + self.unmeasured
    }
}

/// How many bytes of a stream come before the answer is measured.
const MEASURED_AFTER: usize = 64 * 1024;
