//! The thread that has the append log moved into the tables.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::AppendLog;
use crate::engine::sqlite::writer::Writer;

/// Tells the thread that something was appended. The thread ends with it.
pub(in crate::engine::sqlite) struct Applier {
    appended: mpsc::SyncSender<()>,
}

impl Applier {
    pub(in crate::engine::sqlite) fn start(
        log: Arc<AppendLog>,
        writer: Writer,
    ) -> io::Result<Self> {
        let (appended, news) = mpsc::sync_channel(1);
        let thread = ApplierThread { log, writer, news };
        thread::Builder::new().name("toolwire-apply".to_owned()).spawn(move || thread.run())?;
        Ok(Self { appended })
    }

    /// Has moved soon what was appended until now.
    pub(in crate::engine::sqlite) fn appended(&self) {
        // If there is no room, the thread is told already.
        let _ = self.appended.try_send(());
    }
}

struct ApplierThread {
    log: Arc<AppendLog>,
    writer: Writer,
    news: Receiver<()>,
}

impl ApplierThread {
    fn run(self) {
        while self.news.recv().is_ok() {
            self.apply_while_busy();
            self.log.shrink();
        }
    }

    /// Returns when nothing was appended for a while.
    fn apply_while_busy(&self) {
        loop {
            self.apply();
            match self.news.recv_timeout(IDLE) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn apply(&self) {
        let mut pause = INTERVAL;
        loop {
            thread::sleep(pause);
            // What is appended from here on is news again.
            let _ = self.news.try_recv();
            // The writer moves what was appended before it does anything else.
            match self.writer.run_blocking(|_| Ok(())) {
                Ok(()) => return,
                Err(_) => pause = AFTER_FAILURE,
            }
        }
    }
}

/// How long responses gather before they are moved. The more come together, the less each
/// costs.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long to wait after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// After how long without news the room of the file is given back.
const IDLE: Duration = Duration::from_secs(1);
