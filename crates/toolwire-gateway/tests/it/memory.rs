//! What requests and responses may keep in memory, one by one and together.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::Instant;
use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, client, config, fixtures, ms, pairs, start};

/// A metric.
async fn metric(to: SocketAddr, name: &str) -> usize {
    let page = client::get(to, "/metrics", &[]).await.body;
    let line = page.lines().find(|line| line.starts_with(&format!("{name} ")));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).expect(name)
}

/// Waits until nothing is kept.
async fn until_free(to: SocketAddr) {
    let by = Instant::now() + Duration::from_secs(5);
    loop {
        let kept =
            [metric(to, "toolwire_body_bytes").await, metric(to, "toolwire_stream_bytes").await];
        if kept == [0, 0] {
            return;
        }
        assert!(Instant::now() < by, "still kept: {kept:?}");
        tokio::time::sleep(ms(5)).await;
    }
}

/// A question with so much text.
fn long_question(protocol: Protocol, length: usize) -> String {
    fixtures::question(protocol, false).replace("Weather in Paris?", &"x".repeat(length))
}

/// Proves that many uploads at a time get a 503 with `retry-after` beyond the
/// limit, in the client's protocol, and that all memory is given back when the
/// clients leave.
#[tokio::test]
async fn many_uploads_at_once() {
    const LIMIT: usize = 2 << 20;
    for to in Protocol::ALL {
        let server = Server::new(to, vec![Step::Hang]).await;
        let mut config = config(vec![at(&server)]);
        config.limits.bodies_total = LIMIT;
        let gateway = start(config).await;
        let address = gateway.address();
        let question = long_question(to, 400_000);
        let mut open = Vec::new();
        for _ in 0..12 {
            open.push(client::open(address, fixtures::path(to), &[], &question).await);
        }
        // A request that goes up as it came is kept once.
        let fitting = LIMIT / question.len();
        server.until_seen(fitting).await;
        let by = Instant::now() + Duration::from_secs(5);
        while metric(address, "toolwire_bodies_refused_total").await < 12 - fitting {
            assert!(Instant::now() < by, "too few are refused");
            tokio::time::sleep(ms(5)).await;
        }
        let kept = metric(address, "toolwire_body_bytes").await;
        assert!((1_600_000..=LIMIT).contains(&kept), "{kept}");
        assert_eq!(server.seen().len(), fitting, "only what fits is sent");
        // The others have their error.
        let mut refused = 0;
        for mut stream in open {
            let answer = tokio::time::timeout(ms(50), client::finish(&mut stream)).await;
            let Ok(got) = answer else { continue };
            assert_eq!(got.status, 503, "{got:?}");
            assert_eq!(got.header("retry-after"), Some("1"), "{got:?}");
            assert!(got.json()["error"]["message"].as_str().unwrap().contains("busy"), "{got:?}");
            assert_eq!(got.json()["type"] == "error", to == Protocol::Messages, "{got:?}");
            refused += 1;
        }
        assert_eq!(refused, 12 - fitting);
        until_free(address).await;
    }
}

/// Proves that a client whose long request is refused can read the error, and
/// does not see a broken connection.
#[tokio::test]
async fn a_refused_client_can_read_the_error() {
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let mut config = config(vec![at(&server)]);
    config.limits.bodies_total = 1 << 20;
    let gateway = start(config).await;
    let to = gateway.address();
    let question = long_question(Protocol::Chat, 20 << 20);
    let got = client::post(to, "/v1/chat/completions", &[], &question).await;
    assert_eq!(got.status, 503, "{got:?}");
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    let request = format!("{head}{:x}\r\n{question}\r\n0\r\n\r\n", question.len());
    assert_eq!(client::raw(to, request.as_bytes()).await.status, 503);
    until_free(to).await;
}

