//! `toolwire translate --kind stream`: a live stream from standard input to
//! standard output, event by event as it arrives.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use toolwire::pipe::Pipe;
use toolwire::wire::sse::Frames;
use toolwire::{Entry, Options, Protocol, codec};

use crate::error::Failure;

/// What to do besides translating.
pub(crate) struct Plan<'a> {
    pub(crate) from: Option<Protocol>,
    pub(crate) to: Protocol,
    /// What the client had sent.
    pub(crate) request: Option<Vec<u8>>,
    pub(crate) options: &'a Options,
    /// Whether to wait as the recording says.
    pub(crate) pace: bool,
    /// Where to save the input with its timing.
    pub(crate) record: Option<&'a Path>,
}

/// Translates the stream, and gives its ledger.
pub(crate) fn run(plan: &Plan<'_>) -> Result<Vec<Entry>, Failure> {
    let mut input = Input::new(plan)?;
    let mut head = Vec::new();
    let from = match plan.from {
        Some(from) => from,
        None => input.guess(&mut head)?,
    };
    let mut pipe = pipe(plan, from)?;
    let mut out = Vec::new();
    let mut chunk = head;
    loop {
        let mut rest = chunk.as_slice();
        while pipe.step(&mut rest, &mut out) {
            give(&mut out)?;
        }
        give(&mut out)?;
        if pipe.is_done() || !input.next(&mut chunk)? {
            break;
        }
    }
    pipe.finish(&mut out);
    give(&mut out)?;
    let ledger = pipe.take_ledger();
    match &pipe.seen().error {
        Some(error) => Err(Failure::Stream { ledger, message: error.message.clone() }),
        None => Ok(ledger),
    }
}

fn pipe(plan: &Plan<'_>, from: Protocol) -> Result<Pipe, Failure> {
    let Some(bytes) = &plan.request else {
        return Ok(Pipe::new(from, plan.to, None, plan.options));
    };
    let unreadable = |error: String| {
        Failure::Rejected(format!(
            "cannot read the file of --request as a {} request: {error}\n\
             --request takes what the client had sent, in the protocol of --to.",
            plan.to,
        ))
    };
    let text = std::str::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
    let request =
        codec(plan.to).decode_request(text).map_err(|error| unreadable(error.to_string()))?;
    Ok(Pipe::new(from, plan.to, Some(&request), plan.options))
}

fn give(out: &mut Vec<u8>) -> io::Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(out)?;
    stdout.flush()?;
    out.clear();
    Ok(())
}

/// Standard input, as fast as it comes or as it was recorded.
struct Input {
    lines: BufReader<io::Stdin>,
    pace: bool,
    record: Option<Record>,
}

/// A file that keeps a stream with its timing.
struct Record {
    file: File,
    last: Instant,
    /// Whether what was saved last ended a line. A comment between two lines of
    /// an event changes nothing in it, but one inside a line would.
    between_lines: bool,
}

impl Record {
    fn save(&mut self, chunk: &[u8]) -> Result<(), Failure> {
        let mut saved = Vec::with_capacity(chunk.len() + 16);
        let waited = self.last.elapsed().as_millis();
        if waited > 0 && self.between_lines {
            saved.extend_from_slice(format!(": +{waited}ms\n").as_bytes());
            self.last = Instant::now();
        }
        saved.extend_from_slice(chunk);
        self.between_lines = chunk.ends_with(b"\n");
        self.file.write_all(&saved).map_err(Failure::Output)
    }
}

impl Input {
    fn new(plan: &Plan<'_>) -> Result<Self, Failure> {
        let record = match plan.record {
            Some(path) => {
                let failed = |error| Failure::Input { name: path.display().to_string(), error };
                let file = File::create(path).map_err(failed)?;
                Some(Record { file, last: Instant::now(), between_lines: true })
            }
            None => None,
        };
        Ok(Self { lines: BufReader::new(io::stdin()), pace: plan.pace, record })
    }

    /// Reads what is there, or one line if each may say how long to wait.
    fn next(&mut self, chunk: &mut Vec<u8>) -> Result<bool, Failure> {
        chunk.clear();
        let failed = |error| Failure::Input { name: "standard input".to_owned(), error };
        if self.pace {
            self.lines.read_until(b'\n', chunk).map_err(failed)?;
            if let Some(wait) = stamp(chunk) {
                std::thread::sleep(wait);
            }
        } else {
            let there = self.lines.fill_buf().map_err(failed)?;
            chunk.extend_from_slice(there);
            let length = there.len();
            self.lines.consume(length);
        }
        if let Some(record) = &mut self.record {
            record.save(chunk)?;
        }
        Ok(!chunk.is_empty())
    }

    /// Reads up to the end of the first event and tells the protocol by it.
    fn guess(&mut self, head: &mut Vec<u8>) -> Result<Protocol, Failure> {
        let mut frames = Frames::default();
        let mut found = None;
        let mut chunk = Vec::new();
        while found.is_none() && self.next(&mut chunk)? {
            head.extend_from_slice(&chunk);
            let each = |frame: toolwire::wire::sse::Frame<'_>| {
                if frame.data.is_empty() {
                    return std::ops::ControlFlow::Continue(());
                }
                found = Some(toolwire::guess::stream(frame.name, frame.data));
                std::ops::ControlFlow::Break(())
            };
            // What cannot be framed is told by the pipe.
            if frames.push(&chunk, each).is_err() {
                break;
            }
        }
        if head.is_empty() {
            return Err(Failure::Rejected("standard input is empty".to_owned()));
        }
        found.flatten().ok_or_else(|| {
            Failure::Usage("cannot tell the protocol of this stream; give --from".to_owned())
        })
    }
}

/// How long to wait before what follows, if the line says so.
fn stamp(line: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let wait = text.strip_prefix(": +")?.strip_suffix("ms")?;
    Some(Duration::from_millis(wait.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::stamp;
    use std::time::Duration;

    #[test]
    fn stamps() {
        assert_eq!(stamp(b": +250ms\n"), Some(Duration::from_millis(250)));
        assert_eq!(stamp(b": ping\n"), None);
        assert_eq!(stamp(b"data: : +250ms\n"), None);
    }
}
