//! Notices when a configuration has changed.
//!
//! The files are polled every two seconds. Polling works on every file system,
//! and also if an orchestrator replaces a folder by a symbolic link.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::Config;
use super::file::{self, LoadError, Loaded};
use super::read_file::{FileStamp, ReadFile};

/// The result of reading a file again.
pub type Change = Result<Box<Config>, LoadError>;

/// Watches one configuration and the files that it names.
#[derive(Debug)]
pub struct ConfigWatcher {
    path: PathBuf,
    files: Vec<ReadFile>,
    /// Stamps that differed at the last check.
    changing: Option<Vec<FileStamp>>,
}

impl ConfigWatcher {
    /// Watches the configuration in `path`, which was loaded as `loaded`.
    pub fn new(path: &Path, loaded: &Loaded) -> Self {
        Self { path: path.to_owned(), files: loaded.files.clone(), changing: None }
    }

    /// Reads the file again if it, or a file that it names, has changed.
    pub fn check(&mut self) -> Option<Change> {
        let now: Vec<FileStamp> = self.files.iter().map(|file| FileStamp::of(&file.path)).collect();
        if self.files.iter().map(|file| &file.stamp).eq(&now) {
            return None;
        }
        // An editor may still be writing, so the file is read when two checks
        // give the same result.
        if self.changing.as_ref() == Some(&now) {
            return Some(self.read());
        }
        self.changing = Some(now);
        None
    }

    /// Reads the file again, whether or not it has changed.
    pub fn read(&mut self) -> Change {
        let (config, files) = file::load_with_files(&self.path);
        // The files of a refused configuration count as well: one of them may be missing,
        // and what it lacks may come.
        self.files = files;
        self.changing = None;
        config.map(Box::new)
    }

    /// Sends every change until the receiver is dropped. From this call on,
    /// `SIGHUP` is caught and makes it read the file at once.
    pub fn run(self, changes: mpsc::Sender<Change>) -> impl Future<Output = ()> + Send {
        let hangup = Hangup::new();
        self.poll(changes, hangup)
    }

    async fn poll(mut self, changes: mpsc::Sender<Change>, mut hangup: Hangup) {
        let mut clock = interval(POLL_INTERVAL);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let change = tokio::select! {
                _ = clock.tick() => self.check(),
                () = hangup.next() => Some(self.read()),
                () = changes.closed() => return,
            };
            if let Some(change) = change
                && changes.send(change).await.is_err()
            {
                return;
            }
        }
    }
}

/// `SIGHUP`, on systems that have it.
struct Hangup {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangup {
    fn new() -> Self {
        Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}

const POLL_INTERVAL: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests;
