//! Nobody learns anything from an id that is not theirs.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::Gateway;
use toolwire_gateway::config::{Secret, StoreConfig};
use toolwire_store::Options;

use super::delete;
use crate::client::{self, ReceivedResponse};
use crate::upstream::{Server, whole};
use crate::{at, config, fixtures, start};

const OWNER: &str = "authorization: Bearer the-key-of-the-owner";
const OTHER: &str = "x-api-key: the-key-of-another-client";

/// What the routes of the gateway are tried with.
struct Ids {
    response: String,
    conversation: String,
    item: String,
    session: String,
}

/// The path of a route with these ids. A route that has no line here fails the
/// test.
fn filled(route: &str, ids: &Ids) -> Option<String> {
    let Ids { response, conversation, item, session } = ids;
    Some(match route {
        "/v1/responses/{id}" | "/v1/responses/{id}/cancel" | "/v1/responses/{id}/input_items" => {
            route.replace("{id}", response)
        }
        "/v1/conversations/{id}" | "/v1/conversations/{id}/items" => {
            route.replace("{id}", conversation)
        }
        "/v1/conversations/{id}/items/{item}" => {
            route.replace("{id}", conversation).replace("{item}", item)
        }
        "/v1/sessions/{id}" | "/v1/sessions/{id}/messages" => route.replace("{id}", session),
        _other => return None,
    })
}

/// A gateway with a store that the owner and another client may use, and its model.
async fn gateway_with_two_keys() -> (Server, Gateway) {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let mut config = config(vec![at(&server)]);
    config.store = StoreConfig::On(Options::memory());
    config.keys = ["the-key-of-the-owner", "the-key-of-another-client"]
        .map(|key| Secret::new(key.to_owned()))
        .to_vec();
    let gateway = start(config).await;
    (server, gateway)
}

async fn call(to: SocketAddr, method: &str, path: &str, key: &str) -> ReceivedResponse {
    let body = r#"{"metadata":{"a":"b"},"items":[{"role":"user","content":"x"}],
        "messages":[{"role":"user","content":"x"}]}"#;
    match method {
        "GET" => client::get(to, path, &[key]).await,
        "POST" => client::post(to, path, &[key], body).await,
        "DELETE" => delete(to, path, &[key]).await,
        other => panic!("{other} has no case"),
    }
}

#[tokio::test]
async fn every_route_says_the_same_about_every_id_that_is_not_there() {
    let (_server, gateway) = gateway_with_two_keys().await;
    let to = gateway.address();
    let theirs = own_things(to).await;
    let gone = own_things(to).await;
    let path = format!("/v1/responses/{}", gone.response);
    assert_eq!(delete(to, &path, &[OWNER]).await.status, 200);
    let path = format!("/v1/conversations/{}", gone.conversation);
    assert_eq!(delete(to, &path, &[OWNER]).await.status, 200);
    let path = format!("/v1/sessions/{}", gone.session);
    assert_eq!(delete(to, &path, &[OWNER]).await.status, 200);
    let unknown = Ids {
        response: format!("resp_{}", "0".repeat(48)),
        conversation: format!("conv_{}", "0".repeat(48)),
        item: format!("msg_{}", "0".repeat(48)),
        session: format!("sess_{}", "0".repeat(48)),
    };
    let odd = |text: &str| Ids {
        response: text.to_owned(),
        conversation: text.to_owned(),
        item: text.to_owned(),
        session: text.to_owned(),
    };
    let cut = |id: &str| id[..id.len() - 1].to_owned();
    let truncated = Ids {
        response: cut(&theirs.response),
        conversation: cut(&theirs.conversation),
        item: cut(&theirs.item),
        session: cut(&theirs.session),
    };
    let long = "x".repeat(3000);
    let cases = [
        ("foreign", OTHER, &theirs),
        ("deleted", OWNER, &gone),
        ("deleted, foreign", OTHER, &gone),
        ("truncated", OWNER, &truncated),
        ("of the upstream", OWNER, &odd("chatcmpl-1")),
        ("encoded", OWNER, &odd("%00")),
        ("long", OWNER, &odd(&long)),
    ];
    let mut seen = BTreeSet::new();
    for (route, methods) in toolwire_gateway::routes() {
        if !route.contains('{') {
            continue;
        }
        for method in methods {
            seen.insert(route);
            let path = filled(route, &unknown).unwrap_or_else(|| panic!("{route} has no case"));
            let expected = call(to, method, &path, OWNER).await;
            assert_eq!(expected.status, 404, "{method} {path}: {expected:?}");
            for (name, key, ids) in cases {
                let path = filled(route, ids).unwrap();
                let got = call(to, method, &path, key).await;
                assert_eq!(got.status, expected.status, "{name} {method} {path}: {got:?}");
                // Only the id of the request itself is another.
                let without_id = |got: &ReceivedResponse| {
                    let mut body = got.json();
                    body["request_id"].take();
                    body.to_string()
                };
                let (got, expected) = (without_id(&got), without_id(&expected));
                assert_eq!(got, expected, "{name} {method} {path}");
            }
        }
    }
    assert!(seen.len() >= 8, "{seen:?}");
    // Nothing of this has changed what the owner has.
    for (route, methods) in toolwire_gateway::routes() {
        let Some(path) = filled(route, &theirs).filter(|_| methods.contains(&"GET")) else {
            continue;
        };
        assert_eq!(call(to, "GET", &path, OWNER).await.status, 200, "{path}");
    }
}

