//! HEAD, OPTIONS, health paths, and the web pages that the operator allows.

use std::net::SocketAddr;
use std::sync::Arc;

use toolwire::Protocol;
use toolwire_gateway::config::{Config, Secret};
use toolwire_gateway::{Setup, StartError, serve};

use crate::client::ReceivedResponse;
use crate::upstream::{Server, whole};
use crate::{at, client, config, fixtures, start};

async fn send(to: SocketAddr, method: &str, path: &str, headers: &[&str]) -> ReceivedResponse {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let request =
        format!("{method} {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n{headers}\r\n");
    client::raw(to, request.as_bytes()).await
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let gateway = start(config(Vec::new())).await;
    let to = gateway.address();
    for path in ["/v1/models", "/livez", "/readyz", "/health", "/healthz", "/v1/models/none"] {
        let got = send(to, "GET", path, &[]).await;
        let head = send(to, "HEAD", path, &[]).await;
        assert_eq!(head.status, got.status, "{path}");
        assert_eq!(head.header("content-type"), got.header("content-type"), "{path}");
        assert_eq!(head.body, "", "{path}");
        let length: usize = head.header("content-length").unwrap().parse().unwrap();
        assert_eq!(length, got.body.len(), "{path}");
    }
    let got = send(to, "HEAD", "/v1/messages", &[]).await;
    assert_eq!((got.status, got.header("allow")), (405, Some("POST")));
}

#[tokio::test]
async fn options_tell_the_methods() {
    let gateway = start(config(Vec::new())).await;
    let to = gateway.address();
    for (path, status, allow) in [
        ("/v1/models", 204, Some("GET, HEAD, OPTIONS")),
        ("/v1/chat/completions", 204, Some("POST, OPTIONS")),
        ("/v1/files", 204, Some("GET, POST, OPTIONS")),
        ("/nowhere", 404, None),
    ] {
        let got = send(to, "OPTIONS", path, &[]).await;
        assert_eq!((got.status, got.header("allow")), (status, allow), "{path}");
        assert!(!got.head.to_ascii_lowercase().contains("access-control"), "{got:?}");
    }
}

fn with_origins(server: &Server) -> Config {
    let mut config = config(vec![at(server)]);
    config.origins = vec!["https://app.example".to_owned()];
    config.keys = vec![Secret::new("client-key-0123456".to_owned())];
    config
}

/// Proves that a page of a listed origin gets through with a key, and nobody else.
#[tokio::test]
async fn pages_of_listed_origins() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = start(with_origins(&server)).await;
    let to = gateway.address();
    let asks = ["access-control-request-method: POST", "access-control-request-headers: x-a, x-b"];
    let origin = "origin: https://app.example";
    let got = send(to, "OPTIONS", "/v1/chat/completions", &[origin, asks[0], asks[1]]).await;
    assert_eq!(got.status, 204, "{got:?}");
    assert_eq!(got.header("access-control-allow-origin"), Some("https://app.example"));
    assert_eq!(got.header("access-control-allow-methods"), Some("GET, POST, DELETE"));
    assert_eq!(got.header("access-control-allow-headers"), Some("x-a, x-b"));
    let question = fixtures::question(Protocol::Chat, false);
    let path = "/v1/chat/completions";
    let key = "authorization: Bearer client-key-0123456";
    let site = "sec-fetch-site: cross-site";
    let got = client::post(to, path, &[origin, site, key], &question).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(got.header("access-control-allow-origin"), Some("https://app.example"));
    assert_eq!(got.header("vary"), Some("origin"));
    let got = client::post(to, path, &[origin, site], &question).await;
    assert_eq!(got.status, 401, "a page needs a key like everyone");
    for foreign in [
        &["origin: https://app.example.evil"][..],
        &["origin: http://app.example"],
        &["origin: https://app.example", "origin: https://evil.example"],
        &["origin: null"],
        &["sec-fetch-site: cross-site"],
    ] {
        let headers = [foreign, &[key]].concat();
        let got = client::post(to, path, &headers, &question).await;
        assert_eq!(got.status, 403, "{foreign:?} {got:?}");
        assert!(!got.head.to_ascii_lowercase().contains("access-control"), "{got:?}");
        let got = send(to, "OPTIONS", path, &[foreign, &asks].concat()).await;
        assert_eq!(got.status, 403, "{foreign:?} {got:?}");
    }
    assert_eq!(server.seen_count(), 1);
}

