//! Limits on connections, and on what a connection may do.

use h2::client::SendRequest;
use hyper::Request;
use tokio::net::TcpStream;
use toolwire::Protocol;
use toolwire_gateway::Gateway;
use toolwire_gateway::config::Limits;

use crate::{client, config, fixtures, ms, start};

async fn limited(change: impl FnOnce(&mut Limits)) -> Gateway {
    let mut config = config(Vec::new());
    change(&mut config.limits);
    start(config).await
}

/// Waits until the gateway has noticed that a connection ended.
async fn until_served(gateway: &Gateway) {
    for _ in 0..500 {
        if client::get(gateway.address(), "/livez", &[]).await.status == 200 {
            return;
        }
        tokio::time::sleep(ms(10)).await;
    }
    panic!("no connection becomes free");
}

#[tokio::test]
async fn connections_beyond_a_limit_get_an_error() {
    for (gateway, status, says) in [
        (limited(|limits| limits.connections = 2).await, 503, "has 2 connections, its limit"),
        (
            limited(|limits| limits.connections_per_address = Some(2)).await,
            429,
            "Your address has 2 connections",
        ),
    ] {
        let open = || TcpStream::connect(gateway.address());
        let one = open().await.unwrap();
        let _two = open().await.unwrap();
        for to in Protocol::ALL {
            // A client that sends a large body can still read the response.
            let question = format!("{{\"x\":\"{}\"}}", "x".repeat(4_000_000));
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, status, "{got:?}");
            assert!(got.json()["error"]["message"].as_str().unwrap().contains(says), "{got:?}");
            assert_eq!(got.header("retry-after"), Some("1"));
        }
        drop(one);
        until_served(&gateway).await;
        let metrics = client::get(gateway.address(), "/metrics", &[]).await.body;
        let refused = metrics.lines().find_map(|line| {
            line.strip_prefix("toolwire_connections_refused_total ")?.parse::<u32>().ok()
        });
        assert!(refused.unwrap() >= 3, "{refused:?}");
    }
}

#[tokio::test]
async fn a_rejected_client_that_sends_nothing_is_soon_closed() {
    let gateway = limited(|limits| limits.connections = 1).await;
    let _one = TcpStream::connect(gateway.address()).await.unwrap();
    // More than get a response at the same time.
    let mut others = Vec::new();
    for _ in 0..100 {
        others.push(TcpStream::connect(gateway.address()).await.unwrap());
    }
    for mut other in others {
        client::finish(&mut other).await;
    }
}

#[tokio::test]
async fn a_reload_changes_the_limit() {
    let gateway = limited(|limits| limits.connections = 1).await;
    let _one = TcpStream::connect(gateway.address()).await.unwrap();
    assert_eq!(client::get(gateway.address(), "/livez", &[]).await.status, 503);
    let mut wider = config(Vec::new());
    wider.limits.connections = 2;
    gateway.handle().reload(wider).unwrap();
    assert_eq!(client::get(gateway.address(), "/livez", &[]).await.status, 200);
}

type Connection = h2::client::Connection<TcpStream>;

/// A connection in HTTP/2.
async fn open(gateway: &Gateway) -> (SendRequest<bytes::Bytes>, Connection) {
    let stream = TcpStream::connect(gateway.address()).await.unwrap();
    let (send, connection) = h2::client::handshake(stream).await.unwrap();
    (send, connection)
}

fn livez(header: &str) -> Request<()> {
    let request = Request::get("http://localhost/livez").header("x-header", header);
    request.body(()).unwrap()
}

#[tokio::test]
async fn http2_says_its_limits() {
    let gateway = limited(|_| {}).await;
    let (mut send, connection) = open(&gateway).await;
    let connection = tokio::spawn(connection);
    let (answer, _) = send.send_request(livez("short"), true).unwrap();
    assert_eq!(answer.await.unwrap().status(), 200);
    assert_eq!(send.current_max_send_streams(), 100);
    let (answer, _) = send.send_request(livez(&"x".repeat(80_000)), true).unwrap();
    assert_eq!(answer.await.unwrap().status(), 431);
    connection.abort();
}

#[tokio::test]
async fn http2_streams_that_are_reset_at_once_end_the_connection() {
    let gateway = limited(|_| {}).await;
    let (send, connection) = open(&gateway).await;
    let flood = async {
        for _ in 0..10_000 {
            let Ok(mut send) = send.clone().ready().await else { return };
            let Ok((_, mut stream)) = send.send_request(livez(""), false) else { return };
            stream.send_reset(h2::Reason::CANCEL);
        }
    };
    let ended = tokio::select! {
        ended = connection => ended.expect_err("the connection is ended"),
        () = async { flood.await; tokio::time::sleep(ms(10_000)).await } => panic!("it goes on"),
    };
    // A client that is still sending may not be able to read the response.
    let told = ended.reason() == Some(h2::Reason::ENHANCE_YOUR_CALM);
    assert!(told || ended.is_io(), "{ended:?}");
    assert_eq!(client::get(gateway.address(), "/livez", &[]).await.status, 200);
}

/// hyper's client answers PINGs by itself.
#[tokio::test]
async fn http2_connections_without_requests_are_closed() {
    let gateway = limited(|limits| (limits.idle, limits.head_time) = (ms(200), ms(300))).await;
    for asks in [false, true] {
        let (mut send, connection) = open(&gateway).await;
        let began = tokio::time::Instant::now();
        let connection = tokio::spawn(connection);
        if asks {
            tokio::time::sleep(ms(150)).await;
            let (answer, _) = send.send_request(livez(""), true).unwrap();
            assert_eq!(answer.await.unwrap().status(), 200);
        }
        let ended = tokio::time::timeout(ms(3000), connection).await.expect("it stays open");
        ended.unwrap().unwrap();
        let least = if asks { ms(330) } else { ms(180) };
        assert!(began.elapsed() >= least, "{:?}", began.elapsed());
    }
}

/// A client that leaves its last response unread cannot keep the place either.
#[tokio::test]
async fn http2_connections_with_an_unread_response_are_closed() {
    let mut config = config(Vec::new());
    (config.limits.idle, config.limits.head_time) = (ms(200), ms(300));
    config.limits.stall = ms(200);
    let gateway = start(config).await;
    for window in [0, 1] {
        let stream = TcpStream::connect(gateway.address()).await.unwrap();
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(window);
        let (mut send, connection) = builder.handshake::<_, bytes::Bytes>(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let (answer, _) = send.send_request(livez(""), true).unwrap();
        let answer = answer.await.unwrap();
        let ended = tokio::time::timeout(ms(3000), connection).await;
        ended.expect("it stays open").unwrap().ok();
        drop(answer);
    }
}
