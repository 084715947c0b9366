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
