//! Asking a gateway that may be running.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Whether a gateway is at an address and serves.
pub(crate) fn is_gateway(address: SocketAddr) -> bool {
    get(address, "/readyz", "")
        .is_some_and(|(status, body)| (status, body.as_str()) == (200, "ready\n"))
}

/// Whether a gateway takes a key.
pub(crate) fn admits(address: SocketAddr, key: &str) -> bool {
    get(address, "/v1/models", key).is_none_or(|(status, _)| status != 401)
}

/// Whether a gateway knows a model.
pub(crate) fn serves(address: SocketAddr, model: &str, key: &str) -> bool {
    let path = format!("/v1/models/{}", model.replace('/', "%2F"));
    get(address, &path, key).is_some_and(|(status, _)| status == 200)
}

/// A request without anything special, answered at once or not at all.
fn get(address: SocketAddr, path: &str, key: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let key =
        if key.is_empty() { String::new() } else { format!("authorization: Bearer {key}\r\n") };
    let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{key}connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = Vec::new();
    // Whatever is there may not be a gateway and may never stop talking.
    stream.take(LONGEST).read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some((status, body.to_owned()))
}

const PATIENCE: Duration = Duration::from_millis(300);
const LONGEST: u64 = 64 * 1024;
