//! The file, and what is in it that has not moved.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::apply::{self, Parts};
use super::entry::Entry;
use crate::engine::shared_parts::Cut;
use crate::engine::sqlite::failure::Failure;
use crate::engine::sqlite::new_row::NewRow;
use crate::engine::sqlite::writer;
use crate::engine::stored_body::StoredBody;
use crate::id;
use crate::packed;
use crate::record::FullRecord;

#[derive(Default)]
pub(super) struct State {
    pub(super) log: Option<Log>,
    /// The ids of responses that are not in the tables yet.
    pub(super) waiting: HashSet<String>,
    /// The ids of those that are being moved.
    pub(super) moving: HashSet<String>,
    buffer: Vec<u8>,
    /// Until when the disk counts as slow.
    pub(super) slow_until: Option<Instant>,
}

pub(super) struct Log {
    pub(super) file: File,
    /// The same file, for the thread that moves.
    reader: File,
    pub(super) path: PathBuf,
    pub(super) name: String,
    /// How far the entries have moved into the tables.
    start: u64,
    pub(super) end: u64,
    /// The number of the next entry.
    next: i64,
    /// The parts that entries of this round have brought.
    parts: Parts,
}

/// Entries to move.
pub(super) struct Span {
    reader: File,
    name: String,
    place: Range<u64>,
    parts: Parts,
}

impl State {
    /// Appends a response. Returns whether it is stored. If not, nothing has happened.
    pub(super) fn append(
        &mut self,
        database: &Path,
        full: &FullRecord,
        cut: Option<&Cut>,
    ) -> io::Result<bool> {
        let Self { log, waiting, moving, buffer, slow_until } = self;
        let id = &full.record.id;
        if waiting.contains(id) || moving.contains(id) {
            return Ok(false);
        }
        let began = Instant::now();
        if slow_until.is_some_and(|until| began < until) {
            return Ok(false);
        }
        let log = match log {
            Some(log) => log,
            None => log.insert(Log::create(database)?),
        };
        if log.end > LONGEST_LOG {
            return Ok(false);
        }
        let stored = StoredBody::of(full, cut);
        let packed = (!full.rows.is_empty()).then(|| Cow::Owned(packed::pack(full.rows.iter())));
        let row = NewRow::of(full, &stored, packed);
        let part = cut.filter(|cut| !log.parts.contains_key(&cut.key));
        let part = part.map(|cut| cut.part(&full.record.body));
        buffer.clear();
        let part = Entry { number: log.next, row, part }.write(buffer);
        if let Err(error) = log.file.write_all(buffer) {
            // What was written of it is overwritten by the next entry.
            log.file.seek(io::SeekFrom::Start(log.end))?;
            return Err(error);
        }
        if let (Some(cut), Some(part)) = (cut, part) {
            let at = |index: usize| log.end + index as u64;
            log.parts.insert(cut.key, at(part.start)..at(part.end));
        }
        log.end += buffer.len() as u64;
        log.next += 1;
        waiting.insert(id.clone());
        buffer.shrink_to(LARGEST_BUFFER);
        let now = Instant::now();
        *slow_until = (now - began > SLOW).then(|| now + WHILE_SLOW);
        Ok(true)
    }

    /// What is to be moved.
    pub(super) fn begin(&mut self) -> io::Result<Option<Span>> {
        let Some(log) = self.log.as_mut().filter(|log| log.start < log.end) else {
            return Ok(None);
        };
        self.moving.extend(self.waiting.drain());
        Ok(Some(Span {
            reader: log.reader.try_clone()?,
            name: log.name.clone(),
            place: log.start..log.end,
            parts: log.parts.clone(),
        }))
    }

    /// Notes that it has moved.
    pub(super) fn end(&mut self, span: &Span) -> io::Result<()> {
        self.moving.clear();
        let Some(log) = &mut self.log else { return Ok(()) };
        log.start = span.place.end;
        if log.start == log.end {
            // The same pages of the file are cheaper to write than others.
            log.file.seek(io::SeekFrom::Start(0))?;
            (log.start, log.end) = (0, 0);
            log.parts.clear();
        }
        Ok(())
    }
}

impl Span {
    /// `memory` is what was used for this before, because fresh memory costs as much as reading
    /// into it.
    pub(super) fn apply(
        &self,
        connection: &Connection,
        memory: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let Self { reader, name, place, parts } = self;
        let (mut parts, mut start) = (parts.clone(), place.start);
        writer::transaction(connection, || {
            while start < place.end {
                memory.clear();
                let piece = start..place.end.min(start + PIECE);
                apply::read_at(&mut &*reader, piece, memory).map_err(Failure::Io)?;
                let end = apply::apply(connection, name, (memory, start), &mut parts, reader)?;
                if end == start {
                    let reason = "the append log is not what was written to it";
                    return Err(Failure::Io(io::Error::other(reason)));
                }
                start = end;
            }
            Ok(())
        })
    }
}

impl Log {
    fn create(database: &Path) -> io::Result<Self> {
        let name = id::random_id("").map_err(io::Error::other)?;
        let path = apply::log_path(database, &name)?;
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        // The file of a process that is gone has no lock, and is removed by whoever sees it.
        // Somebody may have taken this one for such a file until now.
        file.try_lock().map_err(io::Error::other)?;
        if !path.exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let reader = File::open(&path)?;
        Ok(Self { file, reader, path, name, start: 0, end: 0, next: 1, parts: Parts::new() })
    }
}

/// How much memory is kept for the next entry.
const LARGEST_BUFFER: usize = 256 << 10;

/// How much is read at a time, so that it stays near the processor. It is longer than any entry.
const PIECE: u64 = 512 << 10;

/// How long it may become while nothing can be moved. What comes then goes to the tables.
const LONGEST_LOG: u64 = 64 << 20;

/// After how long a disk counts as slow. The thread that appends serves others, who would
/// wait too.
const SLOW: Duration = Duration::from_millis(10);

/// How long a slow disk is left to the thread that writes.
pub(super) const WHILE_SLOW: Duration = Duration::from_secs(1);
