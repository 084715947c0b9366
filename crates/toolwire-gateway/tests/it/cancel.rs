//! When a client leaves, the upstream's request is cancelled at once.

use std::time::Duration;

use tokio::time::Instant;
use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream_head};
use crate::{at, client, config, fixtures, ms, pairs, start};

/// How soon the upstream must notice.
const SOON: u64 = 100;

/// Leaves while the upstream is working. A busy machine gets two more attempts.
async fn check(to: Protocol, from: Protocol, stream: bool, steps: Vec<Step>, until: Option<&str>) {
    for attempt in 1.. {
        let noticed = leave(to, from, stream, steps.clone(), until).await;
        if noticed < ms(SOON) {
            return;
        }
        assert!(attempt < 3, "{to} {from} stream {stream}: {noticed:?}");
    }
}

async fn leave(
    to: Protocol,
    from: Protocol,
    stream: bool,
    steps: Vec<Step>,
    until: Option<&str>,
) -> Duration {
    let server = Server::new(from, steps).await;
    let gateway = start(config(vec![at(&server)])).await;
    let body = fixtures::question(to, stream);
    let mut open = client::open(gateway.address(), fixtures::path(to), &[], &body).await;
    server.until_seen(1).await;
    if let Some(text) = until {
        client::until(&mut open, text).await;
    }
    let left = Instant::now();
    drop(open);
    server.left(1).await.saturating_duration_since(left)
}

#[tokio::test]
async fn before_the_head() {
    for (to, from) in pairs() {
        for stream in [false, true] {
            check(to, from, stream, vec![Step::Hang], None).await;
        }
    }
}

#[tokio::test]
async fn before_the_first_event() {
    for (to, from) in pairs() {
        check(to, from, true, vec![stream_head(""), Step::Hang], None).await;
    }
}

#[tokio::test]
async fn in_the_middle_of_a_whole_answer() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";
    for (to, from) in pairs() {
        let steps = vec![Step::Send(head.as_bytes().to_vec()), Step::Hang];
        check(to, from, false, steps, None).await;
    }
}

#[tokio::test]
async fn in_the_middle_of_a_stream() {
    for (to, from) in pairs() {
        let mut steps = vec![stream_head("")];
        steps.extend(fixtures::events(from).iter().take(4).map(chunk));
        steps.push(Step::Hang);
        check(to, from, true, steps, Some("Let me look.")).await;
    }
}

/// Some clients end a body with an empty line, and some send the next request
/// early.
#[tokio::test]
async fn with_bytes_behind_the_request() {
    use tokio::io::AsyncWriteExt;
    for behind in ["\r\n", "x", "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
        for at_once in [true, false] {
            for stream in [false, true] {
                let steps =
                    if stream { vec![stream_head(""), Step::Hang] } else { vec![Step::Hang] };
                let server = Server::new(Protocol::Chat, steps).await;
                let gateway = start(config(vec![at(&server)])).await;
                let body = fixtures::question(Protocol::Chat, stream);
                let length = body.len();
                let mut request = format!(
                    "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
                );
                if at_once {
                    request.push_str(behind);
                }
                let mut open = tokio::net::TcpStream::connect(gateway.address()).await.unwrap();
                open.write_all(request.as_bytes()).await.unwrap();
                server.until_seen(1).await;
                if !at_once {
                    open.write_all(behind.as_bytes()).await.unwrap();
                }
                tokio::time::sleep(ms(20)).await;
                assert_eq!(server.times_left(), 0);
                let left = Instant::now();
                drop(open);
                let noticed = server.left(1).await.saturating_duration_since(left);
                assert!(noticed < ms(SOON), "{behind:?} {noticed:?}");
            }
        }
    }
}

#[tokio::test]
async fn over_http_2() {
    use bytes::Bytes;
    use http_body_util::{BodyExt, Full};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    for stream in [false, true] {
        let mut steps = Vec::new();
        if stream {
            steps.push(stream_head(""));
            steps.extend(fixtures::events(Protocol::Chat).iter().take(2).map(chunk));
        }
        steps.push(Step::Hang);
        let server = Server::new(Protocol::Chat, steps).await;
        let gateway = start(config(vec![at(&server)])).await;
        let tcp = tokio::net::TcpStream::connect(gateway.address()).await.unwrap();
        let shake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(tcp));
        let (mut sender, connection) = shake.await.unwrap();
        tokio::spawn(connection);
        let request =
            hyper::Request::post(format!("http://{}/v1/chat/completions", gateway.address()))
                .header("content-type", "application/json")
                .body(Full::<Bytes>::from(fixtures::question(Protocol::Chat, stream)))
                .unwrap();
        let answer = sender.send_request(request);
        let left = if stream {
            let mut answer = answer.await.unwrap();
            answer.frame().await.unwrap().unwrap();
            drop(answer);
            Instant::now()
        } else {
            let answer = tokio::spawn(answer);
            server.until_seen(1).await;
            answer.abort();
            Instant::now()
        };
        let noticed = server.left(1).await.saturating_duration_since(left);
        assert!(noticed < ms(SOON), "stream {stream}: {noticed:?}");
    }
}
