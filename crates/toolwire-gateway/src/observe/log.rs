//! The log's writer. Requests never wait for it, and it never grows: what does
//! not fit is dropped and counted.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use crate::config::LogFormat;

/// Writes log lines on a thread of its own.
pub(crate) struct Log {
    sender: Option<SyncSender<Message>>,
    queue: Arc<QueueState>,
}

/// What the thread is sent.
enum Message {
    Line(Vec<u8>, LogFormat),
    /// Asks the thread to flush everything before this and to say when it is done.
    Flush(SyncSender<()>),
}

#[derive(Default)]
struct QueueState {
    /// How many bytes wait to be written.
    bytes: AtomicUsize,
    lost_lines: AtomicU64,
}

impl Log {
    /// Starts the thread, which writes to `out`.
    pub(crate) fn new(out: Box<dyn Write + Send>) -> Self {
        let (sender, receiver) = sync_channel(QUEUE_LINES);
        let queue = Arc::new(QueueState::default());
        let writer = LogWriter { out, queue: Arc::clone(&queue), reported: 0 };
        let thread = std::thread::Builder::new().name("toolwire-log".to_owned());
        let started = thread.spawn(move || writer.run(&receiver));
        Self { sender: started.is_ok().then_some(sender), queue }
    }

    /// Queues a line. If the queue is full, the line is lost and counted: a
    /// blocked terminal must neither stop the traffic nor fill the memory.
    pub(crate) fn write_line(&self, line: Vec<u8>, format: LogFormat) {
        let Some(sender) = &self.sender else { return };
        let QueueState { bytes, lost_lines } = self.queue.as_ref();
        let length = line.len();
        let is_full = bytes.fetch_add(length, Ordering::Relaxed) + length > QUEUE_BYTES;
        if is_full || sender.try_send(Message::Line(line, format)).is_err() {
            bytes.fetch_sub(length, Ordering::Relaxed);
            lost_lines.fetch_add(1, Ordering::Relaxed);
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
        self.queue.lost_lines.load(Ordering::Relaxed)
    }
}

/// The thread's side of the log.
struct LogWriter {
    out: Box<dyn Write + Send>,
    queue: Arc<QueueState>,
    /// How many lost lines the log has told about.
    reported: u64,
}

impl LogWriter {
    fn run(mut self, messages: &Receiver<Message>) {
        while let Ok(first) = messages.recv() {
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    // If the log itself cannot be written, there is no other
                    // place to report it.
                    Message::Line(line, format) => {
                        let _ = self.out.write_all(&line);
                        self.queue.bytes.fetch_sub(line.len(), Ordering::Relaxed);
                        self.report_lost_lines(format);
                    }
                    Message::Flush(done) => {
                        let _ = self.out.flush();
                        let _ = done.send(());
                    }
                }
                next = messages.try_recv().ok();
            }
            let _ = self.out.flush();
        }
    }

    /// Writes how many lines were lost since the last such line.
    fn report_lost_lines(&mut self, format: LogFormat) {
        let lost = self.queue.lost_lines.load(Ordering::Relaxed);
        let count = lost - self.reported;
        if count == 0 {
            return;
        }
        self.reported = lost;
        let _ = match format {
            LogFormat::Json => writeln!(self.out, "{{\"lost_lines\":{count}}}"),
            LogFormat::Text | LogFormat::Off => {
                writeln!(self.out, "{count} lines lost because the log was not read in time")
            }
        };
    }
}

/// How long a blocked log may keep the gateway from stopping.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// How much may wait to be written.
const QUEUE_LINES: usize = 4096;
const QUEUE_BYTES: usize = 1024 * 1024;

#[cfg(test)]
mod tests;
