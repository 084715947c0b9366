//! The number of tokens of a request that refers to what was kept.

use std::net::SocketAddr;

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::config::StoreConfig;
use toolwire_store::Options;

use super::{gateway, respond};
use crate::client::{self, ReceivedResponse};
use crate::upstream::{Server, whole};
use crate::{at, config, fixtures, start};

async fn count(to: SocketAddr, body: &Value) -> ReceivedResponse {
    client::post(to, "/v1/responses/input_tokens", &[], &body.to_string()).await
}

/// A request that refers to something has as many tokens as one that says all of it.
#[tokio::test]
async fn what_a_request_refers_to_is_counted() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let question = json!({"type": "message", "role": "user", "content": "word ".repeat(300)});
    let next = json!({"type": "message", "role": "user", "content": "Go on"});
    let first = respond(to, &json!({"model": "m", "input": [question]})).await.json();
    let made = json!({"items": [question]}).to_string();
    let conversation = client::post(to, "/v1/conversations", &[], &made).await.json();
    let mut whole = vec![question.clone()];
    whole.extend(first["output"].as_array().unwrap().iter().cloned());
    whole.push(next.clone());
    let counted = async |body: Value| {
        let got = count(to, &body).await;
        assert_eq!(got.header("toolwire-estimate"), Some("?1"), "{got:?}");
        got.json()["input_tokens"].as_u64().unwrap()
    };
    let said = counted(json!({"model": "m", "input": whole})).await;
    let by_id = json!({"model": "m", "input": [next], "previous_response_id": first["id"]});
    assert_eq!(counted(by_id).await, said);
    let said = counted(json!({"model": "m", "input": [question, next]})).await;
    let joined = json!({"model": "m", "input": [next], "conversation": conversation["id"]});
    assert_eq!(counted(joined).await, said);
    let path = format!("/v1/responses/{}/input_items", first["id"].as_str().unwrap());
    let items = client::get(to, &path, &[]).await.json();
    let id = &items["data"][0]["id"];
    for reference in [json!({"type": "item_reference", "id": id}), json!({"id": id})] {
        assert_eq!(counted(json!({"model": "m", "input": [reference, next]})).await, said);
    }
    assert!(said > 300, "{said}");
    // Nothing was asked, stored or added.
    assert_eq!(server.seen_count(), 1);
    let path = format!("/v1/conversations/{}/items", conversation["id"].as_str().unwrap());
    assert_eq!(client::get(to, &path, &[]).await.json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_not_there_is_an_error_and_no_smaller_number() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let kept = gateway(&server, Options::memory()).await;
    let without_store = start(config(vec![at(&server)])).await;
    for to in [kept.address(), without_store.address()] {
        for (body, status, code) in [
            (json!({"previous_response_id": "resp_x"}), 400, "previous_response_not_found"),
            (json!({"conversation": "conv_x"}), 404, "conversation_not_found"),
            (json!({"input": [{"type": "item_reference", "id": "x"}]}), 404, "item_not_found"),
            (json!({"input": [{"id": "x"}]}), 404, "item_not_found"),
        ] {
            let mut body = body;
            body["model"] = json!("m");
            let got = count(to, &body).await;
            assert_eq!(
                (got.status, &got.json()["error"]["code"]),
                (status, &json!(code)),
                "{got:?}"
            );
        }
    }
}

/// An upstream that remembers is asked with the client's own words. If it cannot count, nobody
/// can.
#[tokio::test]
async fn an_upstream_that_remembers_counts() {
    let protocol = Protocol::Responses;
    let body = json!({"model": "m", "input": "Go on", "previous_response_id": "resp_x"});
    let counts = r#"{"object":"response.input_tokens","input_tokens":42}"#;
    for (status, answer, expected) in [(200, counts, 200), (404, "{}", 400)] {
        let server = Server::new(protocol, whole(status, "", answer)).await;
        let mut config = config(vec![at(&server)]);
        config.store = StoreConfig::On(Options::memory());
        let gateway = start(config).await;
        let got = count(gateway.address(), &body).await;
        assert_eq!(got.status, expected, "{got:?}");
        assert_eq!(server.only().json()["previous_response_id"], "resp_x");
        assert_eq!(server.only().path, "/v1/responses/input_tokens");
    }
}
