//! Load and faults. A test run takes a sample; `cargo xtask soak` sets
//! `TOOLWIRE_SOAK`, which gives the full sizes and prints the figures.

mod disconnects;
mod draining;
mod encodings;
mod hostile;
mod kills;
mod mixed;
mod mixup;
mod overload;
pub(crate) mod process;
mod reloads;
mod retries;
mod stalled;
mod streams;
mod timeouts;
mod uploads;

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client;
use crate::watched_log::SEARCHED;

/// The size of a test.
fn size(sample: usize, full: usize) -> usize {
    if is_full() { full } else { sample }
}

fn is_full() -> bool {
    std::env::var_os("TOOLWIRE_SOAK").is_some()
}

/// A row of the table of figures.
#[derive(Default)]
struct Figures {
    what: String,
    count: usize,
    times: Vec<Duration>,
    memory_each: Option<usize>,
    /// Responses that look complete and are not, or the other way round.
    wrong_endings: usize,
    /// Requests that got no response, or that ran more than once.
    lost: usize,
    remark: String,
}

/// Prints a row of the table of figures. A secret in a log or a response has
/// ended the test before, so what is printed of it is how much was searched.
#[allow(clippy::print_stdout, reason = "`cargo xtask soak` collects what is printed")]
fn report(figures: Figures) {
    let Figures { what, count, mut times, memory_each, wrong_endings, lost, remark } = figures;
    assert_eq!((wrong_endings, lost), (0, 0), "{what}: wrong endings, lost requests");
    if is_full() {
        let mut shown = |percent| match times.is_empty() {
            true => String::new(),
            false => format!("{:.1?}", percentile(&mut times, percent)),
        };
        let (half, most) = (shown(50), shown(99));
        let memory = memory_each.map(|bytes| format!("{} KiB", bytes / 1024)).unwrap_or_default();
        let searched = SEARCHED.load(Ordering::Relaxed);
        println!(
            "| {what} | {count} | {half} | {most} | {memory} | {wrong_endings} | {lost} | \
             0 in {searched} texts | {remark} |"
        );
    }
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get(times.len() * percent / 100).or(times.last()).copied().unwrap_or_default()
}

/// A number that depends on nothing but its arguments.
fn pick(seed: usize, choices: usize) -> usize {
    let mixed = (seed as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) as usize % choices
}

/// A client that sends one request after the other on one connection.
struct KeepAlive {
    to: SocketAddr,
    stream: Option<TcpStream>,
}

impl KeepAlive {
    fn new(to: SocketAddr) -> Self {
        Self { to, stream: None }
    }

    /// Sends a POST and reads its response.
    async fn post(&mut self, path: &str, body: &str) -> client::ReceivedResponse {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => TcpStream::connect(self.to).await.unwrap(),
        };
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        let mut piece = [0; 16 * 1024];
        let ends = loop {
            let count = stream.read(&mut piece).await.unwrap_or(0);
            bytes.extend_from_slice(&piece[..count]);
            if count == 0 || is_whole(&bytes) {
                break count == 0;
            }
        };
        if !ends {
            self.stream = Some(stream);
        }
        client::parse(&bytes)
    }
}

/// Whether a message is complete.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head = String::from_utf8(bytes[..end].to_ascii_lowercase()).unwrap();
    match head.lines().find_map(|line| line.strip_prefix("content-length: ")) {
        Some(length) => bytes.len() >= end + 4 + length.trim().parse::<usize>().unwrap(),
        None => bytes.ends_with(b"\r\n0\r\n\r\n"),
    }
}

/// A figure of the gateway's metrics.
async fn metric(to: SocketAddr, name: &str) -> i64 {
    let page = client::get(to, "/metrics", &[]).await.body;
    let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("{name} is not in {page}")).parse().unwrap()
}
