//! What ten times the input costs, in time of the processor.
//!
//! Instructions would be the better measure, because no other program and no
//! cache changes their number. A plain test cannot count them: reading the
//! processor's counters takes `perf_event_open`, which Debian refuses to ordinary
//! users (`kernel.perf_event_paranoid` is 3), which most virtual machines do not
//! have, and which safe Rust cannot call. Valgrind can, fifty times slower;
//! `cargo bench -p toolwire --bench streams -- --growth` does so for long calls.
//! So every growth test measures the time that its own thread spends on the
//! processor, and the limit has a margin for what a clock cannot tell apart.

use std::fmt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The costs of an input and of one that is ten times as long.
#[derive(Clone, Copy)]
pub struct Growth {
    one: Duration,
    ten: Duration,
}

impl Growth {
    /// Measures `run` on what `make` makes of a size and of ten times that size.
    ///
    /// The least of several runs counts, because whatever disturbs a run makes
    /// it longer, and a case that seems to be over the limit is measured again.
    pub fn of<T>(size: usize, make: impl Fn(usize) -> T, run: impl Fn(&T)) -> Self {
        let (one, ten) = (make(size), make(size * 10));
        let mut growth = Self { one: Duration::MAX, ten: Duration::MAX };
        for _ in 0..MOST_ATTEMPTS {
            for _ in 0..3 {
                growth.one = growth.one.min(processor_time(|| run(&one)));
            }
            growth.ten = growth.ten.min(processor_time(|| run(&ten)));
            if !growth.is_over() {
                break;
            }
        }
        growth
    }

    /// Whether the cost grows faster than the input. What takes no time at all
    /// says nothing about how it grows.
    pub fn is_over(self) -> bool {
        self.ten > NEGLIGIBLE && self.factor() > LIMIT
    }

    /// How many times as much ten times the input costs. `None` if even that is
    /// too little to be measured.
    pub fn measured(self) -> Option<f64> {
        (self.ten > NEGLIGIBLE).then(|| self.factor())
    }

    fn factor(self) -> f64 {
        self.ten.as_secs_f64() / self.one.as_secs_f64().max(1e-9)
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { one, ten } = self;
        write!(f, "{one:.1?} to {ten:.1?}, {:.1} times", self.factor())
    }
}

/// The time that this thread spends on the processor for `run`.
pub fn processor_time(run: impl FnOnce()) -> Duration {
    let before = now();
    run();
    now() - before
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Ten times the input should cost ten times as much. A clock also sees what is
/// not the work: caches that are full, and memory that is handed out for the
/// first time. On a busy machine that has come to 14 times. What grows with the
/// square of its input costs a hundred times as much.
const LIMIT: f64 = if cfg!(debug_assertions) { 16.0 } else { 20.0 };
const NEGLIGIBLE: Duration = Duration::from_micros(300);
const MOST_ATTEMPTS: usize = 6;
