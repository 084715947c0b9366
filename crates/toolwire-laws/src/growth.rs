//! What ten times the input costs: in instructions where callgrind counts them,
//! else in time of the processor.
//!
//! Instructions are the better measure, because no other program and no cache
//! changes their number, so ten times the input may cost at most eleven times as
//! many. A plain test cannot count them: reading the processor's counters takes
//! `perf_event_open`, which Debian refuses to ordinary users
//! (`kernel.perf_event_paranoid` is 3), which most virtual machines do not have,
//! and which safe Rust cannot call. Valgrind can, fifty times slower: `cargo xtask
//! growth` runs the tests under callgrind, which writes a file each time that
//! `counted` returns.
//!
//! Without valgrind every growth test measures the time that its own thread spends
//! on the processor, and the limit has a margin for what a clock cannot tell apart.

use std::fmt;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The costs of an input and of one that is ten times as long.
#[derive(Clone, Copy)]
pub struct Growth {
    /// Nanoseconds or instructions.
    one: u64,
    ten: u64,
    unit: Unit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Time,
    Instructions,
}

impl Growth {
    /// Measures `run` on what `make` makes of a size and of ten times that size.
    pub fn of<T>(size: usize, make: impl Fn(usize) -> T, run: impl Fn(&T)) -> Self {
        Self::over(&Inputs::new(size, make), run)
    }

    /// Measures `run` on inputs that others run on too.
    pub fn over<T>(inputs: &Inputs<T>, run: impl Fn(&T)) -> Self {
        let Inputs { one, ten } = inputs;
        match std::env::var(CALLGRIND_OUT) {
            Ok(out) => Self::in_instructions(one, ten, run, &out),
            Err(_) => Self::in_time(one, ten, run),
        }
    }

    /// The least of several runs counts, because whatever disturbs a run makes
    /// it longer, and a case that seems to be over the limit is measured again.
    fn in_time<T>(one: &T, ten: &T, run: impl Fn(&T)) -> Self {
        let mut growth = Self { one: u64::MAX, ten: u64::MAX, unit: Unit::Time };
        let cost = |input| processor_time(|| run(input)).as_nanos() as u64;
        for _ in 0..MOST_ATTEMPTS {
            for _ in 0..3 {
                growth.one = growth.one.min(cost(one));
            }
            growth.ten = growth.ten.min(cost(ten));
            if !growth.is_over() {
                break;
            }
        }
        growth
    }

    /// The first run is not counted: it also makes what is made once, such as
    /// tables and the links to shared libraries.
    fn in_instructions<T>(one: &T, ten: &T, run: impl Fn(&T), out: &str) -> Self {
        run(one);
        let [one, ten] = [one, ten].map(|input| instructions(&|| run(input), out));
        Self { one, ten, unit: Unit::Instructions }
    }

    /// Whether the cost grows faster than the input. What takes no time at all
    /// says nothing about how it grows.
    pub fn is_over(self) -> bool {
        self.measured().is_some_and(|factor| factor > self.limit())
    }

    /// How many times as much ten times the input costs. `None` if even that is
    /// too little to be measured.
    pub fn measured(self) -> Option<f64> {
        let negligible = self.unit == Unit::Time && self.ten <= NEGLIGIBLE.as_nanos() as u64;
        (!negligible).then(|| self.factor())
    }

    /// How many times as much it may cost. A clock also sees what is not the work:
    /// caches that are full, and memory that is handed out for the first time. On a
    /// busy machine that has come to 14 times. What grows with the square of its
    /// input costs a hundred times as much.
    fn limit(self) -> f64 {
        match self.unit {
            Unit::Instructions => 11.0,
            Unit::Time if cfg!(debug_assertions) => 16.0,
            Unit::Time => 20.0,
        }
    }

    fn factor(self) -> f64 {
        self.ten as f64 / self.one.max(1) as f64
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (factor, limit) = (self.factor(), self.limit());
        match self.unit {
            Unit::Instructions => write!(f, "{} to {} instructions", self.one, self.ten)?,
            Unit::Time => {
                let [one, ten] = [self.one, self.ten].map(Duration::from_nanos);
                write!(f, "{one:.1?} to {ten:.1?}")?;
            }
        }
        write!(f, ", {factor:.1} times of at most {limit}")
    }
}

/// An input, and one that is ten times as long.
pub struct Inputs<T> {
    one: T,
    ten: T,
}

impl<T> Inputs<T> {
    /// What `make` makes of a size and of ten times that size. Counted instructions
    /// are exact and slow, so there a third of the size is enough.
    pub fn new(size: usize, make: impl Fn(usize) -> T) -> Self {
        let size = match std::env::var_os(CALLGRIND_OUT) {
            Some(_) => (size / 3).max(10),
            None => size,
        };
        Self { one: make(size), ten: make(size * 10) }
    }
}

/// Whether a case is to be measured: `TOOLWIRE_GROWTH` is a part of the names of
/// those that are.
pub fn is_wanted(case: &str) -> bool {
    std::env::var("TOOLWIRE_GROWTH").map_or(true, |part| case.contains(&part))
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

/// The instructions of `run`, from the file that callgrind writes behind it.
///
/// # Panics
///
/// If callgrind has written none: the program does not run under it.
#[expect(clippy::panic, reason = "a test fails by panicking")]
fn instructions(run: &dyn Fn(), out: &str) -> u64 {
    // Callgrind numbers its files, so one at a time.
    static FILES: Mutex<usize> = Mutex::new(0);
    let mut number = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    counted(run);
    *number += 1;
    let path = format!("{out}.{number}");
    let report = fs::read_to_string(&path);
    let report = report.unwrap_or_else(|error| panic!("callgrind counts nothing: {path}: {error}"));
    // The next run would find a million files here.
    drop(fs::remove_file(&path));
    let count = report.lines().find_map(|line| line.strip_prefix("summary: "));
    let count = count.and_then(|count| count.trim().parse().ok());
    count.unwrap_or_else(|| panic!("no count in {path}"))
}

/// What callgrind counts. It knows the function by its name.
#[inline(never)]
fn counted(run: &dyn Fn()) {
    run();
}

/// The environment variable with the name of the files that callgrind writes.
const CALLGRIND_OUT: &str = "TOOLWIRE_CALLGRIND_OUT";
const NEGLIGIBLE: Duration = Duration::from_micros(300);
const MOST_ATTEMPTS: usize = 6;
