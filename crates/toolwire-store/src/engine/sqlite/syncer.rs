//! The thread that has the disk confirm what was written without waiting for it.
//!
//! SQLite's log has every write in order and with checksums, so a loss of power
//! takes writes from its end and nothing else. Without this thread that end could
//! be as long as the system keeps it in memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Tells the thread that something was written. The thread ends with it.
pub(super) struct Syncer {
    written: mpsc::SyncSender<()>,
}

impl Syncer {
    pub(super) fn start(path: &Path) -> std::io::Result<Self> {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        let (written, news) = mpsc::sync_channel(1);
        let sync = move || {
            while news.recv().is_ok() {
                thread::sleep(INTERVAL);
                // What is written from here on gets the next turn.
                let _ = news.try_recv();
                // SQLite notices a disk that fails when it writes the log back.
                // The log holds none of its locks, so it may be opened here.
                let _ = File::open(&log).and_then(|log| log.sync_data());
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

const INTERVAL: Duration = Duration::from_secs(1);
