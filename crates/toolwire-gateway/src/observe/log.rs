//! Lines on their way out. The requests that write them never wait for whoever
//! reads them.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Where lines go.
pub(crate) struct Log {
    lines: Option<SyncSender<Line>>,
    lost: AtomicU64,
}

/// What the thread gets.
enum Line {
    Text(Vec<u8>),
    /// Everything before this is to be out; then whoever asked is told.
    Flush(SyncSender<()>),
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
        match lines.try_send(Line::Text(line)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Waits until the lines so far are written, or until whoever reads them
    /// has had long enough. Blocks.
    pub(crate) fn flush(&self) {
        let (sender, receiver) = sync_channel(1);
        if let Some(lines) = &self.lines
            && lines.try_send(Line::Flush(sender)).is_ok()
        {
            let _ = receiver.recv_timeout(PATIENCE);
        }
    }

    /// How many lines were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

fn write(lines: &Receiver<Line>, mut out: Box<dyn Write + Send>) {
    while let Ok(first) = lines.recv() {
        let mut next = Some(first);
        while let Some(line) = next {
            match line {
                // There is nobody to tell when the log itself cannot be written.
                Line::Text(line) => {
                    let _ = out.write_all(&line);
                }
                Line::Flush(done) => {
                    let _ = out.flush();
                    let _ = done.send(());
                }
            }
            next = lines.try_recv().ok();
        }
        let _ = out.flush();
    }
}

/// How long a reader of the log may keep the gateway from ending.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lines that may wait to be written.
const WAITING: usize = 4096;
