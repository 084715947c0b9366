//! Lines on their way out. The requests that write them never wait for whoever
//! reads them.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// Where lines go.
pub(crate) struct Log {
    lines: Option<SyncSender<Vec<u8>>>,
    lost: AtomicU64,
}

impl Log {
    /// Lines to `out`, written by a thread of its own.
    pub(crate) fn new(out: Box<dyn Write + Send>) -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("toolwire-log".to_owned());
        let started = thread.spawn(move || write(&receiver, out));
        Self { lines: started.is_ok().then_some(sender), lost: AtomicU64::new(0) }
    }

    /// Hands over a line. If too many wait already, it is counted and lost: a
    /// blocked terminal must not stop the traffic.
    pub(crate) fn line(&self, line: Vec<u8>) {
        let Some(lines) = &self.lines else { return };
        match lines.try_send(line) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// How many lines were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

fn write(lines: &Receiver<Vec<u8>>, mut out: Box<dyn Write + Send>) {
    while let Ok(line) = lines.recv() {
        // There is nobody to tell when the log itself cannot be written.
        let _ = out.write_all(&line);
        while let Ok(line) = lines.try_recv() {
            let _ = out.write_all(&line);
        }
        let _ = out.flush();
    }
}

/// Lines that may wait to be written.
const WAITING: usize = 4096;
