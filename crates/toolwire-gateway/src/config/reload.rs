//! Noticing that a configuration has changed.
//!
//! The files are looked at every two seconds rather than watched: that works
//! on every file system, and also where an orchestrator replaces a folder by a
//! symbolic link.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::Config;
use super::file::{self, LoadError, Loaded};

/// A file was read again.
pub type Change = Result<Box<Config>, LoadError>;

/// Keeps an eye on one configuration and the files it names.
#[derive(Debug)]
pub struct Watch {
    path: PathBuf,
    files: Vec<PathBuf>,
    seen: Vec<Stamp>,
    moving: Option<Vec<Stamp>>,
}

impl Watch {
    /// Watches the configuration in `path`, which was loaded as `loaded`.
    pub fn new(path: &Path, loaded: &Loaded) -> Self {
        let files = loaded.files.clone();
        let seen = files.iter().map(|file| Stamp::of(file)).collect();
        Self { path: path.to_owned(), files, seen, moving: None }
    }

    /// Reads the file again if it, or a file it names, is not as it was.
    pub fn look(&mut self) -> Option<Change> {
        let now: Vec<Stamp> = self.files.iter().map(|file| Stamp::of(file)).collect();
        if now == self.seen {
            return None;
        }
        // An editor may be in the middle of writing, so the file is read when
        // two looks agree about it.
        if self.moving.as_ref() == Some(&now) {
            return Some(self.read());
        }
        self.moving = Some(now);
        None
    }

    /// Reads the file again, whether or not it looks changed.
    pub fn read(&mut self) -> Change {
        let loaded = file::load(&self.path);
        if let Ok(loaded) = &loaded {
            self.files.clone_from(&loaded.files);
        }
        self.seen = self.files.iter().map(|file| Stamp::of(file)).collect();
        self.moving = None;
        loaded.map(|loaded| Box::new(loaded.config))
    }

    /// Hands on every change until nobody wants to know any more. A hangup
    /// signal, which is caught from this call on, has the file read at once.
    pub fn run(self, changes: mpsc::Sender<Change>) -> impl Future<Output = ()> + Send {
        let hangup = Hangup::new();
        self.follow(changes, hangup)
    }

    async fn follow(mut self, changes: mpsc::Sender<Change>, mut hangup: Hangup) {
        let mut clock = interval(EVERY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let change = tokio::select! {
                _ = clock.tick() => self.look(),
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

/// What shows that a file has changed. A file that is not there has none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp(Option<(SystemTime, u64)>);

impl Stamp {
    fn of(path: &Path) -> Self {
        let stamp = |about: std::fs::Metadata| Some((about.modified().ok()?, about.len()));
        Self(std::fs::metadata(path).ok().and_then(stamp))
    }
}

/// The signal that asks a daemon to read its configuration again, where there
/// is one.
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

const EVERY: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests;
