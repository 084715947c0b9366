//! New responses, before they are in the tables.
//!
//! A transaction writes whole pages of a table and of its indexes, and a thread has to be
//! woken for it. That costs more than everything else about a response. So whoever stores
//! one that is new and complete appends it to a file, which is one call of the system. What
//! was appended moves into the tables ten times a second, many responses in one transaction,
//! and in any case before something else is written or the response is read.
//!
//! The file is the system's, so it survives the end of the process, however that comes. Each
//! transaction notes how far it has come, so every response moves once, whoever goes on: this
//! process, the next one that opens the database, or another that has it open too. A loss of
//! power costs no more than it does without: the tables are on the disk within about a second
//! (`syncer.rs`), and nothing is only in the file for longer than that.

mod applier;
mod apply;
mod entry;
mod state;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rusqlite::Connection;

pub(super) use self::applier::Applier;
pub(super) use self::apply::recover;
use self::state::State;
use super::failure::Failure;
use super::shared::SharedParts;
use crate::change::Change;
use crate::id;
use crate::record::{FullRecord, Kind};

/// The file that this process appends to, which only it writes.
pub(super) struct AppendLog {
    database: PathBuf,
    state: Mutex<State>,
    /// Whether anybody may append. While nothing can be moved, callers are told why by writing
    /// to the tables.
    is_open: AtomicBool,
    /// What the file is read into, which only the thread that writes does.
    memory: Mutex<Vec<u8>>,
}

/// What other processes have appended that use the same database.
pub(super) struct OtherLogs {
    database: PathBuf,
    own: Option<Arc<AppendLog>>,
}

impl OtherLogs {
    pub(super) fn new(database: &Path, own: Option<Arc<AppendLog>>) -> Self {
        Self { database: database.to_owned(), own }
    }

    /// Whether there may be something.
    pub(super) fn are_there(&self) -> bool {
        let own = self.own.as_ref().and_then(|own| Some(own.state().log.as_ref()?.name.clone()));
        apply::has_others(&self.database, own.as_deref())
    }

    /// Moves it into the tables, inside a transaction.
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), Failure> {
        apply::apply_all(connection, &self.database)
    }
}

impl AppendLog {
    /// There is no file before the first response.
    pub(super) fn new(database: &Path) -> Self {
        Self {
            database: database.to_owned(),
            state: Mutex::default(),
            is_open: AtomicBool::new(true),
            memory: Mutex::default(),
        }
    }

    /// Appends what is written, if that is one response that is new and complete. Returns
    /// whether it is stored. If not, nothing has happened.
    pub(super) fn append(&self, changes: &[Change], shared: &SharedParts) -> bool {
        let [Change::Insert { full, repeats }] = changes else { return false };
        if !is_new_and_complete(full) {
            return false;
        }
        // Nobody waits here, because the caller's thread has others to serve.
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        if !self.is_open.load(Ordering::SeqCst) {
            return false;
        }
        let cut = repeats.as_ref().and_then(|part| shared.known_cut(&full.record, part));
        // The writer finds out what is wrong, and tells it better.
        state.append(&self.database, full, cut.as_ref()).unwrap_or(false)
    }

    /// Whether a response may be here that is not in the tables yet.
    pub(super) fn may_have(&self, id: &str) -> bool {
        self.may(|state| state.waiting.contains(id) || state.moving.contains(id))
    }

    /// Whether anything may be.
    pub(super) fn may_have_any(&self) -> bool {
        self.may(|state| !state.waiting.is_empty() || !state.moving.is_empty())
    }

    /// Nobody waits for whoever appends, who may wait for the disk.
    fn may(&self, holds: impl FnOnce(&State) -> bool) -> bool {
        match self.state.try_lock() {
            Ok(state) => holds(&state),
            Err(TryLockError::Poisoned(poisoned)) => holds(&poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => true,
        }
    }

    /// Moves everything that was appended before the call into the tables.
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), Failure> {
        let applied = self.apply_once(connection).and_then(|()| self.turn_over(connection));
        self.is_open.store(applied.is_ok(), Ordering::SeqCst);
        applied
    }

    fn apply_once(&self, connection: &Connection) -> Result<(), Failure> {
        let span = self.state().begin().map_err(Failure::Io)?;
        let Some(span) = span else { return Ok(()) };
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        span.apply(connection, &mut memory)?;
        self.state().end(&span).map_err(Failure::Io)
    }

    /// Begins again at the start of a file that has become long, also if there is no moment
    /// in which nothing comes. What comes meanwhile is written to the tables.
    fn turn_over(&self, connection: &Connection) -> Result<(), Failure> {
        if self.state().log.as_ref().is_none_or(|log| log.end < LONG_LOG) {
            return Ok(());
        }
        self.is_open.store(false, Ordering::SeqCst);
        self.apply_once(connection)
    }

    /// Gives the room of the file back, if nothing is in it that has not moved.
    fn shrink(&self) {
        if let Some(log) = &self.state().log
            && log.end == 0
        {
            // It is overwritten in any case.
            let _ = log.file.set_len(0);
        }
    }

    /// Removes the file. Everything in it must have moved, and nobody may append any more.
    pub(super) fn close(&self, connection: &Connection) -> Result<(), Failure> {
        if let Some(log) = self.state().log.take() {
            fs::remove_file(log.path).map_err(Failure::Io)?;
            apply::forget(connection, &self.database)?;
        }
        Ok(())
    }

    /// Has the disk confirm what cannot be moved. Anything else is in the tables by now.
    pub(super) fn sync(&self) -> io::Result<()> {
        if self.is_open.load(Ordering::SeqCst) {
            return Ok(());
        }
        let file = self.state().log.as_ref().map(|log| log.file.try_clone()).transpose()?;
        file.map_or(Ok(()), |file| file.sync_data())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a response can be stored without asking the tables anything. Nobody has had a
/// random id before.
fn is_new_and_complete(full: &FullRecord) -> bool {
    let FullRecord { record, rows } = full;
    record.kind == Kind::Response
        && record.status.is_terminal()
        && record.owner.is_none()
        && record.lease.is_none()
        && record.next == 0
        && rows.iter().all(|row| row.section.is_packed())
        && record.bytes <= MOST_BYTES
        && id::is_random(&record.id)
}

/// How many bytes a response has at most. To copy more takes longer than a thread that serves
/// others should.
const MOST_BYTES: i64 = 128 << 10;

/// How long the file may become before it is begun again.
const LONG_LOG: u64 = 8 << 20;

#[cfg(test)]
mod tests;
