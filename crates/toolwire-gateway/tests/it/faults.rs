//! Streams that do not end as they should (R-30), and clients that do not read.

use std::time::Duration;

use http_body_util::{BodyExt, Full};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream_end, stream_head};
use crate::{at, client, config, fixtures, ms, pairs, start};

/// Cuts a stream after some events, by ending the body or the connection.
async fn cut(to: Protocol, from: Protocol, events: usize, clean: bool) {
    let mut steps = vec![stream_head("")];
    steps.extend(fixtures::events(from).iter().take(events).map(chunk));
    steps.push(if clean { stream_end() } else { Step::Close });
    let server = Server::new(from, steps).await;
    let gateway = start(config(vec![at(&server)])).await;
    let got = client::ask_for_stream(&gateway, to).await;
    // If the client has got no content yet, it gets a plain error.
    if got.status == 502 {
        assert!(events <= 2, "{to} {from} {got:?}");
        return;
    }
    assert_eq!(got.status, 200, "{to} {from} {got:?}");
    assert!(got.body.contains(fixtures::error_mark(to)), "{to} {from} {events} {got:?}");
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
        let got = client::ask_for_stream(&gateway, to).await;
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
    (config.limits.early_head, config.limits.heartbeat) = (ms(50), ms(50));
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
    assert!(took >= ms(150) && took < ms(5000), "{took:?}");
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

/// A stream that is cut is reset, so that it cannot be taken for complete.
#[tokio::test]
async fn a_client_of_http_2_that_does_not_read_one_stream_is_cut() {
    let server = flooding().await;
    let mut config = config(vec![at(&server)]);
    config.limits.stall = ms(200);
    let gateway = start(config).await;
    let mut sender = client::http2(gateway.address()).await;
    let mut answer = sender.send_request(client::question(gateway.address(), true)).await.unwrap();
    let began = Instant::now();
    server.left(1).await;
    let took = began.elapsed();
    assert!(took >= ms(150) && took < ms(5000), "{took:?}");
    // Other streams of the connection go on.
    let live = hyper::Request::get("http://localhost/livez").body(Full::default()).unwrap();
    assert_eq!(sender.send_request(live).await.unwrap().status(), 200);
    let ending = loop {
        match answer.frame().await {
            Some(Ok(_)) => {}
            ending => break ending,
        }
    };
    let error = ending.expect("the stream has no normal end").unwrap_err();
    let reason =
        std::error::Error::source(&error).and_then(|error| error.downcast_ref::<h2::Error>());
    assert!(reason.is_some_and(|error| error.is_reset() && error.is_remote()), "{error:?}");
}

/// A client that makes no room for a whole response is cut too.
#[tokio::test]
async fn a_client_of_http_2_that_reads_no_response_is_cut() {
    let long = fixtures::answer(Protocol::Chat).replace("Let me look.", &"x".repeat(1_000_000));
    let server = Server::new(Protocol::Chat, crate::upstream::whole(200, "", long)).await;
    let mut config = config(vec![at(&server)]);
    config.limits.stall = ms(200);
    let gateway = start(config).await;
    let mut sender = client::http2(gateway.address()).await;
    let mut answer = sender.send_request(client::question(gateway.address(), false)).await.unwrap();
    tokio::time::sleep(ms(500)).await;
    let ending = loop {
        match answer.frame().await {
            Some(Ok(_)) => {}
            ending => break ending,
        }
    };
    assert!(ending.is_some_and(|ending| ending.is_err()));
}

/// Whoever looks for a fault of the network would not find one.
#[tokio::test]
async fn an_upstream_that_does_not_speak_http_is_reported_as_that() {
    let ssh = "SSH-2.0-OpenSSH_9.2p1\r\n";
    let folded = "HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n";
    let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n\r\n";
    for sent in [ssh, folded, chunks] {
        let steps = vec![Step::Send(sent.as_bytes().to_vec()), Step::Close];
        let server = Server::new(Protocol::Chat, steps).await;
        let gateway = start(config(vec![at(&server)])).await;
        let to = gateway.address();
        let question = fixtures::question(Protocol::Chat, false);
        let got = client::post(to, "/v1/chat/completions", &[], &question).await;
        assert_eq!(got.status, 502, "{got:?}");
        assert!(got.body.contains("is not a response in HTTP/1.1"), "{sent:?} {got:?}");
        if sent == ssh {
            let question = r#"{"model":"m","input":"x"}"#;
            let got = client::post(to, "/v1/embeddings", &[], question).await;
            assert_eq!(got.status, 502, "{got:?}");
            assert!(got.body.contains("is not a response in HTTP/1.1"), "{got:?}");
        }
    }
}

/// HTTP/1.0 has no other end of a stream than the end of the connection, so a
/// stream that is cut ends with an error of the connection.
#[tokio::test]
async fn a_cut_stream_of_http_1_0_does_not_look_complete() {
    let server = flooding().await;
    let mut config = config(vec![at(&server)]);
    config.limits.stall = ms(200);
    let gateway = start(config).await;
    let mut open = tokio::net::TcpStream::connect(gateway.address()).await.unwrap();
    let body = fixtures::question(Protocol::Chat, true);
    let request = format!(
        "POST /v1/chat/completions HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    open.write_all(request.as_bytes()).await.unwrap();
    server.left(1).await;
    tokio::time::sleep(ms(50)).await;
    let mut got = Vec::new();
    open.read_to_end(&mut got).await.expect_err("the stream has no normal end");
}
