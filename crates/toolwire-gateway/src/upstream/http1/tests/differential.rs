//! hyper's client reads the same bytes: what both make of them must be equal.

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;

use super::*;
use crate::upstream::READ_BUFFER;

/// What a client makes of a response.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    status: Option<u16>,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    is_clean: bool,
}

impl Outcome {
    const NONE: Self =
        Self { status: None, headers: Vec::new(), body: Vec::new(), is_clean: false };
}

/// Sends pieces when the request was read, each on its own, and closes.
async fn serve(mut server: DuplexStream, pieces: Vec<Vec<u8>>) {
    let mut read = Vec::new();
    while !read.ends_with(REQUEST_BODY) {
        server.read_buf(&mut read).await.unwrap();
    }
    for piece in pieces {
        if server.write_all(&piece).await.is_err() {
            return;
        }
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
    }
}

fn headers(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    let headers = headers.iter();
    headers.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect()
}

async fn ours(pieces: Vec<Vec<u8>>) -> Outcome {
    let (server, io) = duplex(1024 * 1024);
    let (pool, request) = (pool(), Bytes::from_static(REQUEST_BODY));
    tokio::spawn(serve(server, pieces));
    let Ok((head, mut body)) = exchange(io, &request, &pool).await else { return Outcome::NONE };
    let (body, result) = read_to_end(&mut body).await;
    let (status, headers) = (Some(head.status.as_u16()), headers(&head.headers));
    Outcome { status, headers, body, is_clean: result.is_ok() }
}

async fn hypers(pieces: Vec<Vec<u8>>) -> Outcome {
    let (server, io) = duplex(1024 * 1024);
    tokio::spawn(serve(server, pieces));
    let mut builder = hyper::client::conn::http1::Builder::new();
    builder.max_buf_size(READ_BUFFER);
    let (mut sender, connection) = builder.handshake(TokioIo::new(io)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post("/").body(Full::<Bytes>::from(REQUEST_BODY)).unwrap();
    let Ok(response) = sender.send_request(request).await else { return Outcome::NONE };
    let (head, mut incoming) = response.into_parts();
    let (mut body, mut is_clean) = (Vec::new(), true);
    while let Some(frame) = incoming.frame().await {
        match frame {
            Ok(frame) => body.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data)),
            Err(_) => is_clean = false,
        }
    }
    let (status, headers) = (Some(head.status.as_u16()), headers(&head.headers));
    Outcome { status, headers, body, is_clean }
}

async fn check(pieces: Vec<Vec<u8>>) {
    let (ours, hypers) = tokio::join!(ours(pieces.clone()), hypers(pieces.clone()));
    let is_stricter = hypers.is_clean && !ours.is_clean;
    if is_stricter && has_bare_line_feed_in_body(&pieces.concat()) {
        assert_eq!(ours, Outcome { is_clean: false, ..hypers });
        return;
    }
    let pieces: Vec<_> = pieces.iter().map(|piece| piece.escape_ascii().to_string()).collect();
    assert_eq!(ours, hypers, "{pieces:?}");
}

/// The one thing that hyper accepts and we do not. It takes a line feed in a
/// trailer for the end of a line, and one at the beginning of a line for the end
/// of all trailers, whatever follows. Nobody sends that in good faith.
fn has_bare_line_feed_in_body(response: &[u8]) -> bool {
    let end =
        response.windows(3).position(|three| three == b"\n\r\n" || three.starts_with(b"\n\n"));
    let body = end.map_or(&[][..], |end| &response[end + 2..]);
    body.windows(2).any(|two| two[0] != b'\r' && two[1] == b'\n')
}

/// Whole, cut at every byte, in two pieces at every byte, and byte by byte.
async fn check_all(response: &[u8]) {
    check(vec![response.to_vec()]).await;
    check(response.chunks(1).map(<[u8]>::to_vec).collect()).await;
    for at in 1..response.len() {
        let (first, second) = response.split_at(at);
        check(vec![first.to_vec()]).await;
        check(vec![first.to_vec(), second.to_vec()]).await;
    }
}

#[tokio::test]
async fn heads() {
    for head in HEADS {
        for body in ["", "hello", "5\r\nhello\r\n0\r\n\r\n"] {
            check_all(format!("{head}{body}").as_bytes()).await;
        }
    }
}

#[tokio::test]
async fn headers_that_frame() {
    for lines in FRAMING {
        for version in ["1.1", "1.0"] {
            for body in ["hello", "5\r\nhello\r\n0\r\n\r\n"] {
                let response = format!("HTTP/{version} 200 OK\r\n{lines}\r\n{body}");
                check_all(response.as_bytes()).await;
            }
        }
    }
}

#[tokio::test]
async fn chunked_bodies() {
    for body in CHUNKED {
        let response = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{body}");
        check_all(response.as_bytes()).await;
    }
}

