//! Clients that ask the same again and again, each on a connection that it keeps.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

/// So many requests over so many connections.
pub(super) struct Load {
    pub(super) address: SocketAddr,
    /// The request as the bytes of HTTP.
    pub(super) request: Vec<u8>,
    pub(super) connections: usize,
    pub(super) requests: usize,
    /// What the body of a complete answer ends with.
    pub(super) ending: &'static str,
    pub(super) pace: Pace,
    pub(super) wait: Wait,
}

/// When a client sends its next request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// As soon as it has its answer.
    AtOnce,
    /// So long after its answer.
    Think(Duration),
    /// So many a second from all clients together, whether or not they have their answers. A request
    /// that has to be sent later than it is due has waited since then.
    Rate(u32),
}

impl Pace {
    /// When a client begins, so that not all of them do at once.
    fn begins(self, client: usize, clients: usize) -> Duration {
        let share = client as f64 / clients as f64;
        match self {
            Self::AtOnce => Duration::ZERO,
            Self::Think(pause) => pause.mul_f64(share),
            Self::Rate(_) => self.interval(clients).mul_f64(share),
        }
    }

    /// How far the requests of one client are apart.
    fn interval(self, clients: usize) -> Duration {
        match self {
            Self::AtOnce | Self::Think(_) => Duration::ZERO,
            Self::Rate(rate) => Duration::from_secs_f64(clients as f64 / f64::from(rate)),
        }
    }
}

/// Until when clients are said to wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    FirstByte,
    LastByte,
}

/// A request as the bytes of HTTP.
pub(super) fn request(path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json\r\nuser-agent: bench/1.0\r\nauthorization: Bearer sk-bench\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

impl Load {
    /// Gives how long each request waited for its answer.
    pub(super) fn run(&self) -> Result<Vec<Duration>> {
        let begun = &AtomicUsize::new(0);
        thread::scope(|scope| {
            let clients: Vec<_> = (0..self.connections)
                .map(|client| scope.spawn(move || self.client(client, begun)))
                .collect();
            let mut waits = Vec::with_capacity(self.requests);
            for client in clients {
                waits.extend(client.join().map_err(|_| anyhow!("a client panicked"))??);
            }
            Ok(waits)
        })
    }

    fn client(&self, client: usize, begun: &AtomicUsize) -> Result<Vec<Duration>> {
        let mut stream = TcpStream::connect(self.address).context("nobody listens")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (mut waits, mut piece, mut answer) = (Vec::new(), vec![0; 64 * 1024], Vec::new());
        let mut due = Instant::now() + self.pace.begins(client, self.connections);
        while begun.fetch_add(1, Ordering::Relaxed) < self.requests {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let sent = match self.pace {
                Pace::AtOnce | Pace::Think(_) => Instant::now(),
                Pace::Rate(_) => due,
            };
            stream.write_all(&self.request)?;
            answer.clear();
            while !is_complete(&answer) {
                let read = stream.read(&mut piece).context("an answer does not come")?;
                if answer.is_empty() && self.wait == Wait::FirstByte {
                    waits.push(sent.elapsed());
                }
                if read == 0 {
                    bail!("an answer breaks off");
                }
                answer.extend_from_slice(piece.get(..read).unwrap_or_default());
            }
            if self.wait == Wait::LastByte {
                waits.push(sent.elapsed());
            }
            self.check(&answer)?;
            due = match self.pace {
                Pace::AtOnce => due,
                Pace::Think(pause) => Instant::now() + pause,
                Pace::Rate(_) => due + self.pace.interval(self.connections),
            };
        }
        Ok(waits)
    }

    /// Nobody gets a good figure for a bad answer.
    fn check(&self, answer: &[u8]) -> Result<()> {
        let body = answer.strip_suffix(b"\r\n0\r\n\r\n").unwrap_or(answer);
        if answer.starts_with(b"HTTP/1.1 200 ") && body.ends_with(self.ending.as_bytes()) {
            return Ok(());
        }
        let start = answer.get(..1000).unwrap_or(answer);
        bail!("an answer is not what it should be: {}", start.escape_ascii());
    }
}

/// Whether an answer has its last byte. Its events end with line feeds alone, so nothing inside can
/// be taken for the last chunk.
fn is_complete(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|part| part == b"\r\n\r\n") else { return false };
    let Some((head, body)) = answer.split_at_checked(end + 4) else { return false };
    let length = str::from_utf8(head).ok().and_then(|head| {
        head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
        })
    });
    match length {
        Some(length) => length == Ok(body.len()),
        None => body.ends_with(b"\r\n0\r\n\r\n"),
    }
}

/// How long a client waits for a piece of an answer.
const PATIENCE: Duration = Duration::from_secs(30);
