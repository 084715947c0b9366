mod differential;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use tokio::io::{AsyncRead as _, AsyncReadExt, AsyncWriteExt, DuplexStream, ReadBuf, duplex};
use tokio::net::TcpListener;

use super::head::Head;
use super::moment::Moment;
use super::pool::Transport;
use super::*;

impl Transport for DuplexStream {
    fn is_quiet(&mut self) -> bool {
        let mut space = [0];
        let mut cx = Context::from_waker(Waker::noop());
        Pin::new(self).poll_read(&mut cx, &mut ReadBuf::new(&mut space)).is_pending()
    }

    fn may_send_and_fail(&self) -> bool {
        false
    }
}

/// A pool that keeps what it gets for the length of a test.
fn pool() -> Arc<Pool<DuplexStream>> {
    Pool::new(Duration::from_secs(60))
}

/// Sends a request with a body and gets the head.
async fn exchange(
    io: DuplexStream,
    body: &Bytes,
    pool: &Arc<Pool<DuplexStream>>,
) -> Result<(Head, Http1Body<DuplexStream>), UpstreamError> {
    let mut connection = Connection::new(io, b"POST / HTTP/1.1\r\n\r\n".to_vec(), body);
    let mut head = connection.read_head().await?;
    let body = Http1Body::new(connection, &mut head, Arc::clone(pool));
    Ok((head, body))
}

/// All that is left of a body, and whether it ended well.
async fn read_to_end<T: Transport>(body: &mut Http1Body<T>) -> (Vec<u8>, Result<(), BodyError>) {
    let mut bytes = Vec::new();
    loop {
        match std::future::poll_fn(|cx| body.poll_piece(cx)).await {
            Some(Ok(piece)) => {
                assert!(!piece.is_empty());
                bytes.extend_from_slice(&piece);
            }
            Some(Err(cut)) => return (bytes, Err(cut)),
            None => return (bytes, Ok(())),
        }
    }
}

#[test]
fn the_head_of_a_request() {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer key"));
    headers.append("x-two", HeaderValue::from_static("1"));
    headers.append("x-two", HeaderValue::from_static("2"));
    // Two lengths, or a wrong one, would let a server read another request.
    headers.insert("content-length", HeaderValue::from_static("7"));
    headers.insert("transfer-encoding", HeaderValue::from_static("chunked"));
    let body = Bytes::from_static(b"{}");
    let target = "/v1/chat/completions?a=b".parse().unwrap();
    let mut request =
        OutgoingRequest { method: Method::POST, target, headers: &headers, body: &body };
    let head = String::from_utf8(request.write_head("localhost:80")).unwrap();
    assert_eq!(
        head,
        "POST /v1/chat/completions?a=b HTTP/1.1\r\nauthorization: Bearer key\r\n\
         x-two: 1\r\nx-two: 2\r\nhost: localhost:80\r\ncontent-length: 2\r\n\r\n"
    );
    assert!(!request.asks_to_close());

    let body = Bytes::new();
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static("another"));
    headers.insert("connection", HeaderValue::from_static("te, Close"));
    (request.headers, request.body, request.method) = (&headers, &body, Method::GET);
    let head = String::from_utf8(request.write_head("localhost")).unwrap();
    assert_eq!(
        head,
        "GET /v1/chat/completions?a=b HTTP/1.1\r\nhost: another\r\nconnection: te, Close\r\n\r\n"
    );
    assert!(request.asks_to_close());
    request.method = Method::POST;
    assert!(request.write_head("x").ends_with(b"\r\ncontent-length: 0\r\n\r\n"));
}

#[test]
fn the_port_in_the_host_header() {
    for (origin, host) in [
        ("http://a", "a"),
        ("http://a:80/v1", "a"),
        ("http://a:8080/v1", "a:8080"),
        ("http://[::1]:443", "[::1]:443"),
        ("http://[::1]", "[::1]"),
    ] {
        let client = Http1Client::new(origin.parse().unwrap(), Duration::from_secs(1), None);
        assert_eq!(client.host, host);
    }
}

