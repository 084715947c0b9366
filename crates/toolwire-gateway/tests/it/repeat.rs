//! A request that the upstream provably did not process is repeated once, on
//! another connection. No other request is.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use h2::Reason;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolwire::Protocol;
use toolwire_gateway::config::CaBundle;

use crate::secure::{Act, Secure, behind, identity};
use crate::upstream::{Server, Step, whole};
use crate::{at, client, config, fixtures, pairs, start};

#[tokio::test]
async fn a_refused_stream() {
    for (to, from) in pairs() {
        for stream in [false, true] {
            let server = Secure::new(from, &["h2"], move |asked| match asked.number {
                0 => Act::Reset(Reason::REFUSED_STREAM),
                _ if stream => Act::Stream(fixtures::events(from)),
                _ => Act::Whole(fixtures::answer(from)),
            })
            .await;
            let gateway = start(config(vec![behind(server.address, from, &server.ca)])).await;
            let question = fixtures::question(to, stream);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, 200, "{to} {from} {got:?}");
            let asked = server.asked();
            let connections: Vec<_> = asked.iter().map(|asked| asked.connection).collect();
            assert_eq!(connections, [0, 1]);
            assert_eq!(asked[0].body, asked[1].body);
            assert_eq!(counted(gateway.address()).await, [1, 0]);
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_refused_twice_goes_to_the_next_upstream() {
    let refuses = Secure::new(Protocol::Chat, &["h2"], |_| Act::Reset(Reason::REFUSED_STREAM));
    let refuses = refuses.await;
    let mut first = behind(refuses.address, Protocol::Chat, &refuses.ca);
    first.name = "first".to_owned();
    let question = fixtures::question(Protocol::Chat, false);

    let gateway = start(config(vec![first.clone()])).await;
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!(got.status, 502, "{got:?}");
    assert!(
        got.body.contains("The upstream first refused the request twice without processing it."),
        "{got:?}"
    );
    assert_eq!(refuses.asked().len(), 2);

    let answers =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let mut second = at(&answers);
    second.weight = 0;
    let gateway = start(config(vec![first, second])).await;
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!((refuses.asked().len(), answers.seen().len()), (4, 1));
    assert_eq!(counted(gateway.address()).await, [1, 1]);
}

#[tokio::test]
async fn a_stream_that_ends_for_another_reason_is_not_repeated() {
    for reason in [Reason::INTERNAL_ERROR, Reason::CANCEL, Reason::NO_ERROR] {
        let server = Secure::new(Protocol::Chat, &["h2"], move |_| Act::Reset(reason)).await;
        let upstream = behind(server.address, Protocol::Chat, &server.ca);
        let gateway = start(config(vec![upstream])).await;
        let question = fixtures::question(Protocol::Chat, false);
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        assert_eq!(got.status, 502, "{got:?}");
        assert_eq!(server.asked().len(), 1, "{reason:?}");
        assert_eq!(counted(gateway.address()).await, [0, 0]);
    }
}

#[tokio::test]
async fn a_connection_that_goes_away() {
    // The first request of a connection is stream 1. GOAWAY names the last
    // stream that the server has processed.
    for (last, reason, repeated) in [
        (0, Reason::NO_ERROR, true),
        (0, Reason::ENHANCE_YOUR_CALM, true),
        (1, Reason::NO_ERROR, false),
        (1, Reason::INTERNAL_ERROR, false),
        (0x7fff_ffff, Reason::NO_ERROR, false),
    ] {
        for stream in [false, true] {
            let server = Leaving::new(last, reason).await;
            let upstream = behind(server.address, Protocol::Messages, &server.ca);
            let gateway = start(config(vec![upstream])).await;
            let question = fixtures::question(Protocol::Chat, stream);
            let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
            let context = format!("{last} {reason:?} {got:?}");
            let want = if repeated { (200, 2) } else { (502, 1) };
            assert_eq!((got.status, server.asked.load(Ordering::SeqCst)), want, "{context}");
            let want = [u64::from(repeated), 0];
            assert_eq!(counted(gateway.address()).await, want, "{context}");
        }
    }
}

#[tokio::test]
async fn a_server_that_keeps_changing_its_connections_loses_nothing() {
    let server = Secure::new(Protocol::Chat, &["h2"], |asked| {
        let answer = fixtures::answer(Protocol::Chat);
        if asked.number % 3 == 2 { Act::Last(answer) } else { Act::Whole(answer) }
    })
    .await;
    let upstream = behind(server.address, Protocol::Chat, &server.ca);
    let gateway = start(config(vec![upstream])).await;
    let question = fixtures::question(Protocol::Messages, false);
    for _ in 0..60 {
        let got = client::post(gateway.address(), "/v1/messages", &[], &question).await;
        assert_eq!(got.status, 200, "{got:?}");
    }
    // Only requests that were not processed are repeated, so none runs twice.
    let asked = server.asked();
    assert_eq!(asked.len(), 60);
    assert!(asked.last().unwrap().connection >= 10, "{:?}", asked.last());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_on_connections_that_keep_changing_are_run_once_each() {
    let server = Secure::new(Protocol::Chat, &["h2"], |asked| {
        let answer = fixtures::answer(Protocol::Chat);
        if asked.number % 10 == 9 { Act::Last(answer) } else { Act::Whole(answer) }
    })
    .await;
    let upstream = behind(server.address, Protocol::Chat, &server.ca);
    let gateway = start(config(vec![upstream])).await;
    let to = gateway.address();
    let asking: Vec<_> = (0..8)
        .map(|_| {
            tokio::spawn(async move {
                let question = fixtures::question(Protocol::Messages, false);
                let mut answered = 0;
                for _ in 0..40 {
                    let got = client::post(to, "/v1/messages", &[], &question).await;
                    // Two connections in a row may close under a request.
                    let twice =
                        got.body.contains("refused the request twice without processing it");
                    assert!(got.status == 200 || twice, "{got:?}");
                    answered += usize::from(got.status == 200);
                }
                answered
            })
        })
        .collect();
    let mut answered = 0;
    for asking in asking {
        answered += asking.await.unwrap();
    }
    assert_eq!(server.asked().len(), answered);
    assert!(answered >= 310, "{answered} of 320");
}

#[tokio::test]
async fn a_pooled_connection_that_was_closed_in_time() {
    let server = Server::scripted(Protocol::Chat, |_, _| {
        let mut steps = whole(200, "", fixtures::answer(Protocol::Chat));
        steps.push(Step::Close);
        steps
    })
    .await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Chat, false);
    for _ in 0..20 {
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        assert_eq!(got.status, 200, "{got:?}");
    }
    assert_eq!(server.seen().len(), 20);
}

#[tokio::test]
async fn a_pooled_connection_that_is_closed_under_a_request() {
    let server = Server::scripted(Protocol::Chat, |number, _| match number {
        1 => vec![Step::Close],
        _ => whole(200, "", fixtures::answer(Protocol::Chat)),
    })
    .await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Chat, false);
    for (status, seen) in [(200, 1), (502, 2), (200, 3)] {
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        // The server has read the request and may have run it.
        assert_eq!((got.status, server.seen().len()), (status, seen), "{got:?}");
    }
}

/// How often a request was repeated and how often another attempt was made.
async fn counted(gateway: SocketAddr) -> [u64; 2] {
    let metrics = client::get(gateway, "/metrics", &[]).await.body;
    ["repeats_total", "retries_total"].map(|name| {
        let lines = metrics.lines().filter(|line| line.starts_with(&format!("toolwire_{name}{{")));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    })
}

/// A server that answers the first request on its first connection with GOAWAY
/// and closes, frame by frame, and serves every later connection.
struct Leaving {
    address: SocketAddr,
    ca: CaBundle,
    asked: Arc<AtomicUsize>,
}

impl Leaving {
    async fn new(last: u32, reason: Reason) -> Self {
        let (ca, acceptor) = identity(&["h2"]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let mut preface = [0; 24];
            stream.read_exact(&mut preface).await.unwrap();
            stream.write_all(&frame(SETTINGS, &[])).await.unwrap();
            while read_frame(&mut stream).await != END_STREAM_OF_DATA {}
            count.fetch_add(1, Ordering::SeqCst);
            let mut payload = last.to_be_bytes().to_vec();
            payload.extend_from_slice(&u32::from(reason).to_be_bytes());
            stream.write_all(&frame(GOAWAY, &payload)).await.unwrap();
            stream.shutdown().await.unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let stream = acceptor.accept(stream).await.unwrap();
                let mut connection = h2::server::handshake(stream).await.unwrap();
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    count.fetch_add(1, Ordering::SeqCst);
                    let stream = request.headers()["accept"] == "text/event-stream";
                    let (kind, body) = match stream {
                        true => {
                            ("text/event-stream", fixtures::events(Protocol::Messages).concat())
                        }
                        false => ("application/json", fixtures::answer(Protocol::Messages)),
                    };
                    let head = hyper::Response::builder().header("content-type", kind);
                    let mut send = respond.send_response(head.body(()).unwrap(), false).unwrap();
                    send.send_data(body.into(), true).unwrap();
                }
            }
        });
        Self { address, ca, asked }
    }
}

const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

/// The kind and the flags of the last frame of a request.
const END_STREAM_OF_DATA: (u8, u8) = (0, 1);

/// A frame of the connection.
fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, 0, 0, 0, 0, 0]);
    frame.extend_from_slice(payload);
    frame
}

/// The kind and the flags of the next frame.
async fn read_frame(stream: &mut (impl AsyncRead + Unpin)) -> (u8, u8) {
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.unwrap();
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).await.unwrap();
    (head[3], head[4])
}
