//! The thread that writes, and the groups it writes in.
//!
//! A transaction has its price, and with `Sync::Full` the disk has to confirm it,
//! which takes milliseconds on many disks. So everything that waits when the
//! thread is ready becomes one transaction, and nobody gets an answer before it.
//! `pace.rs` decides when it is ready.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use super::append_log::AppendLog;
use super::connection::{BUSY, Connector};
use super::failure::Failure;
use super::migrate;
use super::pace::Pace;
use super::syncer::Syncer;
use crate::error::StoreError;
use crate::options::Sync;

/// Hands work to the thread that writes. The thread ends with the last handle,
/// after it has done what waits.
#[derive(Clone)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Box<dyn Job>>,
}

impl Writer {
    pub(super) fn start(
        connector: Connector,
        connection: Option<Connection>,
        log: Option<Arc<AppendLog>>,
    ) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel(LONGEST_QUEUE);
        let syncer = match connector.sync() {
            Sync::Full => None,
            Sync::Normal => Some(Syncer::start(connector.path(), log.clone())?),
        };
        let pace = Pace::new();
        let is_locked = false;
        let thread = WriterThread { connector, connection, queue, log, pace, is_locked, syncer };
        thread::Builder::new().name("toolwire-store".to_owned()).spawn(|| thread.run())?;
        Ok(Self { jobs })
    }

    /// Runs work inside a transaction, and returns after its end. The work may be run again
    /// if others in its group have failed.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, result) = oneshot::channel();
        let job = Work { work, value: None, answer };
        self.jobs.send(Box::new(job)).await.map_err(|_| stopped())?;
        result.await.map_err(|_| stopped())?
    }

    /// The same for a thread that may wait.
    pub(super) fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, result) = oneshot::channel();
        let job = Work { work, value: None, answer };
        self.jobs.blocking_send(Box::new(job)).map_err(|_| stopped())?;
        result.blocking_recv().map_err(|_| stopped())?
    }

    /// Gives pages that are free back to the disk, a bounded number of them. They are used
    /// again also if they cannot be given back, as on a disk that is full.
    pub(super) async fn shrink(&self) {
        for _ in 0..SHRINK_STEPS {
            if self.shrink_a_little().await != Ok(Free::Some) {
                return;
            }
        }
    }

    /// Moves so few pages that the log has room for them, and lets others write in between.
    async fn shrink_a_little(&self) -> Result<Free, StoreError> {
        self.run(|connection| {
            let mut shrink = connection.prepare_cached("PRAGMA incremental_vacuum(256)")?;
            let mut rows = shrink.query([])?;
            while rows.next()?.is_some() {}
            let free: i64 =
                connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
            Ok(if free > 0 { Free::Some } else { Free::None })
        })
        .await
    }
}

/// Whether there are pages that are free.
#[derive(Debug, PartialEq, Eq)]
enum Free {
    Some,
    None,
}

/// Work with a place for its result.
trait Job: Send {
    /// Does the work, but tells nobody.
    fn run(&mut self, connection: &Connection) -> Result<(), Failure>;

    /// Tells whoever waits.
    fn finish(self: Box<Self>, result: Result<(), StoreError>);
}

struct Work<T, F> {
    work: F,
    value: Option<T>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: FnMut(&Connection) -> Result<T, Failure> + Send> Job for Work<T, F> {
    fn run(&mut self, connection: &Connection) -> Result<(), Failure> {
        self.value = Some((self.work)(connection)?);
        Ok(())
    }

    fn finish(self: Box<Self>, result: Result<(), StoreError>) {
        let Self { work: _, value, answer } = *self;
        // Who has stopped waiting does not want to know.
        let _ = answer.send(result.and_then(|()| value.ok_or_else(stopped)));
    }
}

struct WriterThread {
    connector: Connector,
    connection: Option<Connection>,
    queue: mpsc::Receiver<Box<dyn Job>>,
    /// Holds what comes before everything that is in the queue.
    log: Option<Arc<AppendLog>>,
    pace: Pace,
    /// Whether another process had the file locked when a group was to be written.
    is_locked: bool,
    /// Has the disk confirm, if no transaction waits for it.
    syncer: Option<Syncer>,
}

impl WriterThread {
    fn run(mut self) {
        while let Some(first) = self.next() {
            self.pace.gather();
            let mut group = vec![first];
            while group.len() < LARGEST_GROUP {
                let Ok(next) = self.queue.try_recv() else { break };
                group.push(next);
            }
            self.pace.begin(group.len() > 1);
            self.write(group);
            if let Some(syncer) = &self.syncer {
                syncer.written();
            }
        }
        // Whoever opens the file next does what cannot be done here.
        if self.apply_log().is_ok()
            && let (Some(connection), Some(log)) = (&self.connection, &self.log)
        {
            let _ = log.close(connection);
        }
    }