/// Proves that a body which cannot fit is refused before it is sent, and that
/// merely announcing a long body reserves nothing.
#[tokio::test]
async fn announced_bodies() {
    let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    let mut config = config(vec![at(&server)]);
    config.limits.bodies_total = 1 << 20;
    let gateway = start(config).await;
    let to = gateway.address();
    let head = |length: usize| {
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    let mut announced = Vec::new();
    for _ in 0..20 {
        use tokio::io::AsyncWriteExt;
        let mut stream = tokio::net::TcpStream::connect(to).await.unwrap();
        stream.write_all(head(1_000_000).as_bytes()).await.unwrap();
        announced.push(stream);
    }
    tokio::time::sleep(ms(50)).await;
    assert_eq!(metric(to, "toolwire_body_bytes").await, 0);
    let question = long_question(Protocol::Chat, 400_000);
    let _open = client::open(to, "/v1/chat/completions", &[], &question).await;
    server.until_seen(1).await;
    let got = client::raw(to, head(1_000_000).as_bytes()).await;
    assert_eq!(got.status, 503, "{got:?}");
}

/// Proves that a whole response beyond the limit is an error and never a part of
/// it, for every pair, whether or not a stream was asked for.
#[tokio::test]
async fn a_whole_response_that_is_too_long() {
    for (to, from) in pairs() {
        for streams in [false, true] {
            let body = fixtures::answer(from).replace("Let me look.", &"x".repeat(300_000));
            let server = Server::new(from, whole(200, "", body)).await;
            for (response, total, status) in
                [(200_000, usize::MAX, 502), (usize::MAX, 200_000, 503), (1 << 20, 4 << 20, 200)]
            {
                let mut config = config(vec![at(&server)]);
                config.limits.response = response;
                config.limits.bodies_total = total;
                let gateway = start(config).await;
                let question = fixtures::question(to, streams);
                let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
                assert_eq!(got.status, status, "{to} {from} {streams} {:.500}", got.body);
                assert_eq!(got.body.len() > 300_000, status == 200);
                assert_eq!(got.header("retry-after").is_some(), status == 503, "{got:?}");
                until_free(gateway.address()).await;
            }
        }
    }
}

/// A stream that says so much, in pieces of 1000 bytes.
fn long_stream(from: Protocol, pieces: usize) -> Vec<Step> {
    long_stream_in_chunks(from, pieces, 1)
}

fn long_stream_in_chunks(from: Protocol, pieces: usize, per_chunk: usize) -> Vec<Step> {
    let mut steps = vec![stream_head("")];
    let mut is_first = true;
    for event in fixtures::events(from) {
        if is_first && event.contains("Let me look.") {
            is_first = false;
            let piece = event.replace("Let me look.", &"x".repeat(1000));
            let chunks = piece.repeat(per_chunk);
            steps.extend(std::iter::repeat_n(chunk(chunks), pieces / per_chunk));
        } else {
            steps.push(chunk(event));
        }
    }
    steps.push(stream_end());
    steps
}

/// Proves that a stream which adds up to more than the limit ends with its
/// protocol's error and never with a normal end, and that its upstream is
/// cancelled. Where the bytes pass nothing is kept, and nothing is limited.
#[tokio::test]
async fn a_stream_that_is_too_long() {
    for (to, from) in pairs() {
        for (response, total) in [(100_000, usize::MAX), (usize::MAX, 100_000)] {
            let server = Server::new(from, long_stream(from, 400)).await;
            let mut config = config(vec![at(&server)]);
            config.limits.response = response;
            config.limits.streams_total = total;
            let gateway = start(config).await;
            let question = fixtures::question(to, true);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, 200, "{to} {from} {got:?}");
            let ended = got.body.contains(fixtures::end_mark(to));
            assert_eq!(ended, to == from, "{to} {from} {}", got.body.len());
            let error = match to {
                Protocol::Chat => "data: {\"error\":",
                Protocol::Responses => "event: response.failed",
                Protocol::Messages => "event: error",
                other => panic!("not a built-in protocol: {other:?}"),
            };
            assert_eq!(got.body.contains(error), to != from, "{to} {from}");
            assert!(to == from || got.body.len() < 300_000, "{to} {from} {}", got.body.len());
            until_free(gateway.address()).await;
            let refused = metric(gateway.address(), "toolwire_streams_refused_total").await;
            assert_eq!(refused, usize::from(to != from && total == 100_000), "{to} {from}");
        }
    }
}

/// A stream is counted as refused once, also if more of it has already arrived.
#[tokio::test]
async fn a_stream_that_is_too_long_in_one_chunk_is_refused_once() {
    let from = Protocol::Chat;
    let server = Server::new(from, long_stream_in_chunks(from, 400, 400)).await;
    let mut config = config(vec![at(&server)]);
    config.limits.streams_total = 100_000;
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Responses, true);
    let got = client::post(gateway.address(), "/v1/responses", &[], &question).await;
    assert!(got.body.contains("event: response.failed"), "{}", got.body.len());
    until_free(gateway.address()).await;
    assert_eq!(metric(gateway.address(), "toolwire_streams_refused_total").await, 1);
}

/// Proves that what open streams keep is counted while they are open, and is
/// given back when their clients leave.
#[tokio::test]
async fn open_streams_are_counted() {
    let from = Protocol::Chat;
    let mut steps = long_stream(from, 100);
    steps.truncate(102);
    steps.push(Step::Hang);
    let server = Server::new(from, steps).await;
    let gateway = start(config(vec![at(&server)])).await;
    let to = gateway.address();
    let question = fixtures::question(Protocol::Responses, true);
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(client::open(to, "/v1/responses", &[], &question).await);
    }
    for stream in &mut open {
        client::until(stream, "\"sequence_number\":103").await;
    }
    let kept = metric(to, "toolwire_stream_bytes").await;
    assert!((500_000..510_000).contains(&kept), "{kept}");
    drop(open);
    until_free(to).await;
}
