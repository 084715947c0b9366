//! Who writes, and how much at a time.

use std::future::poll_fn;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::*;
use crate::options::SqliteOptions;

/// A runtime with one thread, where one task that blocks would hold up all others.
fn runtime() -> Runtime {
    runtime_with(1)
}

fn runtime_with(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap()
}

/// A file of its own, gone at the end.
struct TestFile(std::path::PathBuf);

impl TestFile {
    fn new(name: &str) -> Self {
        let name = format!("toolwire-writer-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn writer(&self, sync: Sync) -> Arc<Writer> {
        let connector = Connector::new(SqliteOptions { path: self.0.join("store.db"), sync });
        let connection = connector.open_to_write().unwrap();
        connection.execute_batch("CREATE TABLE number (value)").unwrap();
        Arc::new(Writer::start(connector, Some(connection), None).unwrap())
    }

    /// How many transactions the log has. The last page of each says how long the file is.
    fn transactions(&self) -> usize {
        let log = std::fs::read(self.0.join("store.db-wal")).unwrap();
        let frames = log[LOG_HEADER..].chunks_exact(FRAME_HEADER + PAGE);
        let salt = &log[16..24];
        let is_of_this_log = |frame: &&[u8]| &frame[8..16] == salt;
        frames.take_while(is_of_this_log).filter(|frame| frame[4..8] != [0; 4]).count()
    }

    fn numbers(&self) -> Vec<i64> {
        numbers(&self.0.join("store.db"))
    }
}

fn numbers(path: &Path) -> Vec<i64> {
    let connection = Connection::open(path).unwrap();
    let mut select = connection.prepare("SELECT value FROM number ORDER BY value").unwrap();
    let found = select.query_map([], |row| row.get(0)).unwrap();
    found.map(Result::unwrap).collect()
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn write(writer: &Writer, number: i64) -> Result<(), StoreError> {
    let insert = move |connection: &Connection| {
        connection.execute("INSERT INTO number VALUES ($1)", [number])?;
        Ok(())
    };
    writer.run(insert).await
}

/// Keeps the thread that writes at work until the sender is dropped.
fn keep_at_work(runtime: &Runtime, writer: &Arc<Writer>) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel();
    let (begin, begun) = mpsc::channel();
    let writer = Arc::clone(writer);
    let wait = move |_: &Connection| {
        let _ = begin.send(());
        let _ = released.recv_timeout(PATIENCE);
        Ok(())
    };
    runtime.spawn(async move { writer.run(wait).await });
    // It has begun when it says so, and waits in the queue no more.
    begun.recv_timeout(PATIENCE).unwrap();
    release
}

/// Looks at a write once, while the thread that writes is at work.
async fn begin(mut write: Pin<&mut impl Future<Output = Result<(), StoreError>>>) {
    let is_pending = poll_fn(|cx| Poll::Ready(write.as_mut().poll(cx).is_pending())).await;
    assert!(is_pending);
}

/// Lets clients write at the same time, each several times. Returns how many
/// transactions that took.
fn transactions_of(runtime: &Runtime, name: &str, clients: i64, writes: i64) -> usize {
    let file = TestFile::new(name);
    let _context = runtime.enter();
    let writer = file.writer(Sync::Normal);
    let before = file.transactions();
    let clients: Vec<_> = (0..clients)
        .map(|client| {
            let writer = Arc::clone(&writer);
            runtime.spawn(async move {
                for number in 0..writes {
                    write(&writer, client * writes + number).await.unwrap();
                }
            })
        })
        .collect();
    let count = i64::try_from(clients.len()).unwrap();
    runtime.block_on(async {
        for client in clients {
            client.await.unwrap();
        }
    });
    assert_eq!(file.numbers(), (0..count * writes).collect::<Vec<_>>());
    file.transactions() - before
}

#[test]
fn what_comes_while_a_group_is_written_is_one_transaction() {
    for (name, sync) in [("waits-normal", Sync::Normal), ("waits-full", Sync::Full)] {
        let file = TestFile::new(name);
        let runtime = runtime();
        let _context = runtime.enter();
        let writer = file.writer(sync);
        let release = keep_at_work(&runtime, &writer);
        let clients: Vec<_> = (0..32)
            .map(|number| {
                let writer = Arc::clone(&writer);
                runtime.spawn(async move { write(&writer, number).await })
            })
            .collect();
        while writer.jobs.max_capacity() - writer.jobs.capacity() < clients.len() {
            thread::yield_now();
        }
        let before = file.transactions();
        drop(release);
        runtime.block_on(async {
            for client in clients {
                client.await.unwrap().unwrap();
            }
        });
        assert_eq!(file.transactions() - before, 1, "{name}");
    }
}

#[test]
fn nobody_is_forgotten_on_several_threads() {
    let transactions = transactions_of(&runtime_with(4), "threads", 40, 50);
    // Each of them alone would be 2000, and nobody writes twice at a time.
    assert!((50..2000).contains(&transactions), "{transactions}");
}

#[test]
fn a_client_that_is_alone_waits_for_nobody() {
    assert_eq!(transactions_of(&runtime(), "alone", 1, 20), 20);
}

/// Proves that a disk that hangs holds up only those who wait for it, even if there is
/// no other thread.
#[test]
fn work_that_hangs_holds_up_no_other_task() {
    let file = TestFile::new("hangs");
    let runtime = runtime();
    let _context = runtime.enter();
    let writer = file.writer(Sync::Normal);
    let (release, released) = mpsc::channel();
    let hanging = Arc::clone(&writer);
    let hanging = runtime.spawn(async move {
        let wait = move |_: &Connection| Ok(released.recv_timeout(PATIENCE).is_ok());
        hanging.run(wait).await
    });
    // It is released by a task that needs the thread which hangs.
    let other = runtime.spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        release.send(())
    });
    runtime.block_on(async {
        other.await.unwrap().unwrap();
        assert_eq!(timeout(PATIENCE, hanging).await.unwrap().unwrap(), Ok(true));
    });
}

