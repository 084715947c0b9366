//! Requests to a gateway that may already be running.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Whether a gateway is ready at an address.
pub(crate) fn is_ready(address: SocketAddr) -> bool {
    get(address, "/readyz", "")
        .is_some_and(|(status, body)| (status, body.as_str()) == (200, "ready\n"))
}

/// Whether a gateway accepts a key.
pub(crate) fn accepts_key(address: SocketAddr, key: &str) -> bool {
    get(address, "/v1/models", key).is_none_or(|(status, _)| status != 401)
}

/// Whether a gateway serves a model.
pub(crate) fn serves_model(address: SocketAddr, model: &str, key: &str) -> bool {
    let path = format!("/v1/models/{}", model.replace('/', "%2F"));
    get(address, &path, key).is_some_and(|(status, _)| status == 200)
}

/// The status and body that a path has, if the response arrives in time.
fn get(address: SocketAddr, path: &str, key: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(TIMEOUT)).ok()?;
    let key =
        if key.is_empty() { String::new() } else { format!("authorization: Bearer {key}\r\n") };
    let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{key}connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut response = Vec::new();
    // Some other program may be listening there, and it may never stop sending.
    stream.take(MAX_RESPONSE).read_to_end(&mut response).ok()?;
    let response = String::from_utf8(response).ok()?;
    let (head, body) = response.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some((status, body.to_owned()))
}

const TIMEOUT: Duration = Duration::from_millis(300);
const MAX_RESPONSE: u64 = 64 * 1024;
