//! The file that an export is written to.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that takes its name when all of it is written. Until then, and if that
/// never happens, what had the name before stays as it is: it may be the last
/// good backup.
pub(super) struct ExportFile {
    out: BufWriter<File>,
    /// Where it is written and what it becomes. A pipe or a device is written
    /// to as it is.
    names: Option<Names>,
}

struct Names {
    temporary: PathBuf,
    target: PathBuf,
}

impl ExportFile {
    /// Begins a file. The error says why `path` cannot be written, and only that.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let present = match fs::metadata(path) {
            Ok(present) => present,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::beside(path),
            Err(error) => return Err(error),
        };
        if present.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !present.is_file() {
            let out = File::options().write(true).open(path)?;
            return Ok(Self { out: BufWriter::new(out), names: None });
        }
        if present.permissions().readonly() {
            return Err(io::Error::other("it may only be read"));
        }
        // A symbolic link stays one.
        Self::beside(&fs::canonicalize(path)?)
    }

    /// Begins a file beside the one that it becomes, because a file can only be
    /// moved within its file system.
    fn beside(target: &Path) -> io::Result<Self> {
        let name = toolwire_store::random_id(".toolwire-export-");
        let name = name.map_err(|error| io::Error::other(error.to_string()))?;
        let temporary = target.with_file_name(name);
        let out = private_file(&temporary)
            .map_err(|error| explained("no file can be made beside it", &error))?;
        let names = Names { temporary, target: target.to_owned() };
        Ok(Self { out: BufWriter::new(out), names: Some(names) })
    }

    /// Gives the file its name. All of it is on the disk before that.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        let Some(Names { temporary, target }) = &self.names else { return Ok(()) };
        self.out.get_ref().sync_all()?;
        fs::rename(temporary, target)
            .map_err(|error| explained("it cannot be replaced", &error))?;
        #[cfg(unix)]
        if let Some(folder) = target.parent() {
            let here = folder.as_os_str().is_empty();
            // Not every file system can do this for a folder. The file is whole either way.
            let _ = File::open(if here { Path::new(".") } else { folder })
                .and_then(|folder| folder.sync_all());
        }
        self.names = None;
        Ok(())
    }
}

impl Write for ExportFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for ExportFile {
    fn drop(&mut self) {
        if let Some(Names { temporary, target: _ }) = &self.names {
            // It is hidden and private, so what is left of it does no harm.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Whether an export to `path` begins as another file, as it does unless that is a pipe or a
/// device.
pub(super) fn is_written_beside(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |present| present.is_file())
}

/// Whether writing to `path` would write over a file of the store: the database,
/// or one that SQLite or the store keeps beside it, by whatever name.
pub(super) fn belongs_to_store(path: &Path, store: &Path) -> bool {
    let resolved = fs::canonicalize(store).unwrap_or_else(|_| store.to_owned());
    let mut logs = place(store).into_os_string();
    logs.push("-append-");
    if place(path).as_os_str().as_encoded_bytes().starts_with(logs.as_encoded_bytes()) {
        return true;
    }
    ["", "-wal", "-shm", "-journal"].into_iter().any(|suffix| {
        [store, &resolved].into_iter().any(|store| {
            let mut own = store.as_os_str().to_owned();
            own.push(suffix);
            is_same_file(path, Path::new(&own))
        })
    })
}

/// Whether two paths lead to the same file. One that is not there yet has only
/// its name.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(first), Ok(second)) => is_same_inode(&first, &second) || place(one) == place(other),
        (Err(_), Err(_)) => place(one) == place(other),
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

#[cfg(unix)]
fn is_same_inode(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_inode(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// A path without links, as far as that is known.
fn place(path: &Path) -> PathBuf {
    if let Ok(place) = fs::canonicalize(path) {
        return place;
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::canonicalize(folder).map_or_else(|_| path.to_owned(), |folder| folder.join(name))
}

/// A new file that only its owner can read, because it has conversations in it.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn explained(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