#[tokio::test]
async fn which_connections_are_used_again() {
    for (response, again) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", true),
        ("HTTP/1.1 204 No Content\r\n\r\n", true),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: b\r\n\r\n", true),
        ("HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n", true),
        ("HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", false),
        (
            "HTTP/1.1 200 OK\r\nconnection: a, CLOSE\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n",
            false,
        ),
        ("HTTP/1.1 101 Switching\r\n\r\n", false),
        ("HTTP/1.1 204 No Content\r\nkeep-alive: timeout=2\r\n\r\n", true),
        ("HTTP/1.1 204 No Content\r\nkeep-alive: timeout=1\r\n\r\n", false),
        // What follows is the answer to nothing.
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi!", false),
        ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n!", false),
        ("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n!", false),
    ] {
        for split in 0..response.len() {
            let (mut server, io) = duplex(4096);
            let pool = pool();
            let (first, second) = response.as_bytes().split_at(split);
            let serve = async {
                server.write_all(first).await.unwrap();
                tokio::task::yield_now().await;
                // The client may be satisfied.
                let _ = server.write_all(second).await;
            };
            let ask = async {
                let body = Bytes::from_static(b"body");
                let (_, mut body) = exchange(io, &body, &pool).await.unwrap();
                read_to_end(&mut body).await.1.unwrap();
            };
            tokio::join!(serve, ask);
            assert_eq!(pool.take().is_some(), again, "{response:?} at {split}");
        }
    }
}

#[test]
fn for_how_long_connections_are_used_again() {
    let any = Some(Duration::MAX - Duration::from_secs(1));
    for (headers, expected) in [
        ("", any),
        ("keep-alive: timeout=5\r\n", Some(Duration::from_secs(4))),
        (
            "connection: keep-alive\r\nKeep-Alive: timeout=5, max=100\r\n",
            Some(Duration::from_secs(4)),
        ),
        ("keep-alive: max=9 , TimeOut = 30\r\n", Some(Duration::from_secs(29))),
        (
            "keep-alive: timeout=30\r\nkeep-alive: timeout=3,timeout=9\r\n",
            Some(Duration::from_secs(2)),
        ),
        ("keep-alive: timeout=1\r\n", None),
        ("keep-alive: timeout=0\r\n", None),
        ("keep-alive: timeout=5\r\nconnection: close\r\n", None),
        // What says nothing.
        ("keep-alive: max=1\r\n", any),
        ("keep-alive: 5\r\n", any),
        ("keep-alive: timeout=+5\r\n", any),
        ("keep-alive: timeout=soon\r\n", any),
        ("keep-alive: timeout\r\n", any),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n");
        let head = Head::parse(&mut head.into()).unwrap().unwrap();
        assert_eq!(head.keep_alive, expected, "{headers}");
    }
}

#[tokio::test]
async fn a_connection_waits_for_as_long_as_its_server_says() {
    for (seconds, again) in [(15, true), (30, false)] {
        let (mut server, io) = duplex(4096);
        let pool = pool();
        let response = b"HTTP/1.1 204 No Content\r\nkeep-alive: timeout=31\r\n\r\n";
        server.write_all(response).await.unwrap();
        exchange(io, &Bytes::new(), &pool).await.unwrap();
        let later = Moment::now() + Duration::from_secs(seconds);
        assert_eq!(pool.take_at(later).is_some(), again);
    }
}

