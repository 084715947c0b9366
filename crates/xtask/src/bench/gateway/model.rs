//! The model behind the programs that are measured: it says the same to everybody, and costs little.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::documents::{self, Kind, Speaks};

/// Answers on an address of its own for as long as the process lives, in every protocol. What it says
/// is translated by `program`.
pub(super) fn serve(program: &Path) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("the model cannot listen")?;
    let address = listener.local_addr()?;
    let says = Speaks::ALL.into_iter().map(|speaks| Says::new(speaks, program));
    let says: Arc<[Says]> = says.collect::<Result<_>>()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let says = Arc::clone(&says);
            // Whoever breaks a connection off is the one to complain.
            thread::spawn(move || answer_all(stream, &says));
        }
    });
    Ok(address)
}

/// What it says in one protocol, as the bytes of HTTP.
struct Says {
    speaks: Speaks,
    whole: Vec<u8>,
    /// The head of a stream and its first words.
    opening: Vec<u8>,
    pieces: Vec<Vec<u8>>,
    burst: Vec<u8>,
}

impl Says {
    fn new(speaks: Speaks, program: &Path) -> Result<Self> {
        let answer = documents::answer(speaks, program)?;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        let head = format!("{head}content-length: {}\r\n\r\n", answer.len());
        let whole = [head.as_bytes(), &answer].concat();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        let head = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
        let events = documents::events(speaks, program)?;
        let mut pieces: Vec<_> = events
            .iter()
            .map(|event| format!("{:x}\r\n{event}\r\n", event.len()).into_bytes())
            .collect();
        if let Some(last) = pieces.last_mut() {
            last.extend_from_slice(b"0\r\n\r\n");
        }
        // Models name the speaker and begin to speak in one breath.
        let opening = [head, pieces.remove(0), pieces.remove(0)].concat();
        let burst = [opening.as_slice(), &pieces.concat()].concat();
        Ok(Self { speaks, whole, opening, pieces, burst })
    }
}

fn answer_all(mut stream: TcpStream, says: &[Says]) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    while let Some((speaks, kind)) = next(&mut stream, &mut buffer)? {
        let says = says.iter().find(|says| says.speaks == speaks);
        let says = says.ok_or_else(|| std::io::Error::other("the model does not speak that"))?;
        match kind {
            Kind::Whole | Kind::Large => stream.write_all(&says.whole)?,
            Kind::Burst => stream.write_all(&says.burst)?,
            Kind::Paced => {
                stream.write_all(&says.opening)?;
                for piece in &says.pieces {
                    thread::sleep(PACE);
                    stream.write_all(piece)?;
                }
            }
        }
    }
    Ok(())
}

/// Reads a request as far as it has to be known. There are no two at once on a connection.
fn next(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<(Speaks, Kind)>> {
    buffer.clear();
    let mut piece = vec![0; 256 * 1024];
    loop {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Ok(None);
        }
        buffer.extend_from_slice(piece.get(..read).unwrap_or_default());
        if let Some(body) = body(buffer) {
            let start = body.get(..200).unwrap_or(body);
            let kind =
                Kind::ALL.into_iter().find(|kind| has(start, &format!("-{}\"", kind.word())));
            // Whoever searches all of it is slower for some protocols than for others.
            let line = buffer.get(..100).unwrap_or(buffer);
            let speaks = Speaks::ALL.into_iter().find(|speaks| has(line, speaks.path()));
            let unknown = || std::io::Error::other("the request names no model that there is");
            return speaks.zip(kind).ok_or_else(unknown).map(Some);
        }
    }
}

fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|part| part == word.as_bytes())
}

/// The body of a request that is complete.
fn body(request: &[u8]) -> Option<&[u8]> {
    let end = request.windows(4).position(|part| part == b"\r\n\r\n")?;
    let (head, body) = request.split_at_checked(end + 4)?;
    let head = str::from_utf8(head).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    (length == Some(body.len())).then_some(body)
}

/// Between two events. Long enough that each travels alone.
const PACE: Duration = Duration::from_millis(1);
