//! Which requests are let in.

use toolwire::Protocol;
use toolwire_gateway::config::Secret;
use toolwire_gateway::{Setup, StartError, serve};

use crate::upstream::{Server, whole};
use crate::{at, client, config, fixtures, start};

const ROUTES: &[(&str, &str)] = &[
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/responses"),
    ("POST", "/v1/messages"),
    ("POST", "/v1/messages/count_tokens"),
    ("POST", "/v1/responses/input_tokens"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/m"),
    ("GET", "/metrics"),
    ("GET", "/anything/else"),
];

async fn ask(
    to: std::net::SocketAddr,
    method: &str,
    path: &str,
    headers: &[&str],
) -> client::ReceivedResponse {
    match method {
        "GET" => client::get(to, path, headers).await,
        _post => client::post(to, path, headers, r#"{"model":"none"}"#).await,
    }
}

#[tokio::test]
async fn keys() {
    let mut config = config(Vec::new());
    config.keys = vec![Secret::new("first-key".to_owned()), Secret::new("second-key".to_owned())];
    let gateway = start(config).await;
    for (method, path) in ROUTES {
        let wrong: &[&[&str]] = &[
            &[],
            &["authorization: Bearer wrong"],
            &["authorization: Bearer first-ke"],
            &["authorization: Bearer first-keyy"],
            &["authorization: Basic first-key"],
            &["authorization: first-key"],
            &["authorization: Bearer "],
            &["x-api-key: wrong"],
            &["x-api-key: "],
            &["api-key: first-key"],
        ];
        let mut bodies = Vec::new();
        for headers in wrong {
            let got = ask(gateway.address(), method, path, headers).await;
            assert_eq!(got.status, 401, "{method} {path} {headers:?} {got:?}");
            let id = got.json()["request_id"].as_str().unwrap_or_default().to_owned();
            bodies.push(if id.is_empty() { got.body } else { got.body.replace(&id, "") });
        }
        bodies.dedup();
        assert_eq!(bodies.len(), 1, "the refusal depends on the key: {bodies:?}");
        for right in [
            "authorization: Bearer first-key",
            "x-api-key: second-key",
            "Authorization: bearer second-key",
        ] {
            let got = ask(gateway.address(), method, path, &[right]).await;
            assert_ne!(got.status, 401, "{method} {path} {got:?}");
        }
    }
    for path in ["/livez", "/readyz"] {
        assert_eq!(client::get(gateway.address(), path, &[]).await.status, 200);
    }
}

#[tokio::test]
async fn a_network_address_needs_a_key() {
    let mut open = config(Vec::new());
    open.listen = "0.0.0.0:0".parse().unwrap();
    let refused = serve(open.clone(), Setup::default()).await;
    assert!(matches!(refused, Err(StartError::Unprotected(_))));
    open.keys = vec![Secret::new("key".to_owned())];
    assert!(serve(open, Setup::default()).await.is_ok());
}

#[tokio::test]
async fn pages_stay_out() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let to = gateway.address();
    let own = format!("origin: http://{to}");
    let cases: &[(&[&str], u16)] = &[
        (&["origin: http://evil.example"], 403),
        (&["origin: null"], 403),
        (&["origin: https://127.0.0.1:1"], 403),
        (&["sec-fetch-site: cross-site"], 403),
        (&["sec-fetch-site: same-site"], 403),
        (&["content-type: text/plain"], 415),
        (&["content-type: application/x-www-form-urlencoded"], 415),
        (&["content-type: application/json", "content-type: text/plain"], 415),
        (&["content-type: multipart/form-data; boundary=application/json"], 415),
        (&[], 200),
        (&["sec-fetch-site: same-origin", &own], 200),
        (&["sec-fetch-site: none"], 200),
        (&["content-type: application/json; charset=utf-8"], 200),
    ];
    for (headers, status) in cases {
        let question = fixtures::question(Protocol::Chat, false);
        let got = client::post(to, "/v1/chat/completions", headers, &question).await;
        assert_eq!(got.status, *status, "{headers:?} {got:?}");
        assert_eq!(got.header("access-control-allow-origin"), None);
    }
    let admitted = cases.iter().filter(|(_, status)| *status == 200).count();
    assert_eq!(server.seen().len(), admitted, "a refused request reaches no upstream");
}

#[tokio::test]
async fn only_local_names() {
    let gateway = start(config(Vec::new())).await;
    let to = gateway.address();
    for (host, status) in [
        ("evil.example", 421),
        ("evil.example:8787", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example", 421),
        ("0.0.0.0", 421),
        ("10.0.0.1", 421),
        ("", 400),
        ("a b", 400),
        ("localhost", 200),
        ("evil@localhost", 400),
        ("@127.0.0.1", 400),
        ("LOCALHOST:99", 200),
        ("127.0.0.1", 200),
        ("127.9.9.9:1", 200),
        ("[::1]:8787", 200),
    ] {
        let request =
            format!("GET /v1/models HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let got = client::raw(to, request.as_bytes()).await;
        assert_eq!(got.status, status, "{host:?} {got:?}");
    }
    let twice =
        "GET /v1/models HTTP/1.1\r\nhost: localhost\r\nhost: evil\r\nconnection: close\r\n\r\n";
    assert_eq!(client::raw(to, twice.as_bytes()).await.status, 400);
    let none = "GET /v1/models HTTP/1.0\r\n\r\n";
    assert_eq!(client::raw(to, none.as_bytes()).await.status, 400);
    let absolute = "GET http://evil.example/v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    assert_ne!(client::raw(to, absolute.as_bytes()).await.status, 200);
}

#[tokio::test]
async fn no_preflight() {
    let gateway = start(config(Vec::new())).await;
    let to = gateway.address();
    let request = format!(
        "OPTIONS /v1/messages HTTP/1.1\r\nhost: {to}\r\norigin: http://evil.example\r\naccess-control-request-method: POST\r\nconnection: close\r\n\r\n"
    );
    let got = client::raw(to, request.as_bytes()).await;
    assert_eq!(got.status, 403);
    assert!(!got.head.to_ascii_lowercase().contains("access-control"));
}
