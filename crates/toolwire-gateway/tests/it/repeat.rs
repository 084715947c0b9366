//! Connections that upstreams close. A request of which nothing was sent goes on
//! another connection; one that was sent is never repeated.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use toolwire::Protocol;

use crate::secure::{Act, Secure, behind, identity};
use crate::upstream::{Server, Step, whole};
use crate::{at, client, config, fixtures, start};

#[tokio::test]
async fn a_server_that_keeps_changing_its_connections_loses_nothing() {
    let server = Secure::new(Protocol::Chat, &["http/1.1"], |asked| {
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
    // None runs twice.
    let asked = server.asked();
    assert_eq!(asked.len(), 60);
    assert!(asked.last().unwrap().connection >= 10, "{:?}", asked.last());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_on_connections_that_keep_changing_are_run_once_each() {
    let server = Secure::new(Protocol::Chat, &["http/1.1"], |asked| {
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
                    assert_eq!(got.status, 200, "{got:?}");
                    answered += 1;
                }
                answered
            })
        })
        .collect();
    let mut answered = 0;
    for asking in asking {
        answered += asking.await.unwrap();
    }
    assert_eq!((server.asked().len(), answered), (320, 320));
    assert_eq!(counted(to).await, [0, 0]);
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

/// TLS has an end of its own, which a server may leave out.
#[tokio::test]
async fn a_pooled_connection_with_tls_that_was_closed_in_time() {
    let (ca, acceptor) = identity(&["http/1.1"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let question = fixtures::question(Protocol::Chat, false);
    let (end, answer) = (question.clone(), fixtures::answer(Protocol::Chat));
    let (closed, mut is_closed) = watch::channel(0);
    tokio::spawn(async move {
        for count in 1.. {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(end.as_bytes()) {
                stream.read_buf(&mut request).await.unwrap();
            }
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", answer.len());
            stream.write_all(format!("{head}{answer}").as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
            if count % 2 == 0 {
                stream.shutdown().await.unwrap();
            }
            drop(stream);
            closed.send_replace(count);
        }
    });
    let gateway = start(config(vec![behind(address, Protocol::Chat, &ca)])).await;
    for count in 1..=10 {
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        assert_eq!(got.status, 200, "{got:?}");
        is_closed.wait_for(|closed| *closed == count).await.unwrap();
    }
    assert_eq!(counted(gateway.address()).await, [0, 0]);
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