#[tokio::test]
async fn limits() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut responses = Vec::new();
    for headers in [99, 100, 101] {
        let lines: String = (0..headers).map(|n| format!("x-{n}: {n}\r\n")).collect();
        responses.push(format!("HTTP/1.1 200 OK\r\n{lines}\r\nhello"));
        responses.push(format!("{chunked}0\r\n{lines}\r\n"));
    }
    let frame = "HTTP/1.1 200 OK\r\nx: \r\n\r\n".len();
    for length in READ_BUFFER - frame - 2..READ_BUFFER - frame + 3 {
        let value = "x".repeat(length);
        responses.push(format!("HTTP/1.1 200 OK\r\nx: {value}\r\n\r\nhello"));
        responses.push(format!(
            "HTTP/1.1 103 Early\r\nx: {value}\r\n\r\nHTTP/1.1 200 OK\r\nx: {value}\r\n\r\n"
        ));
    }
    for length in 16 * 1024 - 12..16 * 1024 + 2 {
        let value = "x".repeat(length);
        responses.push(format!("{chunked}0\r\nx: {value}\r\n\r\n"));
        responses.push(format!("{chunked}1;{value}\r\na\r\n0\r\n\r\n"));
        responses.push(format!("{chunked}1;a\r\na\r\n1;{value}\r\na\r\n0\r\n\r\n"));
    }
    for length in [100_000, 16 * 1024, 16 * 1024 + 1] {
        let value = "x".repeat(length);
        responses.push(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{value}"));
        responses.push(format!("HTTP/1.1 200 OK\r\n\r\n{value}"));
        responses.push(format!("{chunked}{length:x}\r\n{value}\r\n0\r\n\r\n"));
    }
    for response in responses {
        for size in [usize::MAX, 8000, 1000, 77] {
            let pieces = response.as_bytes().chunks(size.min(response.len()));
            check(pieces.map(<[u8]>::to_vec).collect()).await;
        }
    }
}

/// Responses made at random of the same parts, with mistakes.
#[tokio::test]
async fn random_responses() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..6000 {
        let mut response = Vec::new();
        if random.below(8) == 0 {
            response.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        if random.below(4) == 0 {
            response.extend_from_slice(random.pick(HEADS).as_bytes());
        } else {
            let version = random.pick(&["HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n"]);
            response.extend_from_slice(version.as_bytes());
            for _ in 0..random.below(3) {
                response.extend_from_slice(random.pick(FRAMING).as_bytes());
            }
            response.extend_from_slice(b"\r\n");
        }
        for _ in 0..=random.below(2) {
            response.extend_from_slice(random.pick(CHUNKED).as_bytes());
        }
        for _ in 0..random.below(3) {
            let at = random.below(response.len());
            match random.below(4) {
                0 => drop(response.remove(at)),
                1 => response.insert(at, *random.pick(b"\r\n :;,0a\t\0\xff")),
                2 => response[at] = *random.pick(b"\r\n :;,0a\t\0\xff"),
                _truncate => response.truncate(at.max(1)),
            }
        }
        let mut pieces = Vec::new();
        let mut rest = &response[..];
        while !rest.is_empty() {
            let length = match random.below(3) {
                0 => rest.len(),
                1 => 1 + random.below(rest.len()),
                _short => 1 + random.below(rest.len().min(4)),
            };
            let (piece, behind) = rest.split_at(length.min(rest.len()));
            pieces.push(piece.to_vec());
            rest = behind;
        }
        check(pieces).await;
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(mixed).unwrap() % limit.max(1)
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }
}

const REQUEST_BODY: &[u8] = b"a request";

const HEADS: &[&str] = &[
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
    "HTTP/1.1 200\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 \r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 Very Well\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 \u{fc}ber\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1  200 OK\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 20 OK\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 099 Low\r\n\r\n",
    "HTTP/1.1 999 High\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 abc\r\n\r\n",
    "HTTP/1.2 200 OK\r\n\r\n",
    "HTTP/2 200 OK\r\n\r\n",
    "HTTP/2.0 200 OK\r\n\r\n",
    "http/1.1 200 OK\r\n\r\n",
    "ICY 200 OK\r\n\r\n",
    "\r\n",
    "\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n",
    "\n\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\ncontent-length: 5\n\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\n\r\n",
    "HTTP/1.1 200 OK\ncontent-length: 5\r\n\n",
    "HTTP/1.1 200 OK\rcontent-length: 5\r\r",
    "HTTP/1.1 200 OK\r\n content-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx : a\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\n: a\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx:\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: \t a \t \r\nX: b\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: a\u{7f}b\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: \u{fc}\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx(y): a\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 103 Early\r\ncontent-length: 5\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Wait\r\na: b\r\n\r\nHTTP/1.1 204 None\r\n\r\n",
    "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    "HTTP/1.1 204 None\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 204 None\r\ntransfer-encoding: chunked\r\n\r\n",
    "HTTP/1.1 304 Same\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 205 Reset\r\n\r\n",
    "HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.0 200 OK\r\n\r\n",
    "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nset-cookie: a\r\nset-cookie: b\r\nx: 1\r\nset-cookie: c\r\n\r\n",
];

