//! One transaction for a group of writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::Connection;
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use tokio::sync::oneshot;

use super::connection::{Connector, PAGES_OF_LOG};
use super::failure::Failure;
use super::syncer::Syncer;
use crate::error::StoreError;
use crate::options::Sync;

/// Writes groups.
pub(super) struct GroupWriter {
    connector: Connector,
    connection: Option<Connection>,
    /// How many pages the log has.
    log: Arc<AtomicI64>,
    /// Has the disk confirm, if no transaction waits for it.
    syncer: Option<Syncer>,
}

impl GroupWriter {
    pub(super) fn new(
        connector: Connector,
        mut connection: Option<Connection>,
    ) -> std::io::Result<Self> {
        let log = Arc::default();
        if let Some(connection) = &mut connection {
            watch(connection, &log).map_err(std::io::Error::other)?;
        }
        let syncer = match connector.sync() {
            Sync::Full => None,
            Sync::Normal => Some(Syncer::start(connector.path())?),
        };
        Ok(Self { connector, connection, log, syncer })
    }

    /// Writes a group. Nobody is told yet.
    pub(super) fn write(&mut self, mut group: Vec<Box<dyn Job>>) -> Written {
        let results = self.results(&mut group);
        if let Some(syncer) = &self.syncer {
            syncer.written();
        }
        Written { group, results }
    }

    /// What came of each job. If the group as a whole fails, each of it is tried alone,
    /// so that one write that does not fit fails alone.
    fn results(&mut self, group: &mut [Box<dyn Job>]) -> Vec<Result<(), StoreError>> {
        let outcome = match self.connection() {
            Ok(connection) => transact(connection, group),
            Err(failure) => return vec![Err(failure.into_store_error()); group.len()],
        };
        match outcome {
            Ok(results) => results,
            Err(failure) if group.len() == 1 => vec![Err(failure.into_store_error())],
            Err(_) => group.chunks_mut(1).flat_map(|job| self.results(job)).collect(),
        }
    }

    /// Whether the log should be written back.
    pub(super) fn is_log_long(&self) -> bool {
        self.log.load(Ordering::Relaxed) >= PAGES_OF_LOG
    }

    /// Writes the log back, as far as nobody reads it.
    pub(super) fn write_log_back(&mut self) {
        if let Ok(connection) = self.connection() {
            // If it fails, the log stays as long as it is until the next try.
            let _ = connection.wal_checkpoint_v2(Some("main"), CheckpointMode::PASSIVE);
        }
        self.log.store(0, Ordering::Relaxed);
    }

    fn connection(&mut self) -> Result<&Connection, Failure> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let mut connection = self.connector.open_to_write()?;
                watch(&mut connection, &self.log)?;
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }
}

/// Counts the pages of the log. SQLite itself does not write it back any more, because
/// it would do so at the end of a transaction that somebody waits for.
fn watch(connection: &mut Connection, log: &Arc<AtomicI64>) -> rusqlite::Result<()> {
    let log = Arc::clone(log);
    connection.wal_hook(Some(move |_: &mut Wal, pages| {
        log.store(i64::from(pages), Ordering::Relaxed);
        Ok(())
    }))
}

/// A group that was written, and what came of it.
#[must_use]
pub(super) struct Written {
    group: Vec<Box<dyn Job>>,
    results: Vec<Result<(), StoreError>>,
}

impl Written {
    /// Tells everybody in the group.
    pub(super) fn tell(self) {
        for (job, result) in self.group.into_iter().zip(self.results) {
            job.finish(result);
        }
    }
}

/// Work with a place for its result.
pub(super) trait Job: Send {
    /// Does the work, but tells nobody.
    fn run(&mut self, connection: &Connection) -> Result<(), Failure>;

    /// Tells whoever waits.
    fn finish(self: Box<Self>, result: Result<(), StoreError>);
}

pub(super) struct Work<T, F> {
    work: F,
    value: Option<T>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Work<T, F> {
    pub(super) fn new(work: F, answer: oneshot::Sender<Result<T, StoreError>>) -> Self {
        Self { work, value: None, answer }
    }
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
fn transaction<T>(
    connection: &Connection,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let committed = work().and_then(|done| {
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

pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable { reason: "the store has stopped".to_owned(), retry: false }
}
