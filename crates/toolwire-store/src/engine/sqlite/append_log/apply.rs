//! From append logs into the tables.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::entry::Entry;
use crate::engine::sql;
use crate::engine::sqlite::failure::Failure;
use crate::id;

/// Where the parts are that entries have brought, by their keys.
pub(super) type Parts = HashMap<i64, Range<u64>>;

/// Moves entries into the tables, inside a transaction: those of a log that no transaction
/// has moved yet. `log` is what the file has from `start` on, and `parts` what is known of
/// what stands before, and then of this too. Returns where the last entry ends.
pub(super) fn apply(
    connection: &Connection,
    name: &str,
    (log, start): (&[u8], u64),
    parts: &mut Parts,
    mut file: &File,
) -> Result<u64, Failure> {
    let mut applied = connection.prepare_cached(APPLIED)?;
    let applied: Option<i64> = applied.query_row(params![name], |row| row.get(0)).optional()?;
    let (mut last, mut end) = (None, 0);
    while let Some((entry, length)) = log.get(end..).and_then(Entry::read) {
        // What follows without being the next one is of an earlier round.
        if last.is_some_and(|last| entry.number != last + 1) {
            break;
        }
        if let (Some(key), Some(part)) = (entry.row.shared, entry.part) {
            let offset = part.as_ptr().addr() - log.as_ptr().addr();
            let at = start + offset as u64;
            parts.insert(key, at..at + part.len() as u64);
        }
        last = Some(entry.number);
        end += length;
        if applied.is_none_or(|applied| entry.number > applied) {
            insert(connection, &entry, parts, &mut file)?;
        }
    }
    if let Some(last) = last.filter(|last| applied.is_none_or(|applied| *last > applied)) {
        connection.prepare_cached(SET_APPLIED)?.execute(params![name, last])?;
    }
    Ok(start + end as u64)
}

fn insert(
    connection: &Connection,
    entry: &Entry<'_>,
    parts: &Parts,
    file: &mut &File,
) -> Result<(), Failure> {
    let Entry { number: _, row, part } = entry;
    // Ids are random, so only the response itself can have this one.
    if row.is_there(connection)? {
        return Ok(());
    }
    if let Some(key) = row.shared
        && !connection.prepare_cached(sql::HAS_SHARED)?.exists(params![key])?
    {
        let mut insert = connection.prepare_cached(sql::INSERT_SHARED)?;
        match part {
            Some(part) => insert.execute(params![key, part])?,
            None => insert.execute(params![key, read_part(parts, key, file)?])?,
        };
    }
    row.insert(connection)?;
    Ok(())
}

fn read_part(parts: &Parts, key: i64, file: &mut &File) -> Result<Vec<u8>, Failure> {
    let lacks = || io::Error::other("the append log lacks a part of a response");
    let place = parts.get(&key).ok_or_else(lacks).map_err(Failure::Io)?;
    let mut part = Vec::new();
    read_at(file, place.clone(), &mut part).map_err(Failure::Io)?;
    Ok(part)
}

/// Reads a part of a file behind what there is.
pub(super) fn read_at(file: &mut &File, place: Range<u64>, bytes: &mut Vec<u8>) -> io::Result<()> {
    let length = place.end - place.start;
    bytes.reserve(usize::try_from(length).map_err(io::Error::other)?);
    file.seek(SeekFrom::Start(place.start))?;
    let read = file.take(length).read_to_end(bytes)?;
    if read as u64 == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Moves what other processes have appended into the tables, inside a transaction. They may
/// still be at work.
pub(super) fn apply_all(connection: &Connection, database: &Path) -> Result<(), Failure> {
    for path in logs(database).map_err(Failure::Io)? {
        if let Some(mut file) = open(&path).map_err(Failure::Io)? {
            apply_file(connection, &path, &mut file)?;
        }
    }
    Ok(())
}

fn apply_file(connection: &Connection, path: &Path, file: &mut File) -> Result<(), Failure> {
    let mut log = Vec::new();
    file.read_to_end(&mut log).map_err(Failure::Io)?;
    apply(connection, &name(path), (&log, 0), &mut Parts::new(), file)?;
    Ok(())
}

/// Moves what processes that are gone have left behind into the tables, and what others have
/// appended so far. Not inside a transaction.
pub(crate) fn recover(connection: &mut Connection, database: &Path) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(IMMEDIATE)?;
    let mut ended = Vec::new();
    for path in logs(database).map_err(Failure::Io)? {
        let Some(mut file) = open(&path).map_err(Failure::Io)? else { continue };
        // Whoever appends has the file locked. On a system without locks nobody seems to be gone.
        let has_ended = file.try_lock().is_ok();
        apply_file(&transaction, &path, &mut file)?;
        if has_ended {
            ended.push((path, file));
        }
    }
    transaction.commit()?;
    for (path, _locked) in &ended {
        let removed = fs::remove_file(path);
        removed.or_else(ignore_missing).map_err(Failure::Io)?;
    }
    forget(connection, database)
}

/// Forgets how far logs had come that are gone. Their files go first: an entry whose log
/// counts as new would be moved again.
pub(super) fn forget(connection: &Connection, database: &Path) -> Result<(), Failure> {
    let mut select = connection.prepare("SELECT name FROM toolwire_append_log")?;
    let names = select.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    for name in names {
        if !log_path(database, &name).map_err(Failure::Io)?.exists() {
            connection.execute("DELETE FROM toolwire_append_log WHERE name = $1", [name])?;
        }
    }
    Ok(())
}

/// Whether there is a log that is not this one.
pub(super) fn has_others(database: &Path, own: Option<&str>) -> bool {
    logs(database).is_ok_and(|logs| logs.iter().any(|path| Some(&*name(path)) != own))
}

/// The logs of a database.
fn logs(database: &Path) -> io::Result<Vec<PathBuf>> {
    let prefix = log_path(database, "")?;
    let (Some(folder), Some(prefix)) = (prefix.parent(), prefix.file_name()) else {
        return Ok(Vec::new());
    };
    let mut logs = Vec::new();
    for found in fs::read_dir(folder)? {
        let found = found?;
        let begins = found.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
        // Somebody may have put a file of another kind here.
        if begins && id::is_random(&name(&found.path())) {
            logs.push(found.path());
        }
    }
    Ok(logs)
}

/// The file of a log. It is beside the file that a link leads to.
pub(super) fn log_path(database: &Path, name: &str) -> io::Result<PathBuf> {
    let mut path = fs::canonicalize(database)?.into_os_string();
    path.push(SUFFIX);
    path.push(name);
    Ok(path.into())
}

/// The name of a log, from its file.
fn name(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.rsplit_once(SUFFIX).map_or_else(String::new, |(_, name)| name.to_owned())
}

/// `None` if somebody has removed it in the meantime.
fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn ignore_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// What the name of a log's file has behind that of the database.
const SUFFIX: &str = "-append-";

const IMMEDIATE: rusqlite::TransactionBehavior = rusqlite::TransactionBehavior::Immediate;

const APPLIED: &str = "SELECT applied FROM toolwire_append_log WHERE name = $1";

const SET_APPLIED: &str = "INSERT INTO toolwire_append_log (name, applied) VALUES ($1, $2) ON CONFLICT (name) \
     DO UPDATE SET applied = excluded.applied";
