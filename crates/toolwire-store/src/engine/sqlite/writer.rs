//! Writing, one group of writes at a time.
//!
//! A transaction has its price, so everything that waits when one begins becomes one
//! transaction, and nobody gets an answer before its end. A thread (`thread.rs`) writes
//! it, because a disk may hang.
//!
//! While the runtime is busy, a task gathers what is to be written: it lets the runtime do
//! what else is ready, because that may bring more. Then it hands the group over and waits
//! for the thread in place, as if it wrote itself, unless that takes long. So nobody has to
//! be woken from another thread, and everything is still in the processor's caches. It is a
//! task of its own and not that of a client, because a client may leave, or stop reading
//! its answer, while others wait. If the runtime is not busy, gathering would keep those
//! together who have once come together, and the thread finds its groups by itself.

use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::yield_now;

use super::connection::Connector;
use super::failure::Failure;
use super::group::{GroupWriter, Job, Work, Written, stopped};
use super::pace::Pace;
use super::thread;
use crate::error::StoreError;
use crate::options::Sync;

/// Hands work to the thread. The thread ends with it, after it has done what waits.
pub(super) struct Writer {
    queue: Arc<Queue>,
    /// Whether the disk confirms each transaction, which takes milliseconds on many.
    waits_for_disk: bool,
}

impl Writer {
    pub(super) fn start(
        connector: Connector,
        connection: Option<Connection>,
    ) -> std::io::Result<Self> {
        let waits_for_disk = connector.sync() == Sync::Full;
        let queue = Arc::new(Queue::new());
        thread::start(Arc::clone(&queue), GroupWriter::new(connector, connection)?)?;
        Ok(Self { queue, waits_for_disk })
    }

    /// Runs work inside a transaction, and returns after its end. The work may be run again
    /// if others in its group have failed.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, result) = oneshot::channel();
        let job = Box::new(Work::new(work, answer));
        let runtime = if self.waits_for_disk { None } else { Handle::try_current().ok() };
        if self.queue.push(job, runtime.is_some())
            && let Some(runtime) = runtime
        {
            let queue = Arc::clone(&self.queue);
            drop(runtime.spawn(Gathering { queue, has_ended: false }.run()));
        }
        result.await.map_err(|_| stopped())?
    }

    /// Gives pages that are free back to the disk, a bounded number of them.
    pub(super) async fn shrink(&self) -> Result<(), StoreError> {
        self.run(|connection| {
            let mut shrink = connection.prepare_cached("PRAGMA incremental_vacuum(2048)")?;
            let mut rows = shrink.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        })
        .await
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.state().is_closed = true;
        self.queue.turn.notify_one();
    }
}

/// What waits to be written.
pub(super) struct Queue {
    state: Mutex<State>,
    /// Wakes the thread.
    turn: Condvar,
    /// Wakes whoever waits for the thread in place.
    done: Condvar,
}

struct State {
    jobs: Vec<Box<dyn Job>>,
    active: Active,
    pace: Pace,
    /// Whether somebody waits for the thread in place.
    is_awaited: bool,
    /// The group that it gets.
    written: Option<Written>,
    /// How many do not wait in place, because the disk was slow.
    impatient: u32,
    is_closed: bool,
}

/// Who is at work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Active {
    Nobody,
    /// A task gathers what is to be written.
    Task,
    /// The thread writes.
    Thread,
}

impl Queue {
    fn new() -> Self {
        let state = State {
            jobs: Vec::new(),
            active: Active::Nobody,
            pace: Pace::new(),
            is_awaited: false,
            written: None,
            impatient: 0,
            is_closed: false,
        };
        Self { state: Mutex::new(state), turn: Condvar::new(), done: Condvar::new() }
    }

