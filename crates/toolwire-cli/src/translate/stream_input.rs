//! A stream on standard input, with the timing that `--record` saves and
//! `--pace` replays.
//!
//! Timing is a comment in the stream, `: +250ms`, which every reader of
//! server-sent events skips.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::CommandError;

/// A stream on standard input.
pub(super) struct StreamInput {
    stdin: BufReader<io::Stdin>,
    pace: bool,
    recorder: Option<Recorder>,
}

impl StreamInput {
    /// Waits as the recording says if `pace` is set. Saves what it reads to
    /// `record`.
    pub(super) fn new(pace: bool, record: Option<&Path>) -> Result<Self, CommandError> {
        let recorder = record.map(Recorder::create).transpose()?;
        Ok(Self { stdin: BufReader::new(io::stdin()), pace, recorder })
    }

    /// Reads what has arrived, or one line if lines may contain timing. Returns
    /// whether there was anything.
    pub(super) fn read(&mut self, chunk: &mut Vec<u8>) -> Result<bool, CommandError> {
        chunk.clear();
        if self.pace {
            self.stdin.read_until(b'\n', chunk).map_err(CommandError::stdin)?;
            if let Some(delay) = parse_delay(chunk) {
                std::thread::sleep(delay);
            }
        } else {
            let available = self.stdin.fill_buf().map_err(CommandError::stdin)?;
            chunk.extend_from_slice(available);
            let length = available.len();
            self.stdin.consume(length);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.save(chunk)?;
        }
        Ok(!chunk.is_empty())
    }
}

/// Saves a stream with its timing to a file.
struct Recorder {
    file: File,
    last: Instant,
    /// Whether the last chunk ended a line. A comment may stand between two
    /// lines of an event, but not inside a line.
    between_lines: bool,
}

impl Recorder {
    fn create(path: &Path) -> Result<Self, CommandError> {
        let file = File::create(path).map_err(|error| {
            CommandError::Rejected(format!("cannot write {}: {error}", path.display()))
        })?;
        Ok(Self { file, last: Instant::now(), between_lines: true })
    }

    fn save(&mut self, chunk: &[u8]) -> Result<(), CommandError> {
        let mut saved = Vec::with_capacity(chunk.len() + 16);
        let delay = self.last.elapsed().as_millis();
        if delay > 0 && self.between_lines {
            saved.extend_from_slice(format!(": +{delay}ms\n").as_bytes());
            self.last = Instant::now();
        }
        saved.extend_from_slice(chunk);
        self.between_lines = chunk.ends_with(b"\n");
        self.file.write_all(&saved).map_err(CommandError::Output)
    }
}

/// The delay that a line contains, if it is a timing comment.
fn parse_delay(line: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let milliseconds = text.strip_prefix(": +")?.strip_suffix("ms")?;
    Some(Duration::from_millis(milliseconds.parse().ok()?))
}

#[cfg(test)]
mod tests;
