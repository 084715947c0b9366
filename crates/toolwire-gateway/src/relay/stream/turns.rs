//! A stream works in turns, so that one that has much to do delays no other.

use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::time::Instant;

use super::ResponseStream;
use crate::heavy_work::in_place;

impl ResponseStream {
    /// Lets the pipe read as much as it will before its output is written, from
    /// now on.
    pub(super) fn step(&mut self, now: Instant) {
        let Self { pipe, out, unread, .. } = self;
        if out.capacity() == 0 {
            out.reserve_exact(self.room);
        }
        let mut piece = unread.get(..MAX_STEP).unwrap_or(unread);
        let length = piece.len();
        // The end of a long event makes work of all of it.
        let work = pipe.unfinished() + length;
        self.pipe_has_more = in_place(work, || pipe.step(&mut piece, out));
        let used = length - piece.len();
        unread.advance(used);
        if unread.is_empty() {
            // Even an empty rest would keep the buffer that it was read into, and
            // the connection would have to read into another one.
            *unread = Bytes::new();
        }
        self.pipe_has_more |= !unread.is_empty() && !pipe.is_done() && !pipe.holds_ending();
        self.now = Instant::now();
        let elapsed = self.now - now;
        self.turn += elapsed;
        self.mask_error();
        self.hold_stop();
        self.check_kept();
        if let Some(log) = &mut self.log {
            log.add_own_time(elapsed);
        }
    }

    /// Masks secrets in an error of the upstream. An event is written when it is
    /// complete, so no secret is cut in two.
    pub(super) fn mask_error(&mut self) {
        if self.pipe.summary().error.is_some()
            && let Some(masked) = self.mask.mask(&self.out)
        {
            self.out = masked;
        }
    }

    /// Ends the stream with an error if it keeps too much.
    fn check_kept(&mut self) {
        let Some(error) = self.kept.count(self.pipe.kept_bytes()) else { return };
        if !self.pipe.is_done() {
            self.unread = Bytes::new();
            // It is not asked again, or one stream would count as several.
            self.pipe_has_more = false;
            self.fail(error);
        }
    }

    /// Whether it is time to let others work, which begins a new turn.
    pub(super) fn ends_turn(&mut self) -> bool {
        let is_long = self.turn >= LONGEST_TURN;
        if is_long {
            self.turn = Duration::ZERO;
        }
        is_long
    }
}

/// How long a stream works before it lets others work.
const LONGEST_TURN: Duration = Duration::from_millis(2);

/// How much of a chunk is translated in one step, in bytes.
const MAX_STEP: usize = 8 * 1024;
