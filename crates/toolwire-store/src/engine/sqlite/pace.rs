//! How far groups of writes are apart.
//!
//! The fuller a group is, the less each write of it costs. So the thread that writes
//! lets a moment pass between two groups while several clients write at a time, and
//! lets the clients go on first while they have no processor to spare. A client that is
//! alone never waits.

use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeMetrics};

pub(super) struct Pace {
    /// When the last group began.
    last: Instant,
    /// Whether several clients write at a time.
    is_crowded: bool,
    load: Option<Load>,
}

impl Pace {
    /// For writes that come from the runtime of the caller, if there is one.
    pub(super) fn new() -> Self {
        let load = Handle::try_current().ok().map(|runtime| Load::new(runtime.metrics()));
        Self { last: Instant::now(), is_crowded: false, load }
    }

    /// Lets a moment pass after a group, unless clients come one by one. Nobody has to
    /// wake the thread for what comes meanwhile.
    pub(super) fn wait(&mut self) {
        if self.is_crowded {
            thread::sleep(WHILE_CROWDED.saturating_sub(self.last.elapsed()));
        }
    }

    /// Lets the clients go on before a group is put together, if they are busy. The system
    /// often runs a thread that is woken in place of the one that has woken it, so without
    /// this a group would have a write or two, however many clients there are. Returns whether
    /// it has let them.
    pub(super) fn gather(&mut self) -> bool {
        let is_busy = self.load.as_mut().is_some_and(Load::is_high);
        if is_busy {
            thread::yield_now();
        }
        is_busy
    }

    /// Notes that a group begins, and whether it has more than one write. After one that
    /// has, it is crowded until there is a moment in which nothing comes.
    pub(super) fn begin(&mut self, has_several: bool) {
        self.last = Instant::now();
        self.is_crowded |= has_several;
    }

    /// Notes that nothing came.
    pub(super) fn rest(&mut self) {
        self.is_crowded = false;
    }
}

/// How busy the threads of a runtime are.
struct Load {
    metrics: RuntimeMetrics,
    since: Instant,
    /// How long they had been busy then, in all.
    busy: Duration,
    is_high: bool,
}

impl Load {
    fn new(metrics: RuntimeMetrics) -> Self {
        let busy = busy(&metrics);
        Self { metrics, since: Instant::now(), busy, is_high: false }
    }

    /// Whether they have been busy for half of the time lately.
    fn is_high(&mut self) -> bool {
        let passed = self.since.elapsed();
        if passed >= LATELY {
            let busy = busy(&self.metrics);
            let workers = u32::try_from(self.metrics.num_workers()).unwrap_or(u32::MAX);
            let spent = busy.saturating_sub(self.busy);
            self.is_high = spent * 2 >= passed * workers;
            (self.since, self.busy) = (Instant::now(), busy);
        }
        self.is_high
    }
}

fn busy(metrics: &RuntimeMetrics) -> Duration {
    (0..metrics.num_workers()).map(|worker| metrics.worker_total_busy_duration(worker)).sum()
}

/// How far two groups are apart at least while several clients write. It is added
/// to what they wait, so it is short.
const WHILE_CROWDED: Duration = Duration::from_millis(1);

/// Threads count their time after some dozens of tasks, so it takes a while to tell.
const LATELY: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests;