/// Proves that others do not depend on whoever comes first, who may leave or may not
/// look at its write again.
#[test]
fn the_first_may_leave_or_stop_looking() {
    let file = TestFile::new("first");
    let runtime = runtime();
    let _context = runtime.enter();
    let writer = file.writer(Sync::Normal);
    let follower = Arc::clone(&writer);
    let release = keep_at_work(&runtime, &writer);
    let clients = runtime.spawn(async move {
        {
            let mut leaves = pin!(write(&follower, 1));
            begin(leaves.as_mut()).await;
        }
        let mut stays = pin!(write(&follower, 2));
        begin(stays.as_mut()).await;
        drop(release);
        timeout(PATIENCE, write(&follower, 3)).await.unwrap().unwrap();
        stays.await.unwrap();
    });
    runtime.block_on(clients).unwrap();
    assert_eq!(file.numbers(), [1, 2, 3]);
}

/// Proves that what waits is written although the runtime of its clients ends.
#[test]
fn a_runtime_that_ends_loses_no_write() {
    let file = TestFile::new("ends");
    let next = runtime();
    let _context = next.enter();
    let writer = file.writer(Sync::Normal);
    let release = keep_at_work(&next, &writer);
    {
        let runtime = runtime();
        let ending = Arc::clone(&writer);
        runtime.block_on(async {
            let mut waits = pin!(write(&ending, 1));
            begin(waits.as_mut()).await;
        });
    }
    drop(release);
    next.block_on(async { timeout(PATIENCE, write(&writer, 2)).await.unwrap().unwrap() });
    assert_eq!(file.numbers(), [1, 2]);
}

/// Proves that while another process has the file locked, all that wait hear of it when the
/// first does, and not each after another wait of its own.
#[test]
fn a_locked_file_is_waited_for_once() {
    let file = TestFile::new("locked");
    let runtime = runtime();
    let _context = runtime.enter();
    let writer = file.writer(Sync::Normal);
    let other = Connection::open(file.0.join("store.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = Instant::now();
    let clients: Vec<_> = (0..600)
        .map(|number| {
            let writer = Arc::clone(&writer);
            runtime.spawn(async move { write(&writer, number).await })
        })
        .collect();
    runtime.block_on(async {
        for client in clients {
            let locked = client.await.unwrap();
            let is_locked = matches!(locked, Err(StoreError::Unavailable { retry: true, .. }));
            assert!(is_locked, "{locked:?}");
        }
    });
    assert!(start.elapsed() < BUSY * 2, "{:?}", start.elapsed());
    other.execute_batch("COMMIT").unwrap();
    runtime.block_on(async { write(&writer, 1).await.unwrap() });
    assert_eq!(file.numbers(), [1]);
}

#[test]
fn the_log_does_not_grow_for_ever() {
    let file = TestFile::new("log");
    let runtime = runtime();
    let _context = runtime.enter();
    let writer = file.writer(Sync::Normal);
    runtime.block_on(async {
        for _ in 0..40 {
            let fill = |connection: &Connection| {
                connection.execute("INSERT INTO number VALUES (randomblob(1000000))", [])?;
                Ok(())
            };
            writer.run(fill).await.unwrap();
        }
    });
    let log = std::fs::metadata(file.0.join("store.db-wal")).unwrap().len();
    assert!(log < 24 << 20, "{log} bytes");
}

const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const PAGE: usize = 16 << 10;

/// How long something may take that should take no time.
const PATIENCE: Duration = Duration::from_secs(20);
