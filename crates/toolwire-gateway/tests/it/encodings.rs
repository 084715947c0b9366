//! Upstreams that compress although the gateway asks them not to.

use std::io::Write;

use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, client, config, fixtures, ms, start};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn whole_answers() {
    let from = Protocol::Messages;
    let bodies = [
        ("gzip", gzip(&fixtures::answer(from))),
        ("zstd", zstd::encode_all(fixtures::answer(from).as_bytes(), 3).unwrap()),
    ];
    for (encoding, body) in bodies {
        let steps = whole(200, &format!("content-encoding: {encoding}\r\n"), body);
        let server = Server::new(from, steps).await;
        let gateway = start(config(vec![at(&server)])).await;
        for to in Protocol::ALL {
            let question = fixtures::question(to, false);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, 200, "{got:?}");
            assert!(got.body.contains("call_abc"));
            assert_eq!(got.header("content-encoding"), None);
        }
        assert_eq!(server.seen()[0].header("accept-encoding"), Some("identity"));
    }
}

#[tokio::test]
async fn streams_event_by_event() {
    let events = fixtures::events(Protocol::Chat);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut steps = vec![stream_head("content-encoding: gzip\r\n")];
    for event in &events {
        encoder.write_all(event.as_bytes()).unwrap();
        encoder.flush().unwrap();
        steps.push(chunk(std::mem::take(encoder.get_mut())));
        steps.push(Step::Wait(ms(20)));
    }
    steps.push(Step::Wait(ms(1000)));
    steps.push(chunk(encoder.finish().unwrap()));
    steps.push(stream_end());
    let server = Server::new(Protocol::Chat, steps).await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Chat, true);
    let mut open = client::open(gateway.address(), "/v1/chat/completions", &[], &question).await;
    let began = tokio::time::Instant::now();
    client::until(&mut open, "Let me look.").await;
    // The compressed body does not end for a long time.
    assert!(began.elapsed() < ms(900), "{:?}", began.elapsed());
    client::until(&mut open, "[DONE]").await;
}

#[tokio::test]
async fn bombs() {
    let bomb = gzip(&format!("{{\"a\":\"{}\"}}", " ".repeat(5_000_000)));
    let server = Server::new(Protocol::Chat, whole(200, "content-encoding: gzip\r\n", bomb)).await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Chat, false);
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!(got.status, 502, "{got:?}");
}

#[tokio::test]
async fn unknown_ones() {
    let steps = whole(200, "content-encoding: rot13\r\n", "{}");
    let server = Server::new(Protocol::Chat, steps).await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Chat, false);
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!(got.status, 502, "{got:?}");
}
