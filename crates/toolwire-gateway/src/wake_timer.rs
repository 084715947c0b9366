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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Wake;
    use std::time::Duration;

    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[tokio::test]
    async fn fires_at_its_deadline() {
        let (start, mut timer) = (Instant::now(), WakeTimer::new());
        poll_fn(|cx| timer.poll(start + ms(100), cx)).await;
        assert!(start.elapsed() >= ms(100));
    }

    /// Whoever polls it looks at the clock then, and sets it again.
    #[tokio::test]
    async fn stays_set_when_the_deadline_moves_later() {
        let (start, mut timer) = (Instant::now(), WakeTimer::new());
        let mut deadline = start + ms(100);
        poll_fn(|cx| {
            let polled = timer.poll(deadline, cx);
            deadline = start + ms(150);
            polled
        })
        .await;
        assert!(start.elapsed() >= ms(100));
        poll_fn(|cx| timer.poll(deadline, cx)).await;
        assert!(start.elapsed() >= ms(150));
    }

    #[tokio::test]
    async fn is_set_again_when_the_deadline_is_earlier() {
        let (start, mut timer) = (Instant::now(), WakeTimer::new());
        let waker = Waker::noop();
        let _ = timer.poll(start + ms(60_000), &mut Context::from_waker(waker));
        poll_fn(|cx| timer.poll(start + ms(50), cx)).await;
        assert!(start.elapsed() < ms(60_000));
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// A stream can move to another task while it waits.
    #[tokio::test]
    async fn runs_for_the_task_that_polled_it_last() {
        let (start, mut timer) = (Instant::now(), WakeTimer::new());
        let [first, second] = [Arc::new(Woken::default()), Arc::new(Woken::default())];
        let wakers = [Waker::from(Arc::clone(&first)), Waker::from(Arc::clone(&second))];
        let [mut one, mut other] = wakers.each_ref().map(Context::from_waker);
        assert!(!timer.is_running(&one));
        assert!(timer.poll(start + ms(500), &mut one).is_pending());
        assert!(timer.is_running(&one) && !timer.is_running(&other));
        assert!(timer.poll(start + ms(1_000), &mut other).is_pending());
        assert!(timer.is_running(&other) && !timer.is_running(&one));
        tokio::time::sleep(ms(550)).await;
        assert!(second.0.load(Ordering::Relaxed) && !first.0.load(Ordering::Relaxed));
        assert!(!timer.is_running(&other));
    }
}
