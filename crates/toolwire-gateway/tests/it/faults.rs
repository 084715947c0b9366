//! Streams that do not end as they should, and clients that do not read.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::time::Instant;
use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream_end, stream_head};
use crate::{at, client, config, fixtures, ms, pairs, start};

/// What an error in the middle of a stream looks like.
fn error_mark(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "data: {\"error\":",
        Protocol::Responses => "event: response.failed",
        Protocol::Messages => "event: error",
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// Cuts a stream after some events, by ending the body or the connection.
async fn cut(to: Protocol, from: Protocol, events: usize, clean: bool) {
    let mut steps = vec![stream_head("")];
    steps.extend(fixtures::events(from).iter().take(events).map(chunk));
    steps.push(if clean { stream_end() } else { Step::Close });
    let server = Server::new(from, steps).await;
    let gateway = start(config(vec![at(&server)])).await;
    let got =
        client::post(gateway.address(), fixtures::path(to), &[], &fixtures::question(to, true))
            .await;
    // If the client has got no content yet, it gets a plain error.
    if got.status == 502 {
        assert!(events <= 2, "{to} {from} {got:?}");
        return;
    }
    assert_eq!(got.status, 200, "{to} {from} {got:?}");
    assert!(got.body.contains(error_mark(to)), "{to} {from} {events} {got:?}");
    assert!(!got.body.contains(fixtures::end_mark(to)), "{to} {from} {events} {got:?}");
}

#[tokio::test]
async fn a_cut_stream_is_an_error() {
    for (to, from) in pairs() {
        for events in [0, 2, 4] {
            for clean in [true, false] {
                cut(to, from, events, clean).await;
            }
        }
    }
}

#[tokio::test]
async fn heartbeats_fill_pauses_and_are_not_events() {
    for (to, from) in pairs() {
        let events = fixtures::events(from);
        let mut steps = vec![stream_head("")];
        for event in &events {
            steps.push(chunk(event));
        }
        steps.insert(6, Step::Wait(ms(130)));
        steps.push(stream_end());
        let server = Server::new(from, steps).await;
        let mut config = config(vec![at(&server)]);
        config.limits.heartbeat = ms(50);
        let gateway = start(config).await;
        let began = Instant::now();
        let got =
            client::post(gateway.address(), fixtures::path(to), &[], &fixtures::question(to, true))
                .await;
        let beats = got.body.matches(": ping\n").count();
        // No more than fit into the time that it took.
        let most = began.elapsed().as_millis() as usize / 50;
        assert!((1..=most).contains(&beats), "{to} {from} {got:?}");
        assert!(!got.body.contains(": ping\n\n"), "{got:?}");
        let without = got.body.replace(": ping\n", "");
        if to == from {
            assert_eq!(without, events.concat());
        }
    }
}

#[tokio::test]
async fn a_slow_first_event_gets_the_head_and_heartbeats() {
    let mut steps = vec![stream_head(""), Step::Wait(ms(1000))];
    steps.extend(fixtures::events(Protocol::Chat).iter().map(chunk));
    steps.push(stream_end());
    let server = Server::new(Protocol::Chat, steps).await;
    let mut config = config(vec![at(&server)]);
    config.limits.heartbeat = ms(50);
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Chat, true);
    let mut open = client::open(gateway.address(), "/v1/chat/completions", &[], &question).await;
    let began = Instant::now();
    client::until(&mut open, ": ping\n").await;
    // The first event does not come for a long time.
    assert!(began.elapsed() < ms(900), "{:?}", began.elapsed());
    client::until(&mut open, "[DONE]").await;
}

/// An upstream that never stops sending.
async fn flooding() -> Server {
    let event = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "x".repeat(8000)
    );
    let Step::Send(flood) = chunk(event) else { unreachable!() };
    Server::new(Protocol::Chat, vec![stream_head(""), Step::Flood(flood)]).await
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let server = flooding().await;
    let mut config = config(vec![at(&server)]);
    config.limits.stall = ms(200);
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Chat, true);
    let mut open = client::open(gateway.address(), "/v1/chat/completions", &[], &question).await;
    client::until(&mut open, "text/event-stream").await;
    let began = Instant::now();
    server.left(1).await;
    let took = began.elapsed();
    assert!(took >= ms(150) && took < ms(2000), "{took:?}");
    drop(open);
}

#[tokio::test]
async fn a_client_that_reads_slowly_is_not() {
    let server = flooding().await;
    let mut config = config(vec![at(&server)]);
    config.limits.stall = ms(300);
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Chat, true);
    let mut open = client::open(gateway.address(), "/v1/chat/completions", &[], &question).await;
    let mut piece = vec![0; 256 * 1024];
    let by = Instant::now() + Duration::from_millis(900);
    while Instant::now() < by {
        tokio::time::sleep(ms(30)).await;
        assert!(open.read(&mut piece).await.unwrap() > 0);
    }
    assert_eq!(server.times_left(), 0);
}

#[tokio::test]
async fn a_client_of_http_2_that_does_not_read_one_stream_is_cut() {
    use bytes::Bytes;
    use http_body_util::Full;
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let server = flooding().await;
    let mut config = config(vec![at(&server)]);
    config.limits.stall = ms(200);
    let gateway = start(config).await;
    let tcp = tokio::net::TcpStream::connect(gateway.address()).await.unwrap();
    let shake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(tcp));
    let (mut sender, connection) = shake.await.unwrap();
    tokio::spawn(connection);
    let request = hyper::Request::post(format!("http://{}/v1/chat/completions", gateway.address()))
        .header("content-type", "application/json")
        .body(Full::<Bytes>::from(fixtures::question(Protocol::Chat, true)))
        .unwrap();
    let answer = sender.send_request(request).await.unwrap();
    let began = Instant::now();
    server.left(1).await;
    assert!(began.elapsed() < ms(2000), "{:?}", began.elapsed());
    drop(answer);
}
