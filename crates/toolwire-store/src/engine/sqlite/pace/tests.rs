//! How long writes wait for others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use super::{LATELY, Pace, WHILE_BUSY, WHILE_CROWDED};

#[test]
fn one_client_never_waits_and_a_crowd_does_until_nothing_comes() {
    let mut pace = Pace::new();
    pace.begin(false);
    assert_eq!(pace.pause(), Duration::ZERO);
    // The first group may be long ago on a machine that is busy.
    let mut crowded = || {
        pace.begin(true);
        let pause = pace.pause();
        // One of a crowd may come alone.
        pace.begin(false);
        (pause, pace.pause())
    };
    let expected = Duration::from_nanos(1)..=WHILE_CROWDED;
    let is_expected = |(first, second)| expected.contains(&first) && expected.contains(&second);
    assert!((0..100).any(|_| is_expected(crowded())));
    pace.rest();
    assert_eq!(pace.pause(), Duration::ZERO);
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).build().unwrap()
}

fn pace(runtime: &Runtime) -> Pace {
    let _context = runtime.enter();
    Pace::new()
}

#[test]
fn a_group_does_not_grow_if_the_runtime_has_no_work() {
    let runtime = runtime();
    let mut pace = pace(&runtime);
    thread::sleep(2 * LATELY);
    assert_eq!(pace.longest_growth(), Duration::ZERO);
}

/// Proves that the time of tasks is counted while they come one after the other.
#[test]
fn a_group_grows_if_the_runtime_never_rests() {
    let runtime = runtime();
    let mut pace = pace(&runtime);
    let is_done = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&is_done);
    let work = runtime.spawn(async move {
        while !stop.load(Ordering::Relaxed) {
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(100) {}
            tokio::task::yield_now().await;
        }
    });
    // The system may give the thread its time in long pieces.
    let begun = Instant::now();
    while pace.longest_growth() != WHILE_BUSY && begun.elapsed() < Duration::from_secs(20) {
        thread::sleep(LATELY);
    }
    assert_eq!(pace.longest_growth(), WHILE_BUSY);
    is_done.store(true, Ordering::Relaxed);
    runtime.block_on(work).unwrap();
}
