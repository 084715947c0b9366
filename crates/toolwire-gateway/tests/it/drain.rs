//! How a gateway stops.

use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream_end, stream_head};
use crate::{at, client, config, fixtures, ms, start};

fn slow(from: Protocol, pause: Duration) -> Vec<Step> {
    let events = fixtures::events(from);
    let mut steps = vec![stream_head("")];
    steps.extend(events.iter().take(4).map(chunk));
    steps.push(Step::Wait(pause));
    steps.extend(events.iter().skip(4).map(chunk));
    steps.push(stream_end());
    steps
}

#[tokio::test]
async fn open_streams_end_well_within_the_grace() {
    let server = Server::new(Protocol::Chat, slow(Protocol::Chat, ms(300))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let to = gateway.address();
    let question = fixtures::question(Protocol::Chat, true);
    let mut open = client::open(to, "/v1/chat/completions", &[], &question).await;
    client::until(&mut open, "Let me look.").await;
    gateway.handle().drain(ms(100));
    let ready = client::get(to, "/readyz", &[]).await;
    assert_eq!(ready.status, 503);
    assert_eq!(client::get(to, "/livez", &[]).await.status, 200);
    tokio::time::sleep(ms(150)).await;
    assert!(TcpStream::connect(to).await.is_err(), "nothing listens any more");
    client::until(&mut open, "[DONE]").await;
    timeout(ms(500), gateway.stopped()).await.unwrap();
}

#[tokio::test]
async fn open_streams_get_an_error_when_the_grace_is_over() {
    for to in Protocol::ALL {
        let server = Server::new(Protocol::Messages, slow(Protocol::Messages, ms(30_000))).await;
        let mut config = config(vec![at(&server)]);
        config.limits.grace = ms(100);
        let gateway = start(config).await;
        let question = fixtures::question(to, true);
        let mut open = client::open(gateway.address(), fixtures::path(to), &[], &question).await;
        client::until(&mut open, "Let me look.").await;
        let began = Instant::now();
        gateway.handle().drain(Duration::ZERO);
        let mark = fixtures::error_mark(to);
        let rest = client::until(&mut open, mark).await;
        assert!(rest.contains("shutting down"), "{rest}");
        assert!(began.elapsed() >= ms(90) && began.elapsed() < ms(500), "{:?}", began.elapsed());
        timeout(ms(2000), gateway.stopped()).await.unwrap();
    }
}

/// The error is the end of the stream, and of the connection.
#[tokio::test]
async fn open_streams_of_http_2_get_an_error_too() {
    use bytes::Bytes;
    use http_body_util::{BodyExt, Full};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    for to in Protocol::ALL {
        let server = Server::new(Protocol::Messages, slow(Protocol::Messages, ms(30_000))).await;
        let mut config = config(vec![at(&server)]);
        config.limits.grace = ms(100);
        let gateway = start(config).await;
        let tcp = TcpStream::connect(gateway.address()).await.unwrap();
        let shake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(tcp));
        let (mut sender, connection) = shake.await.unwrap();
        let connection = tokio::spawn(connection);
        let request =
            hyper::Request::post(format!("http://{}{}", gateway.address(), fixtures::path(to)))
                .header("content-type", "application/json")
                .body(Full::<Bytes>::from(fixtures::question(to, true)))
                .unwrap();
        let answer = sender.send_request(request).await.unwrap();
        gateway.handle().drain(Duration::ZERO);
        let body = timeout(ms(2000), answer.into_body().collect()).await.unwrap();
        let body = String::from_utf8(body.unwrap().to_bytes().to_vec()).unwrap();
        assert!(body.contains(fixtures::error_mark(to)), "{body}");
        assert!(body.contains("shutting down"), "{body}");
        timeout(ms(2000), connection).await.unwrap().unwrap().unwrap();
        timeout(ms(2000), gateway.stopped()).await.unwrap();
    }
}

#[tokio::test]
async fn open_requests_get_an_error_too() {
    let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Chat, false);
    let mut open = client::open(gateway.address(), "/v1/chat/completions", &[], &question).await;
    server.until_seen(1).await;
    gateway.handle().stop();
    let got = client::finish(&mut open).await;
    assert_eq!(got.status, 503, "{got:?}");
    server.left(1).await;
    timeout(ms(2000), gateway.stopped()).await.unwrap();
}

#[tokio::test]
async fn a_second_signal_is_now() {
    let server = Server::new(Protocol::Chat, slow(Protocol::Chat, ms(30_000))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Chat, true);
    let mut open = client::open(gateway.address(), "/v1/chat/completions", &[], &question).await;
    client::until(&mut open, "Let me look.").await;
    gateway.handle().drain(ms(20_000));
    tokio::time::sleep(ms(50)).await;
    let began = Instant::now();
    gateway.handle().stop();
    client::finish(&mut open).await;
    timeout(ms(2000), gateway.stopped()).await.unwrap();
    assert!(began.elapsed() < ms(1500), "{:?}", began.elapsed());
}

#[tokio::test]
async fn an_idle_gateway_stops_at_once() {
    let gateway = start(config(Vec::new())).await;
    let idle = TcpStream::connect(gateway.address()).await.unwrap();
    tokio::time::sleep(ms(20)).await;
    let began = Instant::now();
    gateway.handle().drain(Duration::ZERO);
    timeout(ms(2000), gateway.stopped()).await.unwrap();
    assert!(began.elapsed() < ms(200), "{:?}", began.elapsed());
    drop(idle);
}