/// In a body, an id that is not the client's own is one that does not exist.
#[tokio::test]
async fn ids_in_a_body() {
    let (server, gateway) = gateway_with_two_keys().await;
    let to = gateway.address();
    let theirs = own_things(to).await;
    let asked = server.seen_count();
    let with = |previous: &str, conversation: &str, item: &str| {
        [
            json!({"model": "m", "input": "Hi", "previous_response_id": previous}),
            json!({"model": "m", "input": "Hi", "conversation": conversation}),
            json!({"model": "m", "input": [{"type": "item_reference", "id": item}]}),
        ]
    };
    let foreign = with(&theirs.response, &theirs.conversation, &theirs.item);
    let unknown = with("resp_0", "conv_0", "msg_0");
    let pairs = foreign.iter().zip(&unknown);
    let paths = ["/v1/responses", "/v1/responses/input_tokens"];
    for ((foreign, unknown), path) in pairs.flat_map(|pair| paths.map(|path| (pair, path))) {
        let post = |body: &Value| {
            let body = body.to_string();
            async move { client::post(to, path, &[OTHER], &body).await }
        };
        let (foreign, unknown) = (post(foreign).await, post(unknown).await);
        assert_eq!(foreign.status, unknown.status);
        let shape = |got: &ReceivedResponse| {
            let mut error = got.json()["error"].clone();
            let message = error["message"].as_str().unwrap().to_owned();
            let ids = [&theirs.response, &theirs.conversation, &theirs.item];
            let message = ids.iter().fold(message, |text, id| text.replace(id.as_str(), "ID"));
            let message = ["resp_0", "conv_0", "msg_0"]
                .iter()
                .fold(message, |text, id| text.replace(id, "ID"));
            error["message"] = json!(message);
            error
        };
        assert_eq!(shape(&foreign), shape(&unknown));
    }
    assert_eq!(server.seen_count(), asked, "no model was asked");
}

/// What the gateway asks an upstream for beside answers. The upstream knows every id there, so
/// whatever the gateway passes on reaches what another client has left with it.
const BESIDE_ANSWERS: [&str; 2] = ["/v1/responses/compact", "/v1/responses/input_tokens"];

/// The requests that refer to something of the owner's in each way that there is.
fn references(theirs: &Ids) -> [Value; 4] {
    let Ids { response, conversation, item, session: _ } = theirs;
    [
        json!({"model": "m", "input": "Hi", "previous_response_id": response}),
        json!({"model": "m", "input": "Hi", "conversation": conversation}),
        json!({"model": "m", "input": [{"type": "item_reference", "id": item}]}),
        json!({"model": "responses/m", "input": [{"id": item}]}),
    ]
}

/// A gateway whose clients, if they have keys, share the account of an upstream that remembers.
async fn gateway_to_memory(keys: &[&str]) -> (Server, Gateway) {
    let protocol = Protocol::Responses;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let mut config = config(vec![at(&server)]);
    config.store = StoreConfig::On(Options::memory());
    config.keys = keys.iter().map(|key| Secret::new((*key).to_owned())).collect();
    let gateway = start(config).await;
    (server, gateway)
}

