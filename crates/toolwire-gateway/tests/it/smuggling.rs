//! Requests whose end two programs could see in different places. Each is
//! refused and its connection closed, so that nothing behind it is ever read as
//! a request (R-21, T-16).

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolwire::Protocol;
use toolwire_gateway::Gateway;

use crate::upstream::{Server, whole};
use crate::{at, client, config, fixtures, ms, start};

/// What is hidden behind an ambiguous request.
const HIDDEN: &str = "GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Sends bytes and reads until the gateway closes the connection.
async fn answers(gateway: &Gateway, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut got = Vec::new();
    let read = tokio::time::timeout(ms(5000), stream.read_to_end(&mut got)).await;
    assert!(read.is_ok(), "the connection stays open after {}", bytes.escape_ascii());
    String::from_utf8(got).unwrap()
}

#[tokio::test]
async fn ambiguous_requests_are_refused() {
    let gateway = start(config(Vec::new())).await;
    let post =
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let chunked = format!("{post}transfer-encoding: chunked\r\n\r\n");
    let heads = [
        // Both lengths, in either order and in any spelling.
        "content-length: 4\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 4\r\n",
        "content-length: 0\r\ntransfer-encoding: chunked\r\n",
        "CONTENT-LENGTH: 4\r\nTransfer-Encoding: Chunked\r\n",
        "content-length: 4\r\ntransfer-encoding: identity\r\n",
        "content-length: 4\r\ntransfer-encoding: gzip, chunked\r\n",
        "content-length: 4\r\nx: y\r\ntransfer-encoding: chunked\r\n",
        // More than one length.
        "content-length: 4\r\ncontent-length: 5\r\n",
        "content-length: 5\r\ncontent-length: 4\r\n",
        "content-length: 4\r\ncontent-length: 4\r\n",
        "content-length: 4, 4\r\n",
        "content-length: 4, 5\r\n",
        "content-length: 4,\r\n",
        "content-length: 0\r\ncontent-length: 4\r\n",
        // Lengths that are no numbers.
        "content-length: +4\r\n",
        "content-length: -4\r\n",
        "content-length: 0x4\r\n",
        "content-length: 4.0\r\n",
        "content-length: 4e0\r\n",
        "content-length: 4 4\r\n",
        "content-length: \"4\"\r\n",
        "content-length: four\r\n",
        "content-length:\r\n",
        "content-length: \r\n",
        "content-length: 18446744073709551620\r\n",
        "content-length: 99999999999999999999999999\r\n",
        "content-length: \u{664}\r\n",
        // Encodings that not everybody reads as chunked.
        "transfer-encoding: chunked, chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
        "transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: identity\r\n",
        "transfer-encoding: identity, chunked\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding: chunkedx\r\n",
        "transfer-encoding: chunke\r\n",
        "transfer-encoding: \"chunked\"\r\n",
        "transfer-encoding: chunked;q=1\r\n",
        "transfer-encoding: \u{b}chunked\r\n",
        "transfer-encoding: chunked\u{b}\r\n",
        "transfer-encoding: ,chunked\r\n",
        "transfer-encoding: chunked,\r\n",
        "transfer-encoding:\r\n",
        "transfer-encoding: gzip\r\n",
        // Names and lines that not everybody reads as the same header.
        "content-length : 4\r\n",
        "content-length\t: 4\r\n",
        " content-length: 4\r\n",
        "transfer-encoding : chunked\r\n",
        "transfer-encoding\u{b}: chunked\r\n",
        "x: y\r\n transfer-encoding: chunked\r\n",
        "x: y\r\n\ttransfer-encoding: chunked\r\n",
        "transfer-encoding:\r\n chunked\r\n",
        "content-length: 4\r\n 4\r\n",
        // Lines that do not end in CRLF.
        "content-length: 4\n",
        "x: y\ncontent-length: 4\r\n",
        "x: y\ntransfer-encoding: chunked\r\n",
        "x: y\rtransfer-encoding: chunked\r\n",
        "x: y\r\r\ncontent-length: 4\r\n",
        "x: \0y\r\ncontent-length: 4\r\n",
        ": y\r\ncontent-length: 4\r\n",
        "x\r\ncontent-length: 4\r\n",
    ];
    let bodies = [
        "4\nabcd\r\n0\r\n\r\n",
        "4\r\nabcd\n0\r\n\r\n",
        "4\r\nabcd\r\n0\n\r\n",
        "4\r\nabcd\r\n0\r\n\n",
        "4\rabcd\r\n0\r\n\r\n",
        "4;a\nb\r\nabcd\r\n0\r\n\r\n",
        "0x4\r\nabcd\r\n0\r\n\r\n",
        "+4\r\nabcd\r\n0\r\n\r\n",
        "-4\r\nabcd\r\n0\r\n\r\n",
        " 4\r\nabcd\r\n0\r\n\r\n",
        "4 \r\nabcd\r\n0\r\n\r\n",
        "4,\r\nabcd\r\n0\r\n\r\n",
        "\r\nabcd\r\n0\r\n\r\n",
        "g\r\nabcd\r\n0\r\n\r\n",
        "4\r\nabcde\r\n0\r\n\r\n",
        "4\r\nabcd0\r\n\r\n",
        "10000000000000004\r\nabcd\r\n0\r\n\r\n",
        "ffffffffffffffffffff\r\nabcd\r\n0\r\n\r\n",
    ];
    let others = [
        "GET /livez HTTP/1.1\nhost: localhost\n\n".to_owned(),
        "GET /livez HTTP/1.1\r\nhost: localhost\n\r\n".to_owned(),
        "GET /livez HTTP/1.1\nhost: localhost\r\n\r\n".to_owned(),
        "GET /livez HTTP/1.1\r\nhost: localhost\r\n\n".to_owned(),
        "\nGET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
        "GET /livez HTTP/1.1\rhost: localhost\r\n\r\n".to_owned(),
        "GET  /livez HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
        "GET /livez HTTP/1.1 \r\nhost: localhost\r\n\r\n".to_owned(),
        "GET /livez\r\nhost: localhost\r\n\r\n".to_owned(),
        "GET /livez HTTP/2.0\r\nhost: localhost\r\n\r\n".to_owned(),
        "GET /livez HTTP/1.2\r\nhost: localhost\r\n\r\n".to_owned(),
        "GET /li\tvez HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nGET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
        format!("{}transfer-encoding: chunked\r\n\r\n0\r\n\r\n", post.replace("1.1", "1.0")),
    ];
    let ambiguous: Vec<String> = heads
        .iter()
        .map(|lines| format!("{post}{lines}\r\n4\r\nabcd\r\n0\r\n\r\n"))
        .chain(bodies.iter().map(|body| format!("{chunked}{body}")))
        .chain(others)
        .collect();
    assert!(ambiguous.len() >= 60);
    for request in &ambiguous {
        let bytes = format!("{request}{HIDDEN}");
        let got = answers(&gateway, bytes.as_bytes()).await;
        assert!(got.starts_with("HTTP/1.1 400 "), "{request:?}: {got:?}");
        assert_eq!(got.matches("HTTP/1.1 ").count(), 1, "{request:?}: {got:?}");
        // The same behind a request that is fine.
        let bytes = format!("GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n{bytes}");
        let got = answers(&gateway, bytes.as_bytes()).await;
        assert!(got.starts_with("HTTP/1.1 200 "), "{request:?}: {got:?}");
        let rest = got.split_once("ok\n").unwrap().1;
        // HTTP/2 is no longer possible, and its preface is no request.
        assert!(rest.starts_with("HTTP/1.1 400 "), "{request:?}: {got:?}");
        assert_eq!(rest.matches("HTTP/1.1 ").count(), 1, "{request:?}: {got:?}");
    }
}

