//! Limits on the size and the speed of requests.

use http_body_util::{BodyExt, Full};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Instant;
use toolwire::Protocol;
use toolwire_gateway::Gateway;

use crate::upstream::{Server, whole};
use crate::{at, client, config, fixtures, ms, start};

#[tokio::test]
async fn bodies() {
    let mut config = config(Vec::new());
    config.limits.body = 1000;
    let gateway = start(config).await;
    for to in Protocol::ALL {
        let long = format!(r#"{{"model":"m","x":"{}"}}"#, "x".repeat(1000));
        let got = client::post(gateway.address(), fixtures::path(to), &[], &long).await;
        assert_eq!(got.status, 413, "{got:?}");
        assert!(got.body.contains("1000 bytes"));
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
            fixtures::path(to)
        );
        let request = format!("{head}{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
        let got = client::raw(gateway.address(), request.as_bytes()).await;
        assert_eq!(got.status, 413, "{got:?}");
    }
}

#[tokio::test]
async fn a_client_that_sends_too_much_can_read_the_error() {
    let mut config = config(Vec::new());
    config.limits.body = 1000;
    let gateway = start(config).await;
    let long = "x".repeat(8_000_000);
    let got = client::post(gateway.address(), "/v1/messages", &[], &long).await;
    assert_eq!(got.status, 413, "{got:?}");
    // In HTTP/2 the stream ends, and not the connection.
    let mut sender = client::http2(gateway.address()).await;
    for _ in 0..2 {
        let mut request = client::question(gateway.address(), false);
        *request.body_mut() = Full::from(long.clone());
        let got = sender.send_request(request).await.unwrap();
        assert_eq!(got.status(), 413, "{got:?}");
        let body = got.into_body().collect().await.unwrap().to_bytes();
        assert!(body.windows(10).any(|part| part == b"1000 bytes"), "{body:?}");
    }
}

/// A client that asks before it sends must not be told to send.
#[tokio::test]
async fn a_body_that_is_announced_as_too_long_is_refused_at_once() {
    let mut config = config(Vec::new());
    config.limits.body = 1000;
    let gateway = start(config).await;
    for path in ["/v1/messages", "/v1/embeddings"] {
        for expect in ["expect: 100-continue\r\n", ""] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n{expect}\r\n"
            );
            let began = Instant::now();
            let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            let got = client::until(&mut stream, "1000 bytes").await;
            assert!(got.starts_with("HTTP/1.1 413 "), "{got}");
            // What follows would be the rest of the body.
            assert!(got.contains("connection: close\r\n"), "{got}");
            client::rest(&mut stream).await;
            assert!(began.elapsed() < ms(1900), "{:?}", began.elapsed());
        }
    }
}

#[tokio::test]
async fn events() {
    let mut steps = vec![crate::upstream::stream_head("")];
    steps.push(crate::upstream::chunk(&fixtures::events(Protocol::Chat)[1]));
    steps.push(crate::upstream::chunk(format!("data: {}", "x".repeat(3000))));
    let server = Server::new(Protocol::Chat, steps).await;
    let mut config = config(vec![at(&server)]);
    config.limits.event = 2000;
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Messages, true);
    let got = client::post(gateway.address(), "/v1/messages", &[], &question).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert!(got.body.contains("event: error") && got.body.contains("2000 bytes"), "{got:?}");
}

