//! Requests to a gateway that may already be running.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use toolwire::protocol::UpstreamModel;
use toolwire::{Protocol, codec};
use toolwire_gateway::identity::{CHALLENGE, Identity, PROOF};

/// Whether any program is listening at an address.
pub(crate) fn is_taken(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, TIMEOUT).is_ok()
}

/// Whether the gateway that is ready at an address is the one with this identity.
pub(crate) fn is_ready(address: SocketAddr, identity: &Identity) -> bool {
    let challenge = format!("{CHALLENGE}: {}\r\n", identity.challenge());
    let Some(response) = get(address, "/readyz", &challenge) else { return false };
    response.status == 200 && response.header(PROOF).is_some_and(|proof| identity.accepts(proof))
}

/// Whether a gateway accepts a key.
pub(crate) fn accepts_key(address: SocketAddr, key: &str) -> bool {
    get(address, "/v1/models", &bearer(key)).is_none_or(|response| response.status != 401)
}

/// Whether a gateway serves a model.
pub(crate) fn serves_model(address: SocketAddr, model: &str, key: &str) -> bool {
    let path = format!("/v1/models/{}", model.replace('/', "%2F"));
    get(address, &path, &bearer(key)).is_some_and(|response| response.status == 200)
}

/// The models of a gateway.
pub(crate) fn models(address: SocketAddr, key: &str) -> Vec<UpstreamModel> {
    let response = get(address, "/v1/models", &bearer(key)).filter(|found| found.status == 200);
    let [protocol, ..] = Protocol::ALL;
    let page = response.and_then(|response| (codec(protocol).read_models)(&response.body).ok());
    page.map(|page| page.models).unwrap_or_default()
}

fn bearer(key: &str) -> String {
    format!("authorization: Bearer {key}\r\n")
}

struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// The response that a path has, if it arrives in time.
fn get(address: SocketAddr, path: &str, header: &str) -> Option<Response> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(READ_TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(TIMEOUT)).ok()?;
    let head =
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{header}connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut response = Vec::new();
    // Some other program may be listening there, and it may never stop sending.
    stream.take(MAX_RESPONSE).read_to_end(&mut response).ok()?;
    let response = String::from_utf8(response).ok()?;
    let (head, body) = response.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some(Response { status, head: head.to_owned(), body: body.to_owned() })
}

const TIMEOUT: Duration = Duration::from_millis(300);

/// A gateway that has just started waits for its upstreams.
const READ_TIMEOUT: Duration = Duration::from_secs(8);

const MAX_RESPONSE: u64 = 4 * 1024 * 1024;