#[tokio::test]
async fn ids_of_a_shared_account() {
    let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
    let (server, gateway) = gateway_to_memory(&keys).await;
    let to = gateway.address();
    let theirs = own_things(to).await;
    let asked = server.seen_count();
    let codes = [
        "previous_response_not_found",
        "conversation_not_found",
        "item_not_found",
        "item_not_found",
    ];
    for path in BESIDE_ANSWERS {
        for (body, code) in references(&theirs).iter().zip(codes) {
            // Nothing that a client says of itself opens the account.
            for more in ["x-a: b", "anthropic-version: 2023-06-01", "toolwire-upstream: responses"]
            {
                let got = client::post(to, path, &[OTHER, more], &body.to_string()).await;
                assert!([400, 404].contains(&got.status), "{path} {body} {more}: {got:?}");
                assert!(got.body.contains(code) || more.contains("anthropic"), "{path}: {got:?}");
            }
        }
    }
    assert_eq!(server.seen_count(), asked, "the upstream was not asked");

    // The owner's own thread goes there whole, and nothing is said about keeping what is none
    // of the answers that could be kept.
    for body in references(&theirs) {
        let got = client::post(to, BESIDE_ANSWERS[0], &[OWNER], &body.to_string()).await;
        assert_eq!(got.status, 200, "{body}: {got:?}");
        let seen = server.seen().pop().unwrap();
        assert_eq!(seen.path, BESIDE_ANSWERS[0]);
        let sent = seen.json();
        assert_eq!(sent["model"], "m", "{sent}");
        assert!(sent["input"][0]["role"] == "user", "{sent}");
        for gone in ["previous_response_id", "conversation", "store"] {
            assert_eq!(sent.get(gone), None, "{sent}");
        }
    }
    let plain = r#"{ "model":"m", "input":[ ] }"#;
    let got = client::post(to, BESIDE_ANSWERS[0], &[OTHER], plain).await;
    assert_eq!((got.status, server.seen().pop().unwrap().body.as_str()), (200, plain));
}

/// A client that is alone may have made its responses in any other way.
#[tokio::test]
async fn ids_of_ones_own_account() {
    let (server, gateway) = gateway_to_memory(&[]).await;
    for path in BESIDE_ANSWERS {
        let body = json!({"model": "m", "input": "Hi", "previous_response_id": "resp_x"});
        let got = client::post(gateway.address(), path, &[], &body.to_string()).await;
        assert_eq!(got.status, 200, "{path}: {got:?}");
        assert_eq!(server.seen().pop().unwrap().json(), body, "{path}");
    }
}

/// A session that somebody else has is an empty one, and stays as it is. Nobody's
/// list shows what is another's.
#[tokio::test]
async fn a_session_of_the_same_name() {
    let (server, gateway) = gateway_with_two_keys().await;
    let to = gateway.address();
    for (asked, (key, text)) in [(OWNER, "A secret"), (OTHER, "A guess")].iter().enumerate() {
        let body = json!({"model": "m", "session_id": "same",
            "messages": [{"role": "user", "content": text}]});
        let path = "/v1/chat/completions";
        let got = client::post(to, path, &[key], &body.to_string()).await;
        assert_eq!(got.status, 200, "{got:?}");
        let sent = server.seen()[asked].json();
        assert_eq!(sent["messages"].as_array().unwrap().len(), 1, "{sent}");
    }
    for (key, text) in [(OWNER, "A secret"), (OTHER, "A guess")] {
        let list = client::get(to, "/v1/sessions", &[key]).await.json();
        assert_eq!(list["data"].as_array().unwrap().len(), 1, "{list}");
        let path = "/v1/sessions/same/messages?order=asc";
        let list = client::get(to, path, &[key]).await.json();
        assert_eq!(list["data"][0]["message"]["content"], text, "{list}");
    }
    assert_eq!(delete(to, "/v1/sessions/same", &[OTHER]).await.status, 200);
    assert_eq!(client::get(to, "/v1/sessions/same", &[OWNER]).await.status, 200);
}

/// A response, and a conversation with an item, and a session.
async fn own_things(to: SocketAddr) -> Ids {
    let body = json!({"model": "m", "input": "Hi"}).to_string();
    let response = client::post(to, "/v1/responses", &[OWNER], &body).await.json();
    let body = json!({"items": [{"role": "user", "content": "Hi"}]}).to_string();
    let made = client::post(to, "/v1/conversations", &[OWNER], &body).await.json();
    let conversation = made["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/conversations/{conversation}/items");
    let items = client::get(to, &path, &[OWNER]).await.json();
    let item = items["data"][0]["id"].as_str().unwrap().to_owned();
    let body = json!({"messages": [{"role": "user", "content": "Hi"}]}).to_string();
    let session = client::post(to, "/v1/sessions", &[OWNER], &body).await.json();
    let session = session["id"].as_str().unwrap().to_owned();
    Ids { response: response["id"].as_str().unwrap().to_owned(), conversation, item, session }
}
