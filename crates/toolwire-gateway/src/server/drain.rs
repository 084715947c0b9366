//! How the gateway stops: it says so, then takes no more connections, then cuts
//! what is still open, then is gone.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::futures::OwnedNotified;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// How far the gateway has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    closing: Instant,
    cut: Instant,
}

/// The end of the gateway, in the making or not.
pub(crate) struct Drain {
    plan: watch::Sender<Option<Plan>>,
    knife: Arc<Knife>,
}

/// Cuts open streams.
#[derive(Default)]
struct Knife {
    fell: AtomicBool,
    falls: Arc<Notify>,
}

impl Default for Drain {
    fn default() -> Self {
        Self { plan: watch::Sender::new(None), knife: Arc::default() }
    }
}

impl Drain {
    /// Begins to stop, or stops sooner than was planned.
    pub(crate) fn begin(&self, linger: Duration, grace: Duration) {
        let now = Instant::now();
        let wanted = Plan { closing: now + linger, cut: now + linger + grace };
        self.plan.send_modify(|plan| {
            let sooner = |known: Plan| Plan {
                closing: known.closing.min(wanted.closing),
                cut: known.cut.min(wanted.cut),
            };
            *plan = Some(plan.map_or(wanted, sooner));
        });
        let mut plan = self.plan.subscribe();
        let knife = Arc::clone(&self.knife);
        tokio::spawn(async move {
            reached(&mut plan, |plan| plan.cut).await;
            knife.fell.store(true, Ordering::Release);
            knife.falls.notify_waiters();
        });
    }

    /// Whether nobody has asked it to stop.
    pub(crate) fn is_serving(&self) -> bool {
        self.plan.borrow().is_none()
    }

    /// Waits until no more connections are taken.
    pub(crate) async fn closing(&self) {
        reached(&mut self.plan.subscribe(), |plan| plan.closing).await;
    }

    /// Waits until what is still open has had the time to say goodbye.
    pub(crate) async fn dead(&self) {
        reached(&mut self.plan.subscribe(), |plan| plan.cut + GOODBYE).await;
    }

    /// What tells a stream that it is cut.
    pub(crate) fn cut(&self) -> Cut {
        let falls = Arc::clone(&self.knife.falls).notified_owned();
        Cut { knife: Arc::clone(&self.knife), falls: Box::pin(falls) }
    }
}

/// Whether and when a stream is cut.
pub(crate) struct Cut {
    knife: Arc<Knife>,
    falls: Pin<Box<OwnedNotified>>,
}

impl Cut {
    pub(crate) fn is_cut(&self) -> bool {
        self.knife.fell.load(Ordering::Acquire)
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_cut() {
            return Poll::Ready(());
        }
        self.falls.as_mut().poll(cx)
    }
}

/// Waits for a time that may still be moved to an earlier one.
async fn reached(plan: &mut watch::Receiver<Option<Plan>>, time: impl Fn(Plan) -> Instant) {
    loop {
        let known = *plan.borrow_and_update();
        match known {
            None => {
                if plan.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
            Some(known) => tokio::select! {
                () = tokio::time::sleep_until(time(known)) => return,
                changed = plan.changed() => if changed.is_err() { return },
            },
        }
    }
}

/// How long a cut stream has to get its last bytes out.
const GOODBYE: Duration = Duration::from_secs(1);