#[tokio::test]
async fn requests_with_one_meaning_are_served() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let body = fixtures::question(Protocol::Chat, false);
    let post = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let size = body.len();
    let (start, rest) = body.split_at(10);
    let mut requests = String::new();
    let served = [
        format!("{post}content-length: {size}\r\n\r\n{body}"),
        format!("{post}Content-Length:\t{size}  \r\n\r\n{body}\r\n"),
        format!("{post}content-length: 000{size}\r\n\r\n{body}\r\n\r\n"),
        format!("{post}transfer-encoding: chunked\r\n\r\n{size:x}\r\n{body}\r\n0\r\n\r\n"),
        format!(
            "{post}Transfer-Encoding: CHUNKED \r\n\r\n000a;a=b;c=\"d\"\r\n{start}\r\n{:X}\r\n{rest}\r\n00\r\nx-trailer: y\r\n\r\n",
            rest.len()
        ),
    ];
    for request in &served {
        requests.push_str(request);
    }
    requests.push_str("GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    // All at once, and in pieces that end anywhere.
    let got = answers(&gateway, requests.as_bytes()).await;
    assert_eq!(got.matches("HTTP/1.1 200 OK").count(), served.len() + 1, "{got}");
    for length in [1, 7, 100] {
        let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        for piece in requests.as_bytes().chunks(length) {
            stream.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
        let mut got = String::new();
        tokio::time::timeout(ms(5000), stream.read_to_string(&mut got)).await.unwrap().unwrap();
        assert_eq!(got.matches("HTTP/1.1 200 OK").count(), served.len() + 1, "{got}");
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 4 * served.len());
    assert!(seen.iter().all(|seen| seen.body == body));
}

/// A client may send its next request before the last is answered, but not
/// without limit. What was sent beyond it is answered by closing.
#[tokio::test]
async fn too_much_behind_a_request_ends_the_connection_after_its_response() {
    let steps = [
        vec![crate::upstream::Step::Wait(ms(200))],
        whole(200, "", fixtures::answer(Protocol::Chat)),
    ];
    let server = Server::new(Protocol::Chat, steps.concat()).await;
    let gateway = start(config(vec![at(&server)])).await;
    let body = fixtures::question(Protocol::Chat, false);
    let mut request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    request.push_str(&HIDDEN.repeat(4000));
    let got = answers(&gateway, request.as_bytes()).await;
    assert!(got.starts_with("HTTP/1.1 200 OK"), "{got}");
    assert_eq!(got.matches("HTTP/1.1 ").count(), 1, "{got}");
    assert_eq!(client::get(gateway.address(), "/livez", &[]).await.status, 200);
}
