//! What clients look at, and how much memory that takes.

use serde_json::json;
use toolwire::Protocol;
use toolwire_gateway::config::StoreConfig;
use toolwire_store::Options;

use super::{gateway, respond};
use crate::upstream::{Server, whole};
use crate::{at, client, config, fixtures, start};

/// Items are shown whole, so whatever a client wants to see of them is there already.
#[tokio::test]
async fn words_of_what_to_include_change_nothing() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let made = respond(to, &json!({"model": "m", "input": "Hi"})).await.json();
    let response = format!("/v1/responses/{}", made["id"].as_str().unwrap());
    let body = json!({"items": [{"id": "msg_1", "role": "user", "content": "Hi"}]}).to_string();
    let made = client::post(to, "/v1/conversations", &[], &body).await.json();
    let items = format!("/v1/conversations/{}/items", made["id"].as_str().unwrap());
    let words = "include[]=message.output_text.logprobs&include%5B%5D=what.a.newer.client.wants";
    for path in
        [response.clone(), format!("{response}/input_items"), items.clone(), items + "/msg_1"]
    {
        let plain = client::get(to, &path, &[]).await;
        assert_eq!(plain.status, 200, "{plain:?}");
        let got = client::get(to, &format!("{path}?{words}"), &[]).await;
        assert_eq!((got.status, got.json()), (200, plain.json()));
    }
}

/// What a request has grown to counts as memory, from when it is read until it is sent.
#[tokio::test]
async fn what_a_request_refers_to_counts_as_memory() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let mut config = config(vec![at(&server)]);
    config.store = StoreConfig::On(Options::memory());
    config.limits.bodies_total = 256 * 1024;
    let gateway = start(config).await;
    let to = gateway.address();
    for (name, length, status) in [("short", 1000, 200), ("long", 150_000, 503)] {
        let item = |length| json!({"id": name, "role": "user", "content": "x".repeat(length)});
        // A model is asked with it, for which there is room twice.
        let body = json!({"model": "m", "input": [item(length * 2 / 3)]});
        let response = respond(to, &body).await;
        assert_eq!(response.status, 200, "{response:?}");
        let body = json!({"items": [item(length)]}).to_string();
        let conversation = client::post(to, "/v1/conversations", &[], &body).await.json();
        let asked = server.seen_count();
        for refers in [
            json!({"previous_response_id": response.json()["id"]}),
            json!({"conversation": conversation["id"]}),
            json!({"input": [{"type": "item_reference", "id": name}]}),
        ] {
            for path in ["/v1/responses", "/v1/responses/input_tokens"] {
                let mut body = refers.clone();
                body["model"] = json!("m");
                let got = client::post(to, path, &[], &body.to_string()).await;
                assert_eq!(got.status, status, "{path} {name} {refers}: {got:?}");
                assert_eq!(got.body.contains("other large requests"), status == 503, "{got:?}");
            }
        }
        assert_eq!(server.seen_count(), asked + if status == 200 { 3 } else { 0 });
    }
}
