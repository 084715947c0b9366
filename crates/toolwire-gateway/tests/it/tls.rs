//! TLS toward upstreams, and HTTP/1.1 above it, so that no request depends on
//! another.

use hyper::Version;
use rcgen::{CertificateParams, date_time_ymd};
use tokio::net::TcpListener;
use toolwire::Protocol;

use crate::secure::{Act, STREAMS, Secure, behind, identity_with};
use crate::{client, config, fixtures, ms, pairs, start};

#[tokio::test]
async fn http_1_is_spoken_whatever_else_is_offered() {
    for alpn in [&["h2", "http/1.1"][..], &["http/1.1"][..], &[][..]] {
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
            assert_eq!(versions, [Version::HTTP_11; 2], "{alpn:?}");
            // One connection is enough for one request after another.
            assert!(server.asked().iter().all(|asked| asked.connection == 0), "{alpn:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_wants_only_http_2_is_named() {
    let server = Secure::new(Protocol::Chat, &["h2"], |_| Act::Hang).await;
    let gateway = start(config(vec![behind(server.address, Protocol::Chat, &server.ca)])).await;
    let got = client::ask(&gateway, Protocol::Chat).await;
    assert_eq!(got.status, 502, "{got:?}");
    assert!(got.body.contains("it does not speak HTTP/1.1"), "{got:?}");
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
        let (ca, acceptor) = identity_with(&["http/1.1"], server);
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
    let server = Secure::new(Protocol::Chat, &["http/1.1"], |_| Act::Hang).await;
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

/// What they do not read must not fill a connection that others need.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_do_not_read_delay_no_other() {
    let server = Secure::new(Protocol::Chat, &["h2", "http/1.1"], |asked| {
        match asked.body.contains("\"stream\":true") {
            true => Act::Flood(fixtures::events(Protocol::Chat)[1].repeat(50)),
            false => Act::Whole(fixtures::answer(Protocol::Chat)),
        }
    })
    .await;
    let gateway = start(config(vec![behind(server.address, Protocol::Chat, &server.ca)])).await;
    let to = gateway.address();
    let mut sender = client::http2(to).await;
    let mut unread = Vec::new();
    for _ in 0..40 {
        let asking = sender.send_request(client::question(to, true));
        let answer =
            tokio::time::timeout(ms(30_000), asking).await.expect("it waits for the others");
        unread.push(answer.unwrap());
    }
    // Until nobody has room for more.
    tokio::time::sleep(ms(500)).await;
    for _ in 0..3 {
        let got = client::ask(&gateway, Protocol::Chat).await;
        assert_eq!(got.status, 200, "{got:?}");
    }
}

/// A request that waited for its turn would use up the time that the upstream
/// has for its head.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_at_once_than_one_connection_would_take() {
    let many = 3 * STREAMS as usize;
    let server = Secure::new(Protocol::Chat, &["h2", "http/1.1"], |_| {
        Act::Begin(fixtures::events(Protocol::Chat)[..4].to_vec())
    })
    .await;
    let mut upstream = behind(server.address, Protocol::Chat, &server.ca);
    (upstream.timeouts.connect, upstream.timeouts.headers) = (ms(60_000), ms(60_000));
    let gateway = start(config(vec![upstream])).await;
    let to = gateway.address();
    let mut asking = Vec::new();
    for _ in 0..4 {
        let sender = client::http2(to).await;
        for _ in 0..many / 4 {
            let mut sender = sender.clone();
            asking.push(tokio::spawn(async move {
                sender.send_request(client::question(to, true)).await.unwrap()
            }));
        }
    }
    let mut open = Vec::new();
    for asking in asking {
        open.push(asking.await.unwrap());
    }
    let refused = open.iter().filter(|response| response.status() != 200).count();
    assert_eq!((open.len(), refused), (many, 0));
    assert_eq!(server.asked().len(), many);
}

#[tokio::test]
async fn a_client_that_leaves_cancels_only_its_own_request() {
    for (to, from) in pairs() {
        for stream in [false, true] {
            let server = Secure::new(from, &["http/1.1"], move |asked| match asked.number {
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
            // The other stream continues.
            assert_eq!(client::post(address, fixtures::path(to), &[], &whole).await.status, 200);
            drop(stays);
            assert_eq!(server.left(2).await, [1, 2], "{to} {from}");
        }
    }
}

/// TLS takes what it is given into a buffer of its own, which has to be emptied.
#[tokio::test]
async fn long_requests_and_answers_arrive_whole() {
    let long = "x".repeat(3_000_000);
    let answer = fixtures::answer(Protocol::Chat).replace("Let me look.", &long);
    let server =
        Secure::new(Protocol::Chat, &["http/1.1"], move |_| Act::Whole(answer.clone())).await;
    let gateway = start(config(vec![behind(server.address, Protocol::Chat, &server.ca)])).await;
    let question = fixtures::question(Protocol::Chat, false).replace("Paris", &long);
    for _ in 0..3 {
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        assert!(got.status == 200 && got.whole && got.body.contains(&long), "{}", got.head);
    }
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.connection == 0 && asked.body == question));
}
