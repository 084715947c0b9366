//! The log's writer. Requests never wait for it.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Writes log lines on a thread of its own.
pub(crate) struct Log {
    sender: Option<SyncSender<Message>>,
    lost_lines: AtomicU64,
}

/// What the thread is sent.
enum Message {
    Line(Vec<u8>),
    /// Asks the thread to flush everything before this and to say when it is done.
    Flush(SyncSender<()>),
}

impl Log {
    /// Starts the thread, which writes to `out`.
    pub(crate) fn new(out: Box<dyn Write + Send>) -> Self {
        let (sender, receiver) = sync_channel(QUEUE_LIMIT);
        let thread = std::thread::Builder::new().name("toolwire-log".to_owned());
        let started = thread.spawn(move || write_all(&receiver, out));
        Self { sender: started.is_ok().then_some(sender), lost_lines: AtomicU64::new(0) }
    }

    /// Queues a line. If the queue is full, the line is lost and counted: a
    /// blocked terminal must not stop the traffic.
    pub(crate) fn write_line(&self, line: Vec<u8>) {
        let Some(sender) = &self.sender else { return };
        match sender.try_send(Message::Line(line)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.lost_lines.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Waits until the lines so far are written, or until the timeout. Blocks.
    pub(crate) fn flush(&self) {
        let (done, flushed) = sync_channel(1);
        if let Some(sender) = &self.sender
            && sender.try_send(Message::Flush(done)).is_ok()
        {
            let _ = flushed.recv_timeout(FLUSH_TIMEOUT);
        }
    }

    /// How many lines were lost.
    pub(crate) fn lost_lines(&self) -> u64 {
        self.lost_lines.load(Ordering::Relaxed)
    }
}

fn write_all(messages: &Receiver<Message>, mut out: Box<dyn Write + Send>) {
    while let Ok(first) = messages.recv() {
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                // If the log itself cannot be written, there is no other place to
                // report it.
                Message::Line(line) => {
                    let _ = out.write_all(&line);
                }
                Message::Flush(done) => {
                    let _ = out.flush();
                    let _ = done.send(());
                }
            }
            next = messages.try_recv().ok();
        }
        let _ = out.flush();
    }
}

/// How long a blocked log may keep the gateway from stopping.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// How many lines may wait to be written.
const QUEUE_LIMIT: usize = 4096;
