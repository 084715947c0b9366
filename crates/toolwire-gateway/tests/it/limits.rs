//! Limits on the size and the speed of requests.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Instant;
use toolwire::Protocol;

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
            assert!(began.elapsed() < ms(200));
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
    assert!(began.elapsed() < ms(1000));
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
    let mut request = format!("POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-encoding: zstd\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len()).into_bytes();
    request.extend_from_slice(&body);
    assert_eq!(client::raw(gateway.address(), &request).await.status, 200);
    assert_eq!(server.only().body, fixtures::question(Protocol::Chat, false));
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
