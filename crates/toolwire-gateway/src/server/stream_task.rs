//! The streams of an HTTP/2 connection, each in a task of its own.
//!
//! A client can stop reading one stream and go on with the others, which the
//! connection's write timeout does not notice. A stream whose client reads
//! nothing for too long is therefore dropped here. HTTP/2 then resets it, so it
//! cannot be taken for complete, and everything that was done for it ends.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::Executor;
use tokio::time::{Instant, Sleep, sleep_until};

use super::exchange::Exchange;

/// Runs the streams of one connection.
#[derive(Clone)]
pub(super) struct StreamExecutor {
    pub(super) exchange: Arc<Exchange>,
    /// How long a client may read nothing.
    pub(super) stall: Duration,
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let open = self.exchange.open_stream();
        let progress = Arc::new(ReadProgress::default());
        let stall = self.stall;
        tokio::spawn(PROGRESS.scope(Arc::clone(&progress), async move {
            let _open = open;
            let mut stream = pin!(stream);
            let mut timer = StallTimer::default();
            std::future::poll_fn(|cx| match stream.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => timer.poll_stalled(&progress, stall, cx),
            })
            .await;
        }));
    }
}

tokio::task_local! {
    /// The progress of the stream that the task runs.
    static PROGRESS: Arc<ReadProgress>;
}

/// Whether the client of a stream reads its response.
#[derive(Default)]
pub(super) struct ReadProgress {
    /// Whether HTTP/2 has a piece that the client has made no room for.
    is_waiting: AtomicBool,
    pieces: AtomicU64,
}

impl ReadProgress {
    /// The progress of the stream that the current task runs. None in HTTP/1.1.
    pub(super) fn current() -> Option<Arc<Self>> {
        PROGRESS.try_with(Arc::clone).ok()
    }

    /// HTTP/2 asks for the next piece, so there is room for it.
    pub(super) fn asked(&self) {
        self.is_waiting.store(false, Ordering::Relaxed);
    }

    /// HTTP/2 got a piece.
    pub(super) fn gave(&self) {
        self.is_waiting.store(true, Ordering::Relaxed);
        self.pieces.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs while a client reads nothing.
#[derive(Default)]
struct StallTimer {
    timer: Option<Pin<Box<Sleep>>>,
    /// How many pieces there were when it was set.
    pieces: u64,
}

impl StallTimer {
    fn poll_stalled(
        &mut self,
        progress: &ReadProgress,
        stall: Duration,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        if !progress.is_waiting.load(Ordering::Relaxed) {
            self.timer = None;
            return Poll::Pending;
        }
        let pieces = progress.pieces.load(Ordering::Relaxed);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + stall)));
        if self.pieces != pieces {
            self.pieces = pieces;
            timer.as_mut().reset(Instant::now() + stall);
        }
        timer.as_mut().poll(cx)
    }
}
