//! Durable writes of many clients at a time, and the read of a long chain.
//!
//! What a write costs depends on the disk, so the time of a plain sync is
//! printed first.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark is read by people")]

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use toolwire_store::{
    EngineOptions, Item, NewResponse, Options, Status, Store, Sync, Tenant, Write, random_id,
};

/// Clients at a time.
const WRITERS: usize = 64;

/// How long each case runs.
const TIME: Duration = Duration::from_secs(3);

fn main() {
    // The disk matters, and the system's folder for temporary files may be memory.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("store-bench");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("{:<34} p50 {:>8.3} ms", "sync of 8 KiB", milliseconds(sync_time(&folder)));
    for (name, sync) in [("full", Sync::Full), ("normal", Sync::Normal)] {
        for writers in [1, WRITERS] {
            let path = folder.join(format!("{name}-{writers}.db"));
            runtime.block_on(writes(name, &path, sync, writers));
        }
    }
    runtime.block_on(chains(&folder.join("chain.db")));
    let _ = std::fs::remove_dir_all(&folder);
}

fn sync_time(folder: &Path) -> Duration {
    let mut file = File::create(folder.join("sync")).unwrap();
    let times = (0..100).map(|_| {
        file.write_all(&[1; 8192]).unwrap();
        let start = Instant::now();
        file.sync_data().unwrap();
        start.elapsed()
    });
    percentile(times.collect(), 50)
}

async fn open(path: &Path, sync: Sync) -> Store {
    let mut options = Options::sqlite(path);
    if let EngineOptions::Sqlite(sqlite) = &mut options.engine {
        sqlite.sync = sync;
    }
    Store::open(options).await.unwrap()
}

/// A turn of an agent: a few kilobytes in three items.
fn turn(id: &str, previous: Option<String>) -> Vec<Write> {
    let item = |name: &str, length: usize| Item::new(format!("{id}-{name}"), "x".repeat(length));
    vec![Write::Response(NewResponse {
        previous,
        input: vec![item("call", 500), item("result", 2000)],
        output: vec![item("message", 500)],
        ..NewResponse::new(id, Status::Completed, "x".repeat(2000))
    })]
}

async fn writes(name: &str, path: &Path, sync: Sync, writers: usize) {
    let store = open(path, sync).await;
    let end = Instant::now() + TIME;
    let tasks: Vec<_> = (0..writers)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut times = Vec::new();
                while Instant::now() < end {
                    let writes = turn(&random_id("resp_").unwrap(), None);
                    let start = Instant::now();
                    store.write(&Tenant::single(), writes).await.unwrap();
                    times.push(start.elapsed());
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    let rate = times.len() as f64 / TIME.as_secs_f64();
    let [half, most] = [50, 99].map(|percent| milliseconds(percentile(times.clone(), percent)));
    let case = format!("sqlite, sync = {name}, {writers} clients");
    println!("{case:<34} p50 {half:>8.3} ms, p99 {most:>8.3} ms, {rate:>8.0} writes/s");
}

async fn chains(path: &Path) {
    let store = open(path, Sync::Normal).await;
    let mut previous: Option<String> = None;
    for length in 1..=500 {
        let id = random_id("resp_").unwrap();
        store.write(&Tenant::single(), turn(&id, previous)).await.unwrap();
        if [5, 50, 500].contains(&length) {
            let mut times = Vec::new();
            for _ in 0..50 {
                let start = Instant::now();
                store.chain(&Tenant::single(), &id).await.unwrap().unwrap();
                times.push(start.elapsed());
            }
            let case = format!("chain of {length}");
            println!("{case:<34} p50 {:>8.3} ms", milliseconds(percentile(times, 50)));
        }
        previous = Some(id);
    }
}

fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort();
    times.get(times.len() * percent / 100).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
