//! What a session costs, and where it ends.

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::config::StoreConfig;
use toolwire_store::Options;

use super::{ANSWER, CLIENTS, request, send, stored};
use crate::stored::{TempStore, gateway, respond};
use crate::upstream::{Server, whole};
use crate::{at, client, config, start};

fn user(length: usize) -> [Value; 1] {
    [json!({"role": "user", "content": "x".repeat(length)})]
}

async fn server() -> Server {
    Server::new(Protocol::Chat, whole(200, "", ANSWER)).await
}

/// An answer that cannot be kept is not asked for: somebody would have to pay for it.
#[tokio::test]
async fn a_full_store_asks_no_model() {
    let server = server().await;
    let file = TempStore::new("sessions-full");
    let body = json!({"id": "s", "messages": user(100)}).to_string();
    let wide = gateway(&server, file.options()).await;
    let made = client::post(wide.address(), "/v1/sessions", &[], &body).await;
    assert_eq!(made.status, 200, "{made:?}");
    let mut options = file.options();
    options.limits.tenant = 16;
    let full = gateway(&server, options).await;
    for client in CLIENTS {
        for streamed in [false, true] {
            for session in ["s", "new"] {
                let body = request(client, streamed, &user(2));
                let got = send(full.address(), client, session, &body).await;
                assert_eq!(got.status, 503, "{got:?}");
                assert!(got.body.contains("store is full"), "{got:?}");
                assert!(got.header("retry-after").is_some(), "{got:?}");
            }
        }
    }
    assert_eq!(server.seen_count(), 0);
}

/// Nor is one to a message that is too long to be kept.
#[tokio::test]
async fn a_message_that_is_too_long_asks_no_model() {
    let server = server().await;
    let mut options = Options::memory();
    options.limits.value = 512;
    let gateway = gateway(&server, options).await;
    for client in CLIENTS {
        let got = send(gateway.address(), client, "s", &request(client, false, &user(600))).await;
        assert_eq!(got.status, 413, "{got:?}");
        assert!(got.body.contains("512 bytes") && got.body.contains("max_value"), "{got:?}");
        assert_eq!(server.seen_count(), 0);
    }
    let body = request(Protocol::Chat, false, &user(300));
    assert_eq!(send(gateway.address(), Protocol::Chat, "s", &body).await.status, 200);
}

/// What a client sends is limited by `body`, what has grown from it by what the
/// store reads at once.
#[tokio::test]
async fn a_conversation_longer_than_a_request() {
    let server = server().await;
    let mut config = config(vec![at(&server)]);
    config.store = StoreConfig::On(Options::memory());
    config.limits.body = 2048;
    let gateway = start(config).await;
    let to = gateway.address();
    for client in CLIENTS {
        for turn in 1..=4 {
            let got = send(to, client, client.as_str(), &request(client, false, &user(1000))).await;
            assert_eq!(got.status, 200, "{client} {turn}: {got:?}");
        }
        let got = send(to, client, client.as_str(), &request(client, false, &user(3000))).await;
        assert_eq!(got.status, 413, "{got:?}");
    }
    let mut previous = Value::Null;
    for turn in 1..=4 {
        let body = json!({"model": "m", "input": "x".repeat(1000),
            "previous_response_id": previous});
        let got = respond(to, &body).await;
        assert_eq!(got.status, 200, "{turn}: {got:?}");
        previous = got.json()["id"].clone();
    }
}

/// A session that could not go on is not made, and one that cannot says why.
#[tokio::test]
async fn a_session_too_long_to_go_on() {
    let server = server().await;
    let file = TempStore::new("sessions-long");
    let mut options = file.options();
    options.limits.read = 4096;
    let narrow = gateway(&server, options).await;
    let to = narrow.address();
    let long = json!({"id": "long", "messages": user(5000)}).to_string();
    let add = json!({"messages": user(3000)}).to_string();
    let made = client::post(to, "/v1/sessions", &[], &add).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/sessions/{id}/messages");
    for (path, body) in [("/v1/sessions", &long), (path.as_str(), &add)] {
        let got = client::post(to, path, &[], body).await;
        assert_eq!(got.status, 413, "{path}: {got:?}");
        assert!(got.body.contains("4096 bytes") && got.body.contains("max_read"), "{got:?}");
    }
    assert_eq!(stored(to, &id).await["messages"], 1);
    let body = request(Protocol::Chat, false, &user(2000));
    let got = send(to, Protocol::Chat, &id, &body).await;
    assert_eq!(got.status, 413, "{got:?}");
    assert!(got.body.contains("max_read"), "{got:?}");
    assert_eq!(server.seen_count(), 0);
    let body = request(Protocol::Chat, false, &user(10));
    assert_eq!(send(to, Protocol::Chat, &id, &body).await.status, 200);
    // Somebody has set a smaller limit since.
    let wide = gateway(&server, file.options()).await;
    let made = client::post(wide.address(), "/v1/sessions", &[], &long).await;
    assert_eq!(made.status, 200, "{made:?}");
    let got = send(to, Protocol::Chat, "long", &body).await;
    assert_eq!(got.status, 413, "{got:?}");
    let message = got.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("cannot go on") && message.contains("max_read"), "{message}");
    assert!(!message.contains("stored"), "{message}");
}

/// What a conversation has grown to counts as memory, from when it is read until it is sent.
#[tokio::test]
async fn a_long_session_counts_as_memory() {
    let server = server().await;
    let mut config = config(vec![at(&server)]);
    config.store = StoreConfig::On(Options::memory());
    config.limits.bodies_total = 16 * 1024;
    let gateway = start(config).await;
    let to = gateway.address();
    for id in ["short", "long"] {
        let length = if id == "short" { 1000 } else { 10_000 };
        let body = json!({"id": id, "messages": user(length)}).to_string();
        assert_eq!(client::post(to, "/v1/sessions", &[], &body).await.status, 200);
    }
    let body = request(Protocol::Chat, false, &user(10));
    let got = send(to, Protocol::Chat, "long", &body).await;
    assert_eq!(got.status, 503, "{got:?}");
    assert!(got.body.contains("other large requests"), "{got:?}");
    assert_eq!(server.seen_count(), 0);
    assert_eq!(send(to, Protocol::Chat, "short", &body).await.status, 200);
}
