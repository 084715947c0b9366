//! A timer for deadlines that only ever move later.
//!
//! It stays set for the earliest of them while they move, and is set again when it
//! has fired. An event of a stream, or the head of a request, then costs no look at
//! the clock.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// Wakes a task no later than the next deadline.
pub(crate) struct WakeTimer {
    timer: Pin<Box<Sleep>>,
    /// The task that it wakes, while it runs.
    known: Option<Waker>,
}

impl WakeTimer {
    pub(crate) fn new() -> Self {
        Self { timer: Box::pin(sleep_until(Instant::now())), known: None }
    }

    /// Whether it runs for this task, so that no deadline is over that it was set
    /// for.
    pub(crate) fn is_running(&self, cx: &Context<'_>) -> bool {
        let is_known = self.known.as_ref().is_some_and(|known| known.will_wake(cx.waker()));
        is_known && !self.timer.is_elapsed()
    }

    /// Runs until a deadline at the latest.
    pub(crate) fn poll(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if self.timer.is_elapsed() || self.timer.deadline() > deadline {
            self.timer.as_mut().reset(deadline);
        }
        // A task that has worked for long would get no timer.
        let polled = pin!(unconstrained(self.timer.as_mut())).poll(cx);
        self.known = polled.is_pending().then(|| cx.waker().clone());
        polled
    }
}
