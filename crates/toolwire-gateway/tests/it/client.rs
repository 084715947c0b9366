//! An HTTP client by hand.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolwire::Protocol;
use toolwire_gateway::Gateway;

use crate::fixtures;
use crate::watched_log::{SEARCHED, UPSTREAM_KEY};

/// A response that was received.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Whether the body was complete.
    pub(crate) whole: bool,
    /// The trailers of a body in chunks.
    pub(crate) trailers: String,
}

impl ReceivedResponse {
    /// A header, if it is there.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Sends a POST and reads the whole response.
pub(crate) async fn post(
    to: SocketAddr,
    path: &str,
    headers: &[&str],
    body: &str,
) -> ReceivedResponse {
    let mut stream = open(to, path, headers, body).await;
    finish(&mut stream).await
}

/// Asks the usual question in a protocol.
pub(crate) async fn ask(gateway: &Gateway, protocol: Protocol) -> ReceivedResponse {
    let question = fixtures::question(protocol, false);
    post(gateway.address(), fixtures::path(protocol), &[], &question).await
}

/// Asks the usual question in a protocol, for a stream.
pub(crate) async fn ask_for_stream(gateway: &Gateway, protocol: Protocol) -> ReceivedResponse {
    let question = fixtures::question(protocol, true);
    post(gateway.address(), fixtures::path(protocol), &[], &question).await
}

/// Sends a GET and reads the whole response.
pub(crate) async fn get(to: SocketAddr, path: &str, headers: &[&str]) -> ReceivedResponse {
    let mut head = format!("GET {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    raw(to, format!("{head}\r\n").as_bytes()).await
}

/// Sends a GET and reads the whole response, which may take so long.
pub(crate) async fn get_within(limit: Duration, to: SocketAddr, path: &str) -> ReceivedResponse {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    finish_within(limit, &mut stream).await
}

/// Sends a POST without reading the response.
pub(crate) async fn open(to: SocketAddr, path: &str, headers: &[&str], body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n");
    if !headers.iter().any(|header| header.to_ascii_lowercase().starts_with("content-type")) {
        head.push_str("content-type: application/json\r\n");
    }
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// A connection in HTTP/2 whose streams have room for 64 KiB that nobody reads.
pub(crate) async fn http2(to: SocketAddr) -> SendRequest<Full<Bytes>> {
    let tcp = TcpStream::connect(to).await.unwrap();
    let mut builder = Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(64 * 1024).initial_connection_window_size(16 * 1024 * 1024);
    let (sender, connection) = builder.handshake(TokioIo::new(tcp)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// The usual question in Chat, for such a connection.
pub(crate) fn question(to: SocketAddr, stream: bool) -> Request<Full<Bytes>> {
    Request::post(format!("http://{to}/v1/chat/completions"))
        .header("content-type", "application/json")
        .body(Full::from(fixtures::question(Protocol::Chat, stream)))
        .unwrap()
}

/// Sends bytes and reads the whole response.
pub(crate) async fn raw(to: SocketAddr, bytes: &[u8]) -> ReceivedResponse {
    let mut stream = TcpStream::connect(to).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    finish(&mut stream).await
}

/// Reads the whole response.
pub(crate) async fn finish(stream: &mut TcpStream) -> ReceivedResponse {
    finish_within(Duration::from_secs(10), stream).await
}

async fn finish_within(limit: Duration, stream: &mut TcpStream) -> ReceivedResponse {
    let mut bytes = Vec::new();
    let reading = stream.read_to_end(&mut bytes);
    let _ = tokio::time::timeout(limit, reading).await.expect("no end");
    parse(&bytes)
}

/// Reads whatever else comes, as it came.
pub(crate) async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let reading = stream.read_to_end(&mut bytes);
    let _ = tokio::time::timeout(Duration::from_secs(10), reading).await.expect("no end");
    String::from_utf8(bytes).unwrap()
}

/// Reads until the received bytes contain a text.
pub(crate) async fn until(stream: &mut TcpStream, text: &str) -> String {
    until_within(Duration::from_secs(5), stream, text).await
}

/// The same, if so much time may pass before the next bytes.
pub(crate) async fn until_within(limit: Duration, stream: &mut TcpStream, text: &str) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let all = String::from_utf8(bytes.clone()).unwrap();
        if all.contains(text) {
            return all;
        }
        let reading = stream.read(&mut piece);
        let count = tokio::time::timeout(limit, reading).await;
        let count = count.unwrap_or_else(|_| panic!("{text:?} does not come after {all:?}"));
        let count = count.unwrap();
        assert!(count > 0, "{text:?} does not come: {all:?}");
        bytes.extend_from_slice(&piece[..count]);
    }
}

pub(crate) fn parse(bytes: &[u8]) -> ReceivedResponse {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let rest = bytes.get(end + 4..).unwrap_or_default();
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let (body, trailers) =
        if chunked { dechunk(rest) } else { (rest.to_vec(), Some(String::new())) };
    let body = String::from_utf8(body).unwrap();
    assert!(!head.contains(UPSTREAM_KEY) && !body.contains(UPSTREAM_KEY), "{head}\n{body}");
    SEARCHED.fetch_add(1, Ordering::Relaxed);
    let whole = trailers.is_some();
    ReceivedResponse { status, head, body, whole, trailers: trailers.unwrap_or_default() }
}

/// The body, and its trailers if it is complete.
fn dechunk(mut rest: &[u8]) -> (Vec<u8>, Option<String>) {
    let mut body = Vec::new();
    loop {
        let Some(line) = rest.windows(2).position(|two| two == b"\r\n") else {
            return (body, None);
        };
        let size = std::str::from_utf8(&rest[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            let trailers = String::from_utf8(rest[line + 2..].to_vec()).unwrap();
            return (body, Some(trailers));
        }
        let Some(data) = rest.get(line + 2..line + 2 + size) else { return (body, None) };
        body.extend_from_slice(data);
        rest = rest.get(line + 4 + size..).unwrap_or_default();
    }
}
