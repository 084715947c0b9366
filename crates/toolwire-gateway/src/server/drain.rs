//! How the gateway stops: `/readyz` reports it, then no more connections are
//! accepted, then open streams are cancelled, then the connections are closed.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
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
    close: Arc<Step>,
    cancel: Arc<Step>,
}

/// One step of stopping, for those who look often whether it is reached.
#[derive(Default)]
struct Step {
    is_reached: AtomicBool,
    notify: Arc<Notify>,
}

impl Default for Drain {
    fn default() -> Self {
        Self { schedule: watch::Sender::new(None), close: Arc::default(), cancel: Arc::default() }
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
        let (close, cancel) = (Arc::clone(&self.close), Arc::clone(&self.cancel));
        tokio::spawn(async move {
            reached(&mut schedule, |schedule| schedule.close_at).await;
            close.reach();
            reached(&mut schedule, |schedule| schedule.cancel_at).await;
            cancel.reach();
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

    /// Tells a connection when no more requests are accepted.
    pub(super) fn close_token(&self) -> StepToken {
        StepToken::new(&self.close)
    }

    /// Whether open streams are cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_reached()
    }

    /// Waits until cancelled streams have had the time to send their error.
    pub(crate) async fn terminated(&self) {
        reached(&mut self.schedule.subscribe(), |schedule| schedule.cancel_at + CANCEL_GRACE).await;
    }

    /// A token that tells a stream when it is cancelled.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        CancellationToken(StepToken::new(&self.cancel))
    }
}

impl Step {
    fn reach(&self) {
        self.is_reached.store(true, Ordering::Release);
        self.notify.notify_waiters();
    }

    fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Acquire)
    }
}

/// Tells a stream when it is cancelled.
pub(crate) struct CancellationToken(StepToken);

impl CancellationToken {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.step.is_reached()
    }

    pub(crate) fn poll_cancelled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_reached(cx)
    }
}

/// Tells a task when a step is reached. It may ask each time it works: once the
/// step knows the task, to ask is to look at a flag.
pub(super) struct StepToken {
    step: Arc<Step>,
    notified: Pin<Box<OwnedNotified>>,
    /// The task that is woken.
    known: Option<Waker>,
}

impl StepToken {
    fn new(step: &Arc<Step>) -> Self {
        let notified = Box::pin(Arc::clone(&step.notify).notified_owned());
        Self { step: Arc::clone(step), notified, known: None }
    }

    pub(super) fn poll_reached(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.step.is_reached() {
            return Poll::Ready(());
        }
        if self.known.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        self.known = Some(cx.waker().clone());
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
