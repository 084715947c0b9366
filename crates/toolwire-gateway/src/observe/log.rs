//! The log's writer. Requests never wait for it, and it never grows: what does
//! not fit is dropped and counted.

use std::io::Write;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::config::LogFormat;

/// Writes log lines on a thread of its own.
///
/// To wake a thread costs more than to write a line, so the thread is woken for
/// the first line and then writes the others together, [`INTERVAL`] apart.
pub(crate) struct Log {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    lines: Mutex<Lines>,
    changed: Condvar,
}

/// What is to be written.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// How many bytes are not written, those that the thread is writing included.
    unwritten: usize,
    /// How the last line was written.
    format: Option<LogFormat>,
    lost: u64,
    /// Those who want to know when everything before is written.
    flushes: Vec<SyncSender<()>>,
    /// Whether the thread sleeps until there is something to write.
    sleeps: bool,
    /// Whether nobody reads what is queued, or nothing more comes.
    is_closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    /// Starts the thread, which writes to `out`.
    pub(crate) fn new(out: Box<dyn Write + Send>) -> Self {
        let queue = Arc::new(Queue::default());
        let writer = LogWriter { out, queue: Arc::clone(&queue), reported: 0 };
        let thread = std::thread::Builder::new().name("toolwire-log".to_owned());
        let started = thread.spawn(move || writer.run());
        queue.lock().is_closed = started.is_err();
        Self { queue }
    }

    /// Queues a line. If the queue is full, the line is lost and counted: a
    /// blocked terminal must neither stop the traffic nor fill the memory.
    pub(crate) fn write_line(&self, line: &[u8], format: LogFormat) {
        let mut lines = self.queue.lock();
        if lines.is_closed {
            return;
        }
        if lines.unwritten + line.len() > QUEUE_BYTES {
            lines.lost += 1;
            return;
        }
        lines.unwritten += line.len();
        lines.format = Some(format);
        lines.text.extend_from_slice(line);
        if lines.sleeps {
            lines.sleeps = false;
            self.queue.changed.notify_one();
        }
    }

    /// Waits until the lines so far are written, or until the timeout. Blocks.
    pub(crate) fn flush(&self) {
        let (done, flushed) = sync_channel(1);
        let mut lines = self.queue.lock();
        if lines.is_closed {
            return;
        }
        lines.flushes.push(done);
        self.queue.changed.notify_one();
        drop(lines);
        let _ = flushed.recv_timeout(FLUSH_TIMEOUT);
    }

    /// How many lines were lost.
    pub(crate) fn lost_lines(&self) -> u64 {
        self.queue.lock().lost
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.queue.lock().is_closed = true;
        self.queue.changed.notify_one();
    }
}

/// The thread's side of the log.
struct LogWriter {
    out: Box<dyn Write + Send>,
    queue: Arc<Queue>,
    /// How many lost lines the log has told about.
    reported: u64,
}

impl LogWriter {
    fn run(mut self) {
        let mut text = Vec::new();
        while let Some((format, lost, flushes)) = self.next(&mut text) {
            // If the log itself cannot be written, there is no other place to
            // report it.
            let _ = self.out.write_all(&text);
            self.report_lost_lines(lost, format);
            let _ = self.out.flush();
            let mut lines = self.queue.lock();
            lines.unwritten -= text.len();
            text.clear();
            for done in flushes {
                let _ = done.send(());
            }
            // What comes in the meantime is written together.
            let comes = |lines: &mut Lines| lines.flushes.is_empty() && !lines.is_closed;
            drop(self.queue.changed.wait_timeout_while(lines, INTERVAL, comes));
        }
    }

    /// Waits for lines and takes them. `None` if no more come.
    fn next(&self, text: &mut Vec<u8>) -> Option<(Option<LogFormat>, u64, Vec<SyncSender<()>>)> {
        let mut lines = self.queue.lock();
        while lines.text.is_empty() && lines.flushes.is_empty() {
            if lines.is_closed {
                return None;
            }
            lines.sleeps = true;
            lines = self.queue.changed.wait(lines).unwrap_or_else(PoisonError::into_inner);
        }
        lines.sleeps = false;
        std::mem::swap(&mut lines.text, text);
        Some((lines.format, lines.lost, std::mem::take(&mut lines.flushes)))
    }

    /// Writes how many lines were lost since the last such line.
    fn report_lost_lines(&mut self, lost: u64, format: Option<LogFormat>) {
        let count = lost - self.reported;
        if count == 0 {
            return;
        }
        self.reported = lost;
        let _ = match format {
            Some(LogFormat::Json) => writeln!(self.out, "{{\"lost_lines\":{count}}}"),
            Some(LogFormat::Text | LogFormat::Off) | None => {
                writeln!(self.out, "{count} lines lost because the log was not read in time")
            }
        };
    }
}

/// How long a blocked log may keep the gateway from stopping.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the thread lets lines gather behind those that it has written.
const INTERVAL: Duration = Duration::from_millis(10);

/// How much may wait to be written.
const QUEUE_BYTES: usize = 1024 * 1024;

#[cfg(test)]
mod tests;