    /// The first job of the next group. `None` after the last one.
    fn next(&mut self) -> Option<Box<dyn Job>> {
        self.pace.wait();
        match self.queue.try_recv() {
            Ok(job) => Some(job),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                self.pace.rest();
                self.queue.blocking_recv()
            }
        }
    }

    /// Writes a group. If the group as a whole fails, each of it is tried
    /// alone, so that one write that does not fit fails alone. But if none of it can be
    /// written, all of it fails at once: to find out again, each would wait for as long as
    /// the group has.
    fn write(&mut self, mut group: Vec<Box<dyn Job>>) {
        let outcome = match self.apply_log().and_then(|()| self.connection()) {
            Ok(connection) => transact(connection, &mut group),
            Err(failure) => {
                self.note(Some(&failure));
                let error = failure.into_store_error();
                return group.into_iter().for_each(|job| job.finish(Err(error.clone())));
            }
        };
        self.note(outcome.as_ref().err());
        match outcome {
            Ok(results) => {
                for (job, result) in group.into_iter().zip(results) {
                    job.finish(result);
                }
            }
            Err(failure) if group.len() == 1 || failure.is_of_all() => {
                let error = failure.into_store_error();
                group.into_iter().for_each(|job| job.finish(Err(error.clone())));
            }
            Err(_) => group.into_iter().for_each(|job| self.write(vec![job])),
        }
    }

    /// Notes how a group ended. While another process has the file locked, whoever comes
    /// hears of it soon and does not wait as long as the first did.
    fn note(&mut self, failure: Option<&Failure>) {
        let Some(connection) = &self.connection else { return };
        let is_locked = failure.is_some_and(Failure::is_lock);
        let is_usable = if is_locked == self.is_locked {
            Ok(())
        } else {
            connection.busy_timeout(if is_locked { STILL_BUSY } else { BUSY })
        };
        self.is_locked = is_locked;
        if is_usable.is_err() || !connection.is_autocommit() {
            // A transaction that could not be ended would be in everybody's way.
            (self.connection, self.is_locked) = (None, false);
        }
    }

    /// Moves what was appended into the tables.
    fn apply_log(&mut self) -> Result<(), Failure> {
        let Some(log) = self.log.clone().filter(|log| log.may_have_any()) else { return Ok(()) };
        log.apply(self.connection()?)
    }

    fn connection(&mut self) -> Result<&Connection, Failure> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connector.open_to_write()?,
        };
        Ok(self.connection.insert(connection))
    }
}

/// Runs a group in one transaction. Jobs that are refused leave no trace and do
/// not touch the others.
fn transact(
    connection: &Connection,
    group: &mut [Box<dyn Job>],
) -> Result<Vec<Result<(), StoreError>>, Failure> {
    // To undo one of several jobs, SQLite would have to copy every page that each
    // of them changes. Few are refused, so they are told apart only then.
    let together =
        transaction(connection, || group.iter_mut().try_for_each(|job| job.run(connection)));
    match together {
        Ok(()) => Ok(group.iter().map(|_| Ok(())).collect()),
        Err(Failure::Refused(error)) if group.len() == 1 => Ok(vec![Err(error)]),
        Err(Failure::Refused(_)) => transaction(connection, || {
            group.iter_mut().map(|job| run_alone(connection, job.as_mut())).collect()
        }),
        Err(failure) => Err(failure),
    }
}

/// Commits work that succeeds, and undoes any other.
pub(super) fn transaction<T>(
    connection: &Connection,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let done = migrate::known_version(connection).and_then(|_| work());
    let committed = done.and_then(|done| {
        connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(done)
    });
    if committed.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    committed
}

fn run_alone(
    connection: &Connection,
    job: &mut dyn Job,
) -> Result<Result<(), StoreError>, Failure> {
    connection.prepare_cached("SAVEPOINT job")?.execute([])?;
    let result = match job.run(connection) {
        Ok(()) => Ok(()),
        Err(Failure::Refused(error)) => {
            connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
            Err(error)
        }
        Err(failure) => return Err(failure),
    };
    connection.prepare_cached("RELEASE job")?.execute([])?;
    Ok(result)
}

fn stopped() -> StoreError {
    StoreError::Unavailable { reason: "the store has stopped".to_owned(), retry: false }
}

/// How many writes may wait before their callers wait for room.
const LONGEST_QUEUE: usize = 1024;

/// How often pages are given back in one go.
const SHRINK_STEPS: usize = 8;

/// How long to wait for another process that writes, if it has been waited for before.
const STILL_BUSY: Duration = Duration::from_millis(100);

/// How many writes are one transaction at most.
const LARGEST_GROUP: usize = 256;

#[cfg(test)]
mod tests;