/// A server that refuses a request may answer without reading all of it.
#[tokio::test]
async fn an_answer_before_the_request_was_sent() {
    let response = b"HTTP/1.1 413 Too Large\r\ncontent-length: 4\r\n\r\nlong";
    for closes in [false, true] {
        let (mut server, io) = duplex(1024);
        let pool = pool();
        server.write_all(response).await.unwrap();
        let server = (!closes).then_some(server);
        let request = Bytes::from(vec![b'x'; 100_000]);
        let (head, mut body) = exchange(io, &request, &pool).await.unwrap();
        assert_eq!(head.status, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(read_to_end(&mut body).await, (b"long".to_vec(), Ok(())));
        assert!(pool.take().is_none(), "the rest of the request would be read as another");
        drop(server);
    }
}

/// A server may send its response while it reads the request.
#[tokio::test]
async fn the_request_is_written_while_the_response_is_read() {
    let (mut server, io) = duplex(1024);
    let pool = pool();
    let request = Bytes::from(vec![b'x'; 100_000]);
    let serve = async {
        server.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n").await.unwrap();
        let mut read = vec![0; 100_000 + b"POST / HTTP/1.1\r\n\r\n".len()];
        server.read_exact(&mut read).await.unwrap();
        server.write_all(b"hi").await.unwrap();
    };
    let ask = async {
        let (_, mut body) = exchange(io, &request, &pool).await.unwrap();
        assert_eq!(read_to_end(&mut body).await, (b"hi".to_vec(), Ok(())));
    };
    tokio::join!(serve, ask);
    assert!(pool.take().is_some());
}

#[tokio::test]
async fn a_request_of_which_nothing_was_sent() {
    let pool = pool();
    let request = Bytes::from_static(b"body");
    let (server, io) = duplex(1024);
    drop(server);
    assert_eq!(exchange(io, &request, &pool).await.err(), Some(UpstreamError::NotSent));

    // The server may have run what it has got.
    let (mut server, io) = duplex(1024);
    let serve = async {
        let mut byte = [0];
        server.read_exact(&mut byte).await.unwrap();
        drop(server);
    };
    let (result, ()) = tokio::join!(exchange(io, &request, &pool), serve);
    assert_eq!(result.err(), Some(UpstreamError::Disconnected));
}

#[tokio::test]
async fn nothing_is_read_that_nobody_asks_for() {
    let (mut server, io) = duplex(64 * 1024);
    let pool = pool();
    let request = Bytes::new();
    server.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    let (_, mut body) = exchange(io, &request, &pool).await.unwrap();
    let sent = timeout(Duration::from_millis(50), async {
        loop {
            server.write_all(&[b'x'; 1024]).await.unwrap();
        }
    });
    assert!(sent.await.is_err());
    let piece = std::future::poll_fn(|cx| body.poll_piece(cx)).await.unwrap().unwrap();
    assert!(piece.len() <= crate::upstream::READ_BUFFER, "{}", piece.len());
    // Whoever stops reading closes the connection.
    drop(body);
    assert!(server.write_all(b"x").await.is_err());
    assert!(pool.take().is_none());
}

/// An event is handed on as soon as it is there, and as it was sent.
#[tokio::test]
async fn a_piece_is_a_chunk() {
    let (mut server, io) = duplex(64 * 1024);
    let pool = pool();
    let request = Bytes::new();
    server.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
    let (_, mut body) = exchange(io, &request, &pool).await.unwrap();
    let next = async |body: &mut Http1Body<DuplexStream>| {
        std::future::poll_fn(|cx| body.poll_piece(cx)).await.unwrap().unwrap()
    };
    server.write_all(b"1\r\na\r\n2\r\nbc\r\n3\r\nde").await.unwrap();
    for piece in ["a", "bc", "de"] {
        assert_eq!(next(&mut body).await, piece);
    }
    server.write_all(b"f\r\n1\r\ng\r\n0\r\n\r\n").await.unwrap();
    assert_eq!(next(&mut body).await, "f");
    assert!(!body.is_complete() && pool.take().is_none());
    assert_eq!(next(&mut body).await, "g");
    // The connection is free before the end was asked for.
    assert!(body.is_complete() && pool.take().is_some());
}

/// A request is large, and a stream may be open for an hour.
#[tokio::test]
async fn a_request_that_was_sent_is_not_kept() {
    let (mut server, io) = duplex(64 * 1024);
    let (pool, request) = (pool(), Bytes::from(vec![b'x'; 10_000]));
    server.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    let (_, _body) = exchange(io, &request, &pool).await.unwrap();
    assert!(request.is_unique());
}

/// A waiting stream holds little besides its socket.
#[test]
fn a_body_is_small() {
    let size = size_of::<Http1Body<Stream>>();
    assert!(size <= 208, "{size} bytes");
}

#[tokio::test]
async fn one_connection_is_enough_for_one_request_after_another() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let client = Http1Client::new(origin, Duration::from_secs(5), None);
    let serve = async {
        let mut connections = 0;
        // Each connection is closed after three requests, without a word.
        for requests in [3, 3, 1] {
            let (mut stream, _) = listener.accept().await.unwrap();
            connections += 1;
            for _ in 0..requests {
                let mut read = Vec::new();
                while !read.ends_with(b"ping") {
                    stream.read_buf(&mut read).await.unwrap();
                }
                let response = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npong";
                stream.write_all(response).await.unwrap();
            }
        }
        connections
    };
    let ask = async {
        let (headers, body) = (HeaderMap::new(), Bytes::from_static(b"ping"));
        for _ in 0..7 {
            let request = OutgoingRequest {
                method: Method::POST,
                target: "/".parse().unwrap(),
                headers: &headers,
                body: &body,
            };
            let (head, mut body) = client.send(&request).await.unwrap();
            assert_eq!(head.status, StatusCode::OK);
            assert_eq!(read_to_end(&mut body).await, (b"pong".to_vec(), Ok(())));
            // Time for the server to close.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let (connections, ()) = tokio::join!(serve, ask);
    assert_eq!(connections, 3);
}
