//! Opening the file.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::failure::Failure;
use super::{append_log, migrate};
use crate::options::{SqliteOptions, Sync};

/// Opens connections to one file.
#[derive(Clone)]
pub(super) struct Connector {
    options: Arc<SqliteOptions>,
}

impl Connector {
    pub(super) fn new(options: SqliteOptions) -> Self {
        Self { options: Arc::new(options) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.options.path
    }

    pub(super) fn sync(&self) -> Sync {
        self.options.sync
    }

    /// A connection that may write. It makes the file if there is none, and
    /// brings its tables up to date.
    pub(super) fn open_to_write(&self) -> Result<Connection, Failure> {
        make_private_file(self.path()).map_err(Failure::Io)?;
        let mut connection = self.open()?;
        // SQLite takes these two settings only before the first table.
        connection.pragma_update(None, "page_size", PAGE)?;
        // What pruning frees goes back to the disk.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        let sync = match self.options.sync {
            Sync::Full => "FULL",
            Sync::Normal => "NORMAL",
        };
        connection.pragma_update(None, "synchronous", sync)?;
        connection.pragma_update(None, "journal_size_limit", LONGEST_LOG)?;
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        connection.pragma_update(None, "wal_autocheckpoint", FULL_LOG / page)?;
        connection.pragma_update(None, "cache_size", -CACHE_OF_WRITER)?;
        connection.pragma_update(None, "foreign_keys", "OFF")?;
        migrate::run(&mut connection)?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        append_log::recover(&mut connection, self.path())?;
        Ok(connection)
    }

    /// A connection that only reads.
    pub(super) fn open_to_read(&self) -> Result<Connection, Failure> {
        let connection = self.open()?;
        connection.pragma_update(None, "query_only", "ON")?;
        Ok(connection)
    }

    fn open(&self) -> Result<Connection, Failure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(self.path(), flags)?;
        connection.busy_timeout(BUSY)?;
        // Otherwise a statement may be compiled again each time that it gets its values.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    }
}

/// Makes sure that there is a file, and that only its owner can read it. SQLite
/// gives the same permissions to the files that it makes beside it.
///
/// A file that is there is not opened. When a process closes any descriptor of a file, the
/// system drops all of its locks on it, and SQLite would not notice: another process would
/// take itself for the last one and delete the log that this one goes on writing to.
fn make_private_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) => make_private(path, found.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(false);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(path).map(drop)
        }
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn make_private(path: &Path, mut permissions: fs::Permissions) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    if permissions.mode() & 0o077 == 0 {
        return Ok(());
    }
    permissions.set_mode(0o600);
    fs::set_permissions(path, permissions)
}

#[cfg(not(unix))]
fn make_private(_: &Path, _: fs::Permissions) -> io::Result<()> {
    Ok(())
}

/// How long to wait for another process that writes.
pub(super) const BUSY: Duration = Duration::from_secs(5);

/// How many bytes a page has. The writes of a group share large pages, and each page is
/// two calls of the system to write it to the log and two to write it back. For a write
/// that is alone, larger pages are more to copy.
const PAGE: i64 = 16 << 10;

/// After how many bytes the log is written back. Pages that change often are written
/// back once, so a longer log is less work.
const FULL_LOG: i64 = 16 << 20;

/// How long the log may be after it was written back, in bytes.
const LONGEST_LOG: i64 = 64 << 20;

/// How much of the file the connection that writes keeps in memory, in kilobytes:
/// the pages of its indexes, which every write changes.
const CACHE_OF_WRITER: i64 = 8 << 10;

/// More than there are statements.
const STATEMENTS: usize = 64;

#[cfg(test)]
mod tests;