/// A page is a client with a key at most.
#[tokio::test]
async fn no_page_is_the_operator() {
    let mut config = config(Vec::new());
    config.origins = vec!["https://app.example".to_owned()];
    let refused = serve(config.clone(), Setup::default()).await;
    assert!(matches!(refused, Err(StartError::OpenToPages)));
    config.keys = vec![Secret::new("client-key-0123456".to_owned())];
    config.admin_key = Some(Secret::new("admin-key-01234567".to_owned()));
    let log = Box::new(crate::watched_log::WatchedLog);
    let again = config.clone();
    let source = Arc::new(move || Ok(again.clone()));
    let gateway = serve(config, Setup { source: Some(source), log }).await.unwrap();
    let (to, key) = (gateway.address(), "x-api-key: admin-key-01234567");
    assert_eq!(send(to, "POST", "/admin/reload", &[key]).await.status, 200);
    for page in ["origin: https://app.example", "sec-fetch-site: cross-site"] {
        assert_eq!(send(to, "POST", "/admin/reload", &[key, page]).await.status, 403, "{page}");
    }
}

/// `curl -X POST` sends neither a body nor a type.
#[tokio::test]
async fn a_reload_needs_no_body() {
    let log = Box::new(crate::watched_log::WatchedLog);
    let source = Arc::new(|| Ok(config(Vec::new())));
    let gateway = serve(config(Vec::new()), Setup { source: Some(source), log }).await.unwrap();
    let to = gateway.address();
    assert_eq!(send(to, "POST", "/admin/reload", &[]).await.status, 200);
    let form = "content-type: application/x-www-form-urlencoded";
    assert_eq!(send(to, "POST", "/admin/reload", &[form, "content-length: 0"]).await.status, 415);
    let page = "origin: http://evil.example";
    assert_eq!(send(to, "POST", "/admin/reload", &[page]).await.status, 403);
}

/// An answer says when it was made, though the upstream's protocol does not.
#[tokio::test]
async fn an_answer_is_not_of_1970() {
    let from = Protocol::Messages;
    let server = Server::scripted(from, move |_, request| {
        if request.body.contains("\"stream\":true") {
            crate::upstream::stream(&fixtures::events(from))
        } else {
            whole(200, "", fixtures::answer(from))
        }
    })
    .await;
    let gateway = start(config(vec![at(&server)])).await;
    for (to, member) in [(Protocol::Chat, "\"created\":"), (Protocol::Responses, "\"created_at\":")]
    {
        for streams in [false, true] {
            let question = fixtures::question(to, streams);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            let mut found = 0;
            for (at, _) in got.body.match_indices(member) {
                let digits = got.body[at + member.len()..].split(|c: char| !c.is_ascii_digit());
                let seconds: u64 = digits.into_iter().next().unwrap().parse().unwrap();
                assert!(seconds > 1_700_000_000, "{to} {streams} {}", got.body);
                found += 1;
            }
            assert!(found > 0, "{to} {streams} {}", got.body);
        }
    }
}

/// A conversation of the wrong kind is an error that says where it is.
#[tokio::test]
async fn a_conversation_that_is_a_string() {
    for (from, to) in crate::pairs() {
        if from == Protocol::Responses {
            continue;
        }
        let error = fixtures::error(to, "invalid_request_error", "messages: expected an array");
        let server = Server::new(to, whole(400, "", error)).await;
        let gateway = start(config(vec![at(&server)])).await;
        let body = r#"{"model":"m","max_tokens":9,"messages":"hi"}"#;
        let got = client::post(gateway.address(), fixtures::path(from), &[], body).await;
        assert_eq!(got.status, 400, "{from} {to} {got:?}");
        let message = got.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("messages"), "{message}");
        if from != to && from == Protocol::Chat {
            assert_eq!(got.json()["error"]["param"], "/messages", "{got:?}");
            assert!(message.contains("/messages"), "{message}");
        }
    }
}
