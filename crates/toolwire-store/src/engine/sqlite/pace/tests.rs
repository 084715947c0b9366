//! When the thread that writes lets a moment pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use super::{LATELY, Pace, WHILE_CROWDED};

#[test]
fn one_client_never_waits_and_a_crowd_does_until_nothing_comes() {
    let mut pace = Pace::new();
    pace.begin(false);
    assert!(!pace.is_crowded);
    pace.begin(true);
    pace.wait();
    assert!(pace.last.elapsed() >= WHILE_CROWDED);
    // One of a crowd may come alone.
    pace.begin(false);
    assert!(pace.is_crowded);
    pace.rest();
    assert!(!pace.is_crowded);
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).build().unwrap()
}

#[test]
fn a_runtime_without_work_is_not_busy() {
    let runtime = runtime();
    let _context = runtime.enter();
    let mut pace = Pace::new();
    thread::sleep(2 * LATELY);
    assert!(!pace.gather());
}

/// Proves that clients go first while they are busy: the time of tasks is counted while they
/// come one after the other.
#[test]
fn a_runtime_that_never_rests_is_busy() {
    let runtime = runtime();
    let _context = runtime.enter();
    let mut pace = Pace::new();
    let is_done = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&is_done);
    let work = runtime.spawn(async move {
        while !stop.load(Ordering::Relaxed) {
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(100) {}
            tokio::task::yield_now().await;
        }
    });
    // Another program may have the processor for a while.
    let start = Instant::now();
    while !pace.gather() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never was");
        thread::sleep(LATELY);
    }
    is_done.store(true, Ordering::Relaxed);
    runtime.block_on(work).unwrap();
}
