//! The thread that has the disk confirm what was written without waiting for it.
//!
//! SQLite's log has every write in order and with checksums, so a loss of power
//! takes writes from its end and nothing else. Without this thread that end could
//! be as long as the system keeps it in memory.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::append_log::AppendLog;

/// Tells the thread that something was written. The thread ends with it.
pub(super) struct Syncer {
    written: mpsc::SyncSender<()>,
}

impl Syncer {
    pub(super) fn start(path: &Path, appended: Option<Arc<AppendLog>>) -> io::Result<Self> {
        let path = path.to_owned();
        let (written, news) = mpsc::sync_channel(1);
        let sync = move || {
            while news.recv().is_ok() {
                thread::sleep(INTERVAL);
                // What is written from here on gets the next turn.
                let _ = news.try_recv();
                // SQLite notices a disk that fails when it writes the log back.
                let _ = sync_log(&path);
                let _ = appended.as_ref().map(|appended| appended.sync());
            }
        };
        thread::Builder::new().name("toolwire-sync".to_owned()).spawn(sync)?;
        Ok(Self { written })
    }

    /// Has the disk confirm soon what was written until now.
    pub(super) fn written(&self) {
        // If there is no room, the thread is told already.
        let _ = self.written.try_send(());
    }
}

/// Has the disk confirm the log of a file. What is no longer in the log was confirmed when
/// it was written back.
pub(super) fn sync_log(path: &Path) -> io::Result<()> {
    // The log holds none of SQLite's locks, so it may be opened here. Windows flushes only
    // what was opened to be written.
    let log = log_of(path).and_then(|log| File::options().write(true).open(log));
    match log {
        Ok(log) => log.sync_data(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The log of a file. SQLite gives it the name of the file that a link leads to.
fn log_of(path: &Path) -> io::Result<PathBuf> {
    let mut log = fs::canonicalize(path)?.into_os_string();
    log.push("-wal");
    Ok(log.into())
}

const INTERVAL: Duration = Duration::from_secs(1);

#[cfg(all(test, unix))]
mod tests;