const FRAMING: &[&str] = &[
    "content-length: 5\r\n",
    "content-length: 0\r\n",
    "content-length: 3\r\n",
    "content-length: 9\r\n",
    "Content-Length: 05\r\n",
    "content-length: 5\r\ncontent-length: 5\r\n",
    "content-length: 5\r\ncontent-length: 4\r\n",
    "content-length: 5, 5\r\n",
    "content-length: 5, 4\r\n",
    "content-length: 5,\r\n",
    "content-length: +5\r\n",
    "content-length: -5\r\n",
    "content-length: 0x5\r\n",
    "content-length: 5 5\r\n",
    "content-length:\r\n",
    "content-length: five\r\n",
    "content-length: \u{665}\r\n",
    "content-length: 18446744073709551615\r\n",
    "content-length: 18446744073709551614\r\n",
    "content-length: 18446744073709551613\r\n",
    "content-length: 18446744073709551620\r\n",
    "transfer-encoding: chunked\r\n",
    "Transfer-Encoding: Chunked\r\n",
    "transfer-encoding: gzip, chunked\r\n",
    "transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n",
    "transfer-encoding: chunked\r\ntransfer-encoding: gzip\r\n",
    "transfer-encoding: chunked, gzip\r\n",
    "transfer-encoding: chunked, chunked\r\n",
    "transfer-encoding: chunked,\r\n",
    "transfer-encoding: identity\r\n",
    "transfer-encoding:\r\n",
    "transfer-encoding: \u{fc}, chunked\r\n",
    "transfer-encoding: xchunked\r\n",
    "transfer-encoding: chunked;q=1\r\n",
    "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
    "content-length: 5\r\ntransfer-encoding: chunked\r\n",
    "content-length: 5\r\ntransfer-encoding: gzip\r\n",
    "content-length: x\r\ntransfer-encoding: chunked\r\n",
    "connection: close\r\ncontent-length: 5\r\n",
];

const CHUNKED: &[&str] = &[
    "0\r\n\r\n",
    "5\r\nhello\r\n0\r\n\r\n",
    "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
    "5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "05\r\nhello\r\n000\r\n\r\n",
    "A\r\n0123456789\r\nb\r\n0123456789a\r\n0\r\n\r\n",
    "5 \r\nhello\r\n0\t \r\n\r\n",
    " 5\r\nhello\r\n0\r\n\r\n",
    "5;a=b;c=\"d\"\r\nhello\r\n0;e\r\n\r\n",
    "5 ;a\r\nhello\r\n0\r\n\r\n",
    "5 a\r\nhello\r\n0\r\n\r\n",
    "5;a\nb\r\nhello\r\n0\r\n\r\n",
    "5;a\rb\r\nhello\r\n0\r\n\r\n",
    "5\nhello\r\n0\r\n\r\n",
    "5\r\nhello\n0\r\n\r\n",
    "5\r\nhello0\r\n\r\n",
    "5\r\nhello!\r\n0\r\n\r\n",
    "5\r\nhello\r\n0\n\r\n",
    "5\r\nhello\r\n0\r\n\n",
    "5\rhello\r\n0\r\n\r\n",
    "\r\nhello\r\n0\r\n\r\n",
    "g\r\nhello\r\n0\r\n\r\n",
    "0x5\r\nhello\r\n0\r\n\r\n",
    "+5\r\nhello\r\n0\r\n\r\n",
    "-5\r\nhello\r\n0\r\n\r\n",
    "ffffffffffffffff\r\nhello",
    "10000000000000000\r\nhello",
    "fffffffffffffffff\r\nhello",
    "5\r\nhello\r\n0\r\na: b\r\n\r\n",
    "5\r\nhello\r\n0\r\na: b\r\nc: d\r\n\r\n",
    "0\r\na\r\n\r\n",
    "0\r\n: b\r\n\r\n",
    "0\r\na : b\r\n\r\n",
    "0\r\na: b\nc: d\r\n\r\n",
    "0\r\na: b\n\r\n\r\n",
    "0\r\na: b\rc\r\n\r\n",
    "0\r\n\na: b\r\n\r\n",
    "0\r\na: b\r\n c\r\n\r\n",
    "0\r\na: \0\r\n\r\n",
    "0\r\na: b\r\n\n",
];
