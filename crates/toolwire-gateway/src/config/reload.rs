//! Notices when a configuration has changed.
//!
//! The files are polled every two seconds. Polling works on every file system,
//! and also if an orchestrator replaces a folder by a symbolic link.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::Config;
use super::file::{self, LoadError, Loaded};

/// The result of reading a file again.
pub type Change = Result<Box<Config>, LoadError>;

/// Watches one configuration and the files that it names.
#[derive(Debug)]
pub struct ConfigWatcher {
    path: PathBuf,
    files: Vec<PathBuf>,
    stamps: Vec<FileStamp>,
    /// Stamps that differed at the last check.
    changing: Option<Vec<FileStamp>>,
}

impl ConfigWatcher {
    /// Watches the configuration in `path`, which was loaded as `loaded`.
    pub fn new(path: &Path, loaded: &Loaded) -> Self {
        let files = loaded.files.clone();
        let stamps = files.iter().map(|file| FileStamp::of(file)).collect();
        Self { path: path.to_owned(), files, stamps, changing: None }
    }

    /// Reads the file again if it, or a file that it names, has changed.
    pub fn check(&mut self) -> Option<Change> {
        let now: Vec<FileStamp> = self.files.iter().map(|file| FileStamp::of(file)).collect();
        if now == self.stamps {
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
        let loaded = file::load(&self.path);
        if let Ok(loaded) = &loaded {
            self.files.clone_from(&loaded.files);
        }
        self.stamps = self.files.iter().map(|file| FileStamp::of(file)).collect();
        self.changing = None;
        loaded.map(|loaded| Box::new(loaded.config))
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

/// The time and length by which a change of a file is noticed. A missing file
/// has neither.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStamp(Option<(SystemTime, u64)>);

impl FileStamp {
    fn of(path: &Path) -> Self {
        let stamp = |file: std::fs::Metadata| Some((file.modified().ok()?, file.len()));
        Self(std::fs::metadata(path).ok().and_then(stamp))
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
