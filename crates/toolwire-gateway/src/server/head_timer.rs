//! The time that a client has to send the head of a request of HTTP/1.1.
//!
//! hyper makes a timer for each head and drops it when the head has come. Here
//! all heads of a connection share one timer, which stays set while requests come
//! and go.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Sleep, Timer};
use tokio::time::Instant;

use crate::wake_timer::WakeTimer;

/// Makes the timers of one connection. Each may only run as long as the one before
/// it, or longer.
pub(super) struct HeadTimer(Arc<Mutex<WakeTimer>>);

impl HeadTimer {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(WakeTimer::new())))
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(HeadSleep { timer: Arc::clone(&self.0), deadline: deadline.into() })
    }
}

/// Waits for one head.
struct HeadSleep {
    timer: Arc<Mutex<WakeTimer>>,
    deadline: Instant,
}

impl Sleep for HeadSleep {}

impl Future for HeadSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Nobody else is there to wait for.
        let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        if timer.is_running(cx) {
            return Poll::Pending;
        }
        while Instant::now() < self.deadline {
            // It may have been set for the head before.
            std::task::ready!(timer.poll(self.deadline, cx));
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[tokio::test]
    async fn a_head_that_does_not_come_has_all_of_its_time() {
        let timer = HeadTimer::new();
        let start = Instant::now();
        let deadline = start.into_std() + ms(100);
        timer.sleep_until(deadline).await;
        assert!(start.elapsed() >= ms(100));
    }

    /// The timer is still set for the first head when the second is waited for.
    #[tokio::test]
    async fn the_next_head_has_its_own_time() {
        let timer = HeadTimer::new();
        let start = Instant::now();
        let mut first = timer.sleep_until(start.into_std() + ms(100));
        poll_fn(|cx| {
            assert!(first.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        tokio::time::sleep(ms(60)).await;
        drop(first);
        timer.sleep_until(start.into_std() + ms(160)).await;
        assert!(start.elapsed() >= ms(160));
    }
}