/// Proves that a body that two programs could read differently goes to no upstream,
/// not even to one of the client's own protocol, and that nobody declares more tools
/// than are allowed (R-29, R-35, T-1, T-5).
#[tokio::test]
async fn malformed_bodies() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let deep =
        format!(r#"{{"model":"m","messages":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let tools = format!(r#"{{"model":"m","tools":[{}]}}"#, vec!["{}"; 1025].join(","));
    for to in Protocol::ALL {
        for (body, says) in [
            ("", "cannot be read"),
            ("{", "cannot be read"),
            ("[]", "cannot be read"),
            (r#"{"model":"m"} x"#, "cannot be read"),
            (r#"{"messages":[]}"#, "must name a model"),
            (r#"{"model":""}"#, "must name a model"),
            (r#"{"model":7}"#, "must name a model"),
            (r#"{"model":"m","model":"n","messages":[],"input":"x"}"#, "model"),
            (r#"{"model":"m","messages":[{"role":"user","role":"system"}]}"#, "role"),
            (r#"{"model":"m","tools":[{"name":"a","name":"b"}]}"#, "name"),
            (deep.as_str(), "deep"),
            (tools.as_str(), "1025 tools. This gateway allows 1024"),
        ] {
            let began = Instant::now();
            let got = client::post(gateway.address(), fixtures::path(to), &[], body).await;
            assert_eq!(got.status, 400, "{to} {} {got:?}", &body[..body.len().min(60)]);
            let message = got.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains(says), "{to} {message}");
            assert!(began.elapsed() < ms(5000));
        }
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn tools() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let mut config = config(vec![at(&server)]);
    (config.limits.tools, config.limits.schemas) = (2, 100);
    let gateway = start(config).await;
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(89));
    for to in Protocol::ALL {
        for (field, tools, says) in [
            ("tools", vec!["{}"; 3], "3 tools. This gateway allows 2"),
            ("functions", vec!["{}"; 3], "3 tools. This gateway allows 2"),
            ("tools", vec!["{}", &long], "102 bytes long. This gateway allows 100"),
            ("functions", vec!["{}", &long], "102 bytes long. This gateway allows 100"),
        ] {
            let body = format!(r#"{{"model":"m","{field}":[{}]}}"#, tools.join(","));
            let got = client::post(gateway.address(), fixtures::path(to), &[], &body).await;
            assert_eq!(got.status, 400, "{got:?}");
            assert!(got.body.contains(says), "{got:?}");
        }
    }
    assert!(server.seen().is_empty());
    // Exactly the limit; the request fails for another reason.
    let body = format!(r#"{{"model":"","tools":[{long}]}}"#);
    let got = client::post(gateway.address(), "/v1/messages", &[], &body).await;
    assert!(got.body.contains("must name a model"), "{got:?}");
}

#[tokio::test]
async fn slow_heads() {
    let mut config = config(Vec::new());
    config.limits.head_time = ms(150);
    let gateway = start(config).await;
    for begin in ["", "G", "PRI * HTTP/2.0\r\n", "GET / HTTP/1.1\r\nhost: local"] {
        let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        let began = Instant::now();
        client::finish(&mut stream).await;
        let took = began.elapsed();
        assert!(took >= ms(100) && took < ms(1000), "{begin:?} {took:?}");
    }
}

#[tokio::test]
async fn slow_bodies() {
    let mut config = config(Vec::new());
    config.limits.head_time = ms(150);
    let gateway = start(config).await;
    let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let began = Instant::now();
    let got = client::finish(&mut stream).await;
    assert_eq!(got.status, 408, "{got:?}");
    assert!(began.elapsed() < ms(1900));
}

#[tokio::test]
async fn hostile_heads() {
    let gateway = start(config(Vec::new())).await;
    let long =
        format!("GET /livez HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(100_000));
    let many = format!("GET /livez HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "x: y\r\n".repeat(200));
    let line = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(100_000));
    for hostile in [
        long.as_str(),
        many.as_str(),
        line.as_str(),
        "GET /livez HTTP/1.1\r\nhost: localhost\r\nbad header: x\r\n\r\n",
        "GET /livez HTTP/1.1\r\nhost: localhost\r\nx: a\0b\r\n\r\n",
        "GET /livez HTTP/1.1\r\nhost: localhost\r\n folded: x\r\n\r\n",
        "GET /livez HTTP/9.9\r\nhost: localhost\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1, 1\r\n\r\nx",
        "POST /v1/messages HTTP/1.0\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip\r\n\r\n0\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "\x16\x03\x01\x02\0\x01\0\x01\u{fc}\x03\x03hello tls, is anybody there",
    ] {
        let got = client::raw(gateway.address(), hostile.as_bytes()).await;
        let shown = &hostile[..hostile.len().min(80)];
        assert!(matches!(got.status, 400 | 414 | 431 | 0), "{shown:?} {got:?}");
    }
    for connect in [
        "CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        "TRACE /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        "GET http://localhost/nowhere HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    ] {
        let got = client::raw(gateway.address(), connect.as_bytes()).await;
        assert!((400..500).contains(&got.status), "{connect:?} {got:?}");
    }
    assert_eq!(client::get(gateway.address(), "/livez", &[]).await.status, 200);
}

#[tokio::test]
async fn compressed_requests() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let body = zstd::encode_all(fixtures::question(Protocol::Chat, false).as_bytes(), 3).unwrap();
    assert_eq!(post_zstd(&gateway, &body).await.status, 200);
    assert_eq!(server.only().body, fixtures::question(Protocol::Chat, false));
}

async fn post_zstd(gateway: &Gateway, body: &[u8]) -> client::ReceivedResponse {
    let mut request = format!("POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-encoding: zstd\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len()).into_bytes();
    request.extend_from_slice(body);
    client::raw(gateway.address(), &request).await
}

/// A compressed body may be long and hold little.
#[tokio::test]
async fn the_length_of_a_compressed_body_is_limited_too() {
    let mut config = config(Vec::new());
    config.limits.body = 1000;
    let gateway = start(config).await;
    // A frame that decoders skip.
    let mut body = vec![0x50, 0x2a, 0x4d, 0x18, 0xe8, 0x03, 0, 0];
    body.extend_from_slice(&[0; 1000]);
    body.extend(zstd::encode_all(&b"{}"[..], 3).unwrap());
    let length = body.len();
    let mut request = format!("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-encoding: zstd\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n{length:x}\r\n").into_bytes();
    request.extend_from_slice(&body);
    request.extend_from_slice(b"\r\n0\r\n\r\n");
    let got = client::raw(gateway.address(), &request).await;
    assert_eq!(got.status, 413, "{got:?}");
    assert!(got.body.contains("1000 bytes"), "{got:?}");
}

#[tokio::test]
async fn a_body_that_expands_too_much_is_refused_for_that() {
    let gateway = start(config(Vec::new())).await;
    let body = format!("{{\"a\":\"{}\"}}", " ".repeat(5_000_000));
    let got = post_zstd(&gateway, &zstd::encode_all(body.as_bytes(), 3).unwrap()).await;
    assert_eq!(got.status, 415, "{got:?}");
    assert!(got.body.contains("expands to more than 100 times its length"), "{got:?}");
}

/// A head may have 100 headers, however short they are.
#[tokio::test]
async fn too_many_headers_are_refused() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let to = gateway.address();
    let body = fixtures::question(Protocol::Chat, false);
    let length = body.len();
    // Three more are in every request.
    for (count, status) in [(97, 200), (98, 431), (1000, 431)] {
        let headers: String = (0..count).map(|number| format!("x-{number}: 1\r\n")).collect();
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        let mut stream = TcpStream::connect(to).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let head = client::until(&mut stream, "\r\n").await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{count} headers: {head}");
    }
}