    /// Adds a job. Returns whether the caller has to start a task that gathers more.
    fn push(&self, job: Box<dyn Job>, can_gather: bool) -> bool {
        let mut state = self.state();
        state.jobs.push(job);
        if state.active != Active::Nobody {
            return false;
        }
        let gathers = can_gather && state.pace.longest_growth() > Duration::ZERO;
        state.active = if gathers { Active::Task } else { Active::Thread };
        if !gathers {
            self.turn.notify_one();
        }
        gathers
    }

    /// Waits for the thread's turn. `false` if there will be none.
    pub(super) fn wait_for_turn(&self) -> bool {
        let mut state = self.state();
        while state.active != Active::Thread {
            if state.is_closed && state.active == Active::Nobody {
                return false;
            }
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    /// The next group of the thread. If there is none, the thread's turn has ended.
    pub(super) fn next_group(&self) -> Option<Vec<Box<dyn Job>>> {
        let mut state = self.state();
        if state.active != Active::Thread {
            return None;
        }
        if state.jobs.is_empty() {
            state.end_turn();
            return None;
        }
        let has_several = state.jobs.len() > 1;
        state.pace.begin(has_several);
        if state.jobs.len() <= LARGEST_GROUP {
            return Some(mem::take(&mut state.jobs));
        }
        Some(state.jobs.drain(..LARGEST_GROUP).collect())
    }

    /// Tells everybody in a group that was written. If somebody waits for it in place, that
    /// one does it, because it is awake.
    pub(super) fn finish(&self, written: Written, is_log_long: bool) {
        let mut state = self.state();
        if !mem::take(&mut state.is_awaited) || state.written.is_some() {
            drop(state);
            return written.tell();
        }
        state.written = Some(written);
        if state.jobs.is_empty() && !is_log_long {
            // Those who are told may come again before the thread looks.
            state.end_turn();
        }
        drop(state);
        self.done.notify_one();
    }

    /// How long the thread lets pass before its next group.
    pub(super) fn pause(&self) -> Duration {
        self.state().pace.pause()
    }

    /// Hands what there is to the thread, and waits a moment for it. Whoever has waited tells
    /// everybody in the group.
    fn hand_over(&self) {
        let mut state = self.state();
        state.active = Active::Thread;
        self.turn.notify_one();
        if state.impatient > 0 {
            state.impatient -= 1;
            return;
        }
        state.is_awaited = true;
        let waits = |state: &mut State| state.written.is_none();
        let waited = self.done.wait_timeout_while(state, LONGEST_WAIT, waits);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_awaited = false;
        let written = state.written.take();
        if written.is_none() {
            state.impatient = IMPATIENT;
        }
        drop(state);
        if let Some(written) = written {
            written.tell();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end_turn(&mut self) {
        self.active = Active::Nobody;
        self.pace.rest();
    }
}

/// The task that gathers a group. If it ends before, the thread writes what there is.
struct Gathering {
    queue: Arc<Queue>,
    has_ended: bool,
}

impl Gathering {
    /// Has the thread write what waits, after what else is ready has had its chance to add
    /// to it.
    async fn run(mut self) {
        let (begun, mut waiting) = (Instant::now(), 1);
        let longest = self.queue.state().pace.longest_growth();
        loop {
            yield_now().await;
            let found = self.queue.state().jobs.len();
            if found == waiting || found >= LARGEST_GROUP || begun.elapsed() >= longest {
                break;
            }
            waiting = found;
        }
        self.has_ended = true;
        self.queue.hand_over();
    }
}

impl Drop for Gathering {
    fn drop(&mut self) {
        if !self.has_ended {
            self.queue.state().active = Active::Thread;
            self.queue.turn.notify_one();
        }
    }
}

/// How many writes are one transaction at most.
const LARGEST_GROUP: usize = 256;

/// How long somebody waits for the thread in place, and holds up all others on its own
/// thread. Disks that are well take less.
const LONGEST_WAIT: Duration = Duration::from_millis(1);

/// How many do not wait after one that has waited in vain.
const IMPATIENT: u32 = 10;

#[cfg(test)]
mod tests;
