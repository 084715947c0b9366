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
            let name = format!("sqlite, sync = {name}");
            runtime.block_on(async { writes(&name, &open(&path, sync).await, writers).await });
        }
    }
    // A database that is there, for example of `cargo bench -p toolwire-store --features postgres -- URL`.
    #[cfg(feature = "postgres")]
    for url in std::env::args().filter(|arg| arg.starts_with("postgres://")) {
        for writers in [1, WRITERS] {
            let store = async { Store::open(Options::postgres(&url)).await.unwrap() };
            runtime.block_on(async { writes("postgres", &store.await, writers).await });
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

/// A turn of an agent: a few kilobytes in three items, and a response object that
/// repeats twenty tools.
fn turn(id: &str, previous: Option<String>) -> Vec<Write> {
    let item = |name: &str, length: usize| Item::new(format!("{id}-{name}"), "x".repeat(length));
    vec![Write::Response(NewResponse {
        previous,
        input: vec![item("call", 500), item("result", 2000)],
        output: vec![item("message", 500)],
        ..NewResponse::new(id, Status::Completed, body())
    })]
}

fn body() -> String {
    let tool = r#"{"type":"function","name":"read_file_0","description":"Reads a part of a file. Lines are numbered from 1.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"The path of the file."},"from":{"type":"integer","minimum":1,"default":1},"encoding":{"type":"string","enum":["utf-8","latin-1"]}},"required":["path"],"additionalProperties":false}}"#;
    let tools: Vec<_> = (0..20).map(|number| tool.replace('0', &number.to_string())).collect();
    format!(r#"{{"object":"response","tools":[{}]}}"#, tools.join(","))
}

async fn writes(name: &str, store: &Store, writers: usize) {
    let before = processor();
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
    let spent = (processor() - before).as_secs_f64() * 1e6 / times.len() as f64;
    let rate = times.len() as f64 / TIME.as_secs_f64();
    let [half, most] = [50, 99].map(|percent| milliseconds(percentile(times.clone(), percent)));
    let case = format!("{name}, {writers} clients");
    println!(
        "{case:<34} p50 {half:>8.3} ms, p99 {most:>8.3} ms, {rate:>8.0} writes/s, {spent:>6.1} µs of \
         processor each"
    );
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

/// The processor time of all threads so far.
fn processor() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = tasks.filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}

fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort();
    times.get(times.len() * percent / 100).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
