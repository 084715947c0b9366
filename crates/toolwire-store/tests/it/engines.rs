//! The engines under test, each with a clock that the test sets.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use toolwire_store::{Clock, Options, Store, Timestamp};

use crate::postgres_server::{self, PostgresServer};

/// A folder of its own, gone at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolwire-store-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A time that only the test changes.
#[derive(Clone)]
pub(crate) struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_700_000_000_000)))
    }

    pub(crate) fn pass(&self, time: Duration) {
        let time = i64::try_from(time.as_millis()).unwrap();
        self.0.fetch_add(time, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    pub(crate) fn clock(&self) -> Clock {
        let time = self.clone();
        Clock::Custom(Arc::new(move || time.now()))
    }
}

/// A store to test, and what it needs to live.
pub(crate) struct Subject {
    pub(crate) store: Store,
    pub(crate) clock: TestClock,
    pub(crate) name: &'static str,
    _folder: Folder,
}

/// How long things are kept in the tests.
pub(crate) const TTL: Duration = Duration::from_secs(1000);

/// An empty store of each engine, with changed options.
pub(crate) async fn subjects_with(change: impl Fn(&mut Options)) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for name in ["memory", "sqlite", "postgres"] {
        if name == "postgres" && postgres_server::is_left_out() {
            continue;
        }
        let folder = Folder::new("suite");
        let mut options = match name {
            "memory" => Options::memory(),
            "sqlite" => Options::sqlite(folder.path().join("store.db")),
            _ => Options::postgres(PostgresServer::shared().new_database().await),
        };
        let clock = TestClock::new();
        options.clock = clock.clock();
        options.ttl = Some(TTL);
        change(&mut options);
        let store = Store::open(options).await.unwrap();
        subjects.push(Subject { store, clock, name, _folder: folder });
    }
    subjects
}

/// An empty store of each engine.
pub(crate) async fn subjects() -> Vec<Subject> {
    subjects_with(|_| {}).await
}

/// Deletes all that has expired, so much at a time. Returns how much it was.
pub(crate) async fn prune_all(store: &Store, limit: usize) -> u64 {
    let mut all = 0;
    loop {
        let pruned = store.prune(limit).await.unwrap();
        assert!(pruned <= limit as u64, "{pruned}");
        if pruned == 0 {
            return all;
        }
        all += pruned;
    }
}

/// Runs a test on a runtime with threads, as in the gateway.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}
