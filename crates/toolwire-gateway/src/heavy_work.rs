//! Work on large documents, away from the threads that serve connections.
//!
//! A thread of the runtime serves many connections in turn, so whatever takes
//! long delays all of them. A large document is translated in place, after the
//! thread has handed its other connections to another one. The work is still
//! part of its request: it borrows what it needs, and a client that disconnects
//! while its request waits for a turn takes the work with it.

use std::num::NonZero;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// The turns of work that takes long.
pub(crate) struct HeavyWork {
    turns: Semaphore,
}

impl Default for HeavyWork {
    /// As many at once as the machine has processors. More would only share
    /// them, and hold more memory meanwhile.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self { turns: Semaphore::new(processors) }
    }
}

impl HeavyWork {
    /// Does work on a document of `size` bytes. If it is large, the work waits
    /// for its turn.
    pub(crate) async fn run<T>(&self, size: usize, work: impl FnOnce() -> T) -> T {
        if size < LARGE {
            return work();
        }
        // The semaphore is never closed.
        let _turn = self.turns.acquire().await;
        in_place(size, work)
    }
}

/// Does work on `size` bytes at once. If they are many, nothing else waits for
/// it.
pub(crate) fn in_place<T>(size: usize, work: impl FnOnce() -> T) -> T {
    let is_multi_threaded = || {
        let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        flavor.is_ok_and(|flavor| flavor == RuntimeFlavor::MultiThread)
    };
    if size >= LARGE && is_multi_threaded() { tokio::task::block_in_place(work) } else { work() }
}

/// The size from which a document may take longer than a few milliseconds, in
/// bytes. The slowest are those with a loss at every few bytes.
const LARGE: usize = 256 * 1024;
