//! Asks whether servers run on this machine.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// What servers on this machine answer to a GET, each at `host:port` and a path.
/// All are asked at the same time.
pub(super) fn ask(places: &[(String, &str)]) -> Vec<Option<String>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            places.iter().map(|(authority, path)| scope.spawn(|| get(authority, path))).collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    })
}

/// The beginning of a response with the status 200, if it arrives in time.
fn get(authority: &str, path: &str) -> Option<String> {
    let address = authority.to_socket_addrs().ok()?.find(|address| address.ip().is_loopback())?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(TIMEOUT)).ok()?;
    let head = format!("GET {path} HTTP/1.0\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut response = Vec::new();
    let mut piece = [0; 4096];
    // A server that keeps the connection open has still answered.
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        response.extend_from_slice(piece.get(..count)?);
        if response.len() > MAX_RESPONSE {
            break;
        }
    }
    let (head, body) = split(&response)?;
    let is_ok = head
        .get(..12)
        .is_some_and(|start| start.starts_with(b"HTTP/1.") && start.ends_with(b" 200"));
    let end = std::str::from_utf8(body).map_or_else(|error| error.valid_up_to(), str::len);
    let text = std::str::from_utf8(body.get(..end)?).ok()?;
    is_ok.then(|| text.to_owned())
}

fn split(response: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = response.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some((response.get(..end)?, response.get(end + 4..)?))
}

/// For each step. A server on this machine answers much faster.
const TIMEOUT: Duration = Duration::from_millis(250);

const MAX_RESPONSE: usize = 64 * 1024;
