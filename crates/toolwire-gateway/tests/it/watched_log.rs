//! The log of every gateway of these tests. What all fixtures contain must never
//! be in it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The operator's key in every test.
pub(crate) const UPSTREAM_KEY: &str = "upstream-key";

/// Texts of the fixtures: a key, a prompt, an answer, a tool and its argument.
const CANARIES: [&str; 5] = [UPSTREAM_KEY, "Weather in", "Let me look", "get_weather", "Paris"];

/// How many lines and responses were searched for secrets, in this process.
pub(crate) static SEARCHED: AtomicUsize = AtomicUsize::new(0);

/// A log that ends the tests when it gets to see a secret or content. The log is
/// written by a thread of its own, whose panic no test would notice.
pub(crate) struct WatchedLog;

impl Write for WatchedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Lines that came at about the same time are written together.
        let text = std::str::from_utf8(bytes).unwrap_or("not UTF-8: get_weather");
        for line in text.split_terminator('\n') {
            let line_is_bad = line.len() >= 4096 || line.chars().any(char::is_control);
            let found = CANARIES.iter().find(|canary| line.contains(**canary));
            if line_is_bad || found.is_some() {
                let reason = format!("{found:?} or a control character in the log: {line}");
                let _ = writeln!(io::stderr(), "{reason}");
                std::process::abort();
            }
            SEARCHED.fetch_add(1, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
