//! HTTP/2 toward upstreams: negotiated in the handshake, with many independent
//! requests on one connection.

use std::sync::Arc;

use hyper::Version;
use rcgen::{CertificateParams, date_time_ymd};
use tokio::net::TcpListener;
use tokio::sync::Barrier;
use toolwire::Protocol;

use crate::secure::{Act, Secure, behind, identity_with};
use crate::{client, config, fixtures, pairs, start};

#[tokio::test]
async fn the_handshake_decides() {
    for (alpn, version) in [
        (&["h2", "http/1.1"][..], Version::HTTP_2),
        (&["http/1.1"][..], Version::HTTP_11),
        (&[][..], Version::HTTP_11),
    ] {
        for (to, from) in pairs() {
            let server = Secure::new(from, alpn, move |asked| {
                match asked.body.contains("\"stream\":true") {
                    true => Act::Stream(fixtures::events(from)),
                    false => Act::Whole(fixtures::answer(from)),
                }
            })
            .await;
            let upstream = behind(server.address, from, &server.ca);
            let gateway = start(config(vec![upstream])).await;
            for stream in [false, true] {
                let question = fixtures::question(to, stream);
                let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
                assert_eq!(got.status, 200, "{to} {from} {got:?}");
                assert!(got.whole && got.body.contains("Let me look."), "{to} {from} {got:?}");
                assert_eq!(
                    got.body.contains(fixtures::end_mark(to)),
                    stream,
                    "{to} {from} {got:?}"
                );
            }
            let versions: Vec<_> = server.asked().iter().map(|asked| asked.version).collect();
            assert_eq!(versions, [version, version], "{alpn:?}");
        }
    }
}

#[tokio::test]
async fn the_fault_of_a_certificate_is_named() {
    for (name, from, to, fault) in [
        ("127.0.0.1", 2001, 2002, "its certificate has expired"),
        ("127.0.0.1", 2090, 2091, "its certificate is not valid yet"),
        ("elsewhere.example", 2001, 2091, "its certificate is for another host"),
    ] {
        let mut server = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (server.not_before, server.not_after) =
            (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        let (ca, acceptor) = identity_with(&["h2"], server);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                drop(acceptor.accept(stream).await);
            }
        });
        let gateway = start(config(vec![behind(address, Protocol::Chat, &ca)])).await;
        let question = fixtures::question(Protocol::Chat, false);
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        assert_eq!(got.status, 502, "{got:?}");
        assert!(got.body.contains(fault), "{fault}: {got:?}");
    }
}

#[tokio::test]
async fn only_the_configured_authority_is_trusted() {
    let server = Secure::new(Protocol::Chat, &["h2"], |_| Act::Hang).await;
    let (other, _) = crate::secure::identity(&[]);
    for ca in [None, Some(other)] {
        let mut upstream = behind(server.address, server.protocol, &server.ca);
        upstream.ca = ca;
        let gateway = start(config(vec![upstream])).await;
        let question = fixtures::question(Protocol::Chat, false);
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        assert_eq!(got.status, 502, "{got:?}");
        assert!(got.body.contains("has signed its certificate"), "{got:?}");
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn many_at_once_on_one_connection() {
    const MANY: usize = 50;
    for from in [Protocol::Chat, Protocol::Messages] {
        let server = Secure::new(from, &["h2"], move |asked| match asked.number {
            0 => Act::Whole(fixtures::answer(from)),
            _ => Act::Begin(fixtures::events(from)[..4].to_vec()),
        })
        .await;
        let upstream = behind(server.address, from, &server.ca);
        let gateway = start(config(vec![upstream])).await;
        let to = gateway.address();
        // The connection is open before the many requests start.
        let question = fixtures::question(Protocol::Chat, false);
        client::post(to, "/v1/chat/completions", &[], &question).await;
        // No request ends before all of them have got their response.
        let answered = Arc::new(Barrier::new(MANY));
        let asking: Vec<_> = (0..MANY)
            .map(|_| {
                let answered = Arc::clone(&answered);
                tokio::spawn(async move {
                    let question = fixtures::question(Protocol::Chat, true);
                    let path = "/v1/chat/completions";
                    let mut stream = client::open(to, path, &[], &question).await;
                    client::until(&mut stream, "Let me look.").await;
                    answered.wait().await;
                })
            })
            .collect();
        for asking in asking {
            asking.await.unwrap();
        }
        let asked = server.asked();
        assert_eq!(asked.len(), MANY + 1);
        assert!(asked.iter().all(|asked| asked.connection == 0), "{asked:?}");
        let mut left = server.left(MANY).await;
        left.sort_unstable();
        assert_eq!(left, Vec::from_iter(1..=MANY));
    }
}

#[tokio::test]
async fn a_client_that_leaves_cancels_only_its_own_stream() {
    for (to, from) in pairs() {
        for stream in [false, true] {
            let server = Secure::new(from, &["h2"], move |asked| match asked.number {
                1 if !stream => Act::Hang,
                1 | 2 => Act::Begin(fixtures::events(from)[..4].to_vec()),
                _ => Act::Whole(fixtures::answer(from)),
            })
            .await;
            let upstream = behind(server.address, from, &server.ca);
            let gateway = start(config(vec![upstream])).await;
            let address = gateway.address();
            let whole = fixtures::question(to, false);
            assert_eq!(client::post(address, fixtures::path(to), &[], &whole).await.status, 200);
            let question = fixtures::question(to, stream);
            let mut leaves = client::open(address, fixtures::path(to), &[], &question).await;
            if stream {
                client::until(&mut leaves, "Let me look.").await;
            }
            server.until_asked(2).await;
            let question = fixtures::question(to, true);
            let mut stays = client::open(address, fixtures::path(to), &[], &question).await;
            client::until(&mut stays, "Let me look.").await;
            drop(leaves);
            assert_eq!(server.left(1).await, [1], "{to} {from}");
            // The connection and the other stream continue.
            assert_eq!(client::post(address, fixtures::path(to), &[], &whole).await.status, 200);
            drop(stays);
            assert_eq!(server.left(2).await, [1, 2], "{to} {from}");
            let asked = server.asked();
            assert!(asked.iter().all(|asked| asked.connection == 0), "{asked:?}");
        }
    }
}
