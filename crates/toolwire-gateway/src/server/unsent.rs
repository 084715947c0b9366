//! What hyper has taken of a response of HTTP/1.1 and not sent yet.
//!
//! hyper takes as much as a request's head may be long before it waits for a
//! client that does not read, which is more than such a client may cost.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

/// How many bytes a connection has taken and not sent.
#[derive(Default)]
pub(super) struct UnsentBytes {
    count: AtomicUsize,
    /// Whether the body waits for room.
    is_waited_for: AtomicBool,
    waiting: Mutex<Option<Waker>>,
}

impl UnsentBytes {
    /// Whether there is room for more of the body. If not, the task is woken when
    /// there is.
    pub(super) fn poll_room(&self, cx: &mut Context<'_>) -> bool {
        if self.count.load(Ordering::Relaxed) < MAX_UNSENT {
            return true;
        }
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        self.is_waited_for.store(true, Ordering::Relaxed);
        false
    }

    /// Whether everything was sent.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Counts what hyper has taken.
    pub(super) fn add(&self, count: usize) {
        self.count.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts what was sent. The head and the framing of chunks are sent, too,
    /// without having been counted before, so the count is a little low.
    pub(super) fn remove(&self, count: usize) {
        // The body and the connection are polled by one task.
        let left = self.count.load(Ordering::Relaxed).saturating_sub(count);
        self.count.store(left, Ordering::Relaxed);
        if left < MAX_UNSENT && self.is_waited_for.swap(false, Ordering::Relaxed) {
            let waker = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

/// How much hyper may keep before it gets no more.
const MAX_UNSENT: usize = 24 * 1024;
