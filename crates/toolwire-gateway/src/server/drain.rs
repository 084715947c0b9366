//! How the gateway stops: `/readyz` reports it, then no more connections are
//! accepted, then open streams are cancelled, then the connections are closed.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::futures::OwnedNotified;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// When each step of stopping happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Schedule {
    close_at: Instant,
    cancel_at: Instant,
}

/// The gateway's shutdown, whether or not it has begun.
pub(crate) struct Drain {
    schedule: watch::Sender<Option<Schedule>>,
    cancel: Arc<CancelState>,
}

/// Whether open streams are cancelled.
#[derive(Default)]
struct CancelState {
    cancelled: AtomicBool,
    notify: Arc<Notify>,
}

impl Default for Drain {
    fn default() -> Self {
        Self { schedule: watch::Sender::new(None), cancel: Arc::default() }
    }
}

impl Drain {
    /// Begins to stop, or stops sooner than was scheduled.
    pub(crate) fn begin(&self, linger: Duration, grace: Duration) {
        let now = Instant::now();
        let wanted = Schedule { close_at: now + linger, cancel_at: now + linger + grace };
        self.schedule.send_modify(|schedule| {
            let sooner = |current: Schedule| Schedule {
                close_at: current.close_at.min(wanted.close_at),
                cancel_at: current.cancel_at.min(wanted.cancel_at),
            };
            *schedule = Some(schedule.map_or(wanted, sooner));
        });
        let mut schedule = self.schedule.subscribe();
        let cancel = Arc::clone(&self.cancel);
        tokio::spawn(async move {
            reached(&mut schedule, |schedule| schedule.cancel_at).await;
            cancel.cancelled.store(true, Ordering::Release);
            cancel.notify.notify_waiters();
        });
    }

    /// Whether the gateway is not about to stop.
    pub(crate) fn is_serving(&self) -> bool {
        self.schedule.borrow().is_none()
    }

    /// Waits until no more connections are accepted.
    pub(crate) async fn closing(&self) {
        reached(&mut self.schedule.subscribe(), |schedule| schedule.close_at).await;
    }

    /// Waits until cancelled streams have had the time to send their error.
    pub(crate) async fn terminated(&self) {
        reached(&mut self.schedule.subscribe(), |schedule| schedule.cancel_at + CANCEL_GRACE).await;
    }

    /// A token that tells a stream when it is cancelled.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        let notified = Arc::clone(&self.cancel.notify).notified_owned();
        CancellationToken { state: Arc::clone(&self.cancel), notified: Box::pin(notified) }
    }
}

/// Tells a stream when it is cancelled.
pub(crate) struct CancellationToken {
    state: Arc<CancelState>,
    notified: Pin<Box<OwnedNotified>>,
}

impl CancellationToken {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.cancelled.load(Ordering::Acquire)
    }

    pub(crate) fn poll_cancelled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_cancelled() {
            return Poll::Ready(());
        }
        self.notified.as_mut().poll(cx)
    }
}

/// Waits for a time that may still move to an earlier one.
async fn reached(
    schedule: &mut watch::Receiver<Option<Schedule>>,
    time: impl Fn(Schedule) -> Instant,
) {
    loop {
        let current = *schedule.borrow_and_update();
        match current {
            None => {
                if schedule.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
            Some(current) => tokio::select! {
                () = tokio::time::sleep_until(time(current)) => return,
                changed = schedule.changed() => if changed.is_err() { return },
            },
        }
    }
}

/// How long a cancelled stream has to send its last bytes.
const CANCEL_GRACE: Duration = Duration::from_secs(1);
