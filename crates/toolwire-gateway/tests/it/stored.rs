//! Responses and conversations that the gateway remembers over upstreams that
//! remember nothing.

mod background;
mod continued;
mod conversations;
mod counts;
mod endings;
mod full_disk;
mod isolation;
mod outages;
mod postgres;
mod reads;
mod sessions;
mod upstream_memory;

use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::Gateway;
use toolwire_gateway::config::{Credential, Secret, StoreConfig};
use toolwire_store::{EngineOptions, Options, Sync};

use crate::client::{self, ReceivedResponse};
use crate::upstream::{
    ReceivedRequest, Server, Step, chunk, stream, stream_end, stream_head, whole,
};
use crate::{at, config, fixtures, start};

/// A gateway in front of a server, with a store.
pub(crate) async fn gateway(server: &Server, options: Options) -> Gateway {
    let mut config = config(vec![at(server)]);
    config.store = StoreConfig::On(options);
    start(config).await
}

async fn respond(to: SocketAddr, body: &Value) -> ReceivedResponse {
    client::post(to, "/v1/responses", &[], &body.to_string()).await
}

async fn delete(to: SocketAddr, path: &str, headers: &[&str]) -> ReceivedResponse {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let head =
        format!("DELETE {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n{headers}\r\n");
    client::raw(to, head.as_bytes()).await
}

/// A file that is gone at the end of the test.
struct TempStore(PathBuf);

impl TempStore {
    fn new(name: &str) -> Self {
        let folder = format!("toolwire-stored-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn options(&self) -> Options {
        Options::sqlite(self.0.join("store.db"))
    }

    /// A store in which every response waits for the tables.
    fn options_that_wait(&self) -> Options {
        let mut options = self.options();
        if let EngineOptions::Sqlite(sqlite) = &mut options.engine {
            sqlite.sync = Sync::Full;
        }
        options
    }
}

impl Drop for TempStore {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Calls a tool in each of its first turns, and says something in the last.
fn caller(protocol: Protocol, turn: usize, _seen: &ReceivedRequest) -> Vec<Step> {
    let last = turn == TURNS - 1;
    let answer = match (protocol == Protocol::Chat, last) {
        (true, true) => json!({"id": "c9", "object": "chat.completion", "created": 1,
            "model": "m-1", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Done"}}]}),
        (true, false) => json!({"id": format!("c{turn}"), "object": "chat.completion",
            "created": 1, "model": "m-1", "choices": [{"index": 0, "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": null, "tool_calls": [{"type": "function",
            "id": format!("call_{turn}"),
            "function": {"name": "look", "arguments": format!("{{\"n\": {turn}}}")}}]}}]}),
        (false, true) => json!({"id": "msg_9", "type": "message",
            "role": "assistant", "model": "m-1", "stop_reason": "end_turn", "stop_sequence": null,
            "content": [{"type": "text", "text": "Done"}],
            "usage": {"input_tokens": 1, "output_tokens": 1}}),
        (false, false) => json!({"id": format!("msg_{turn}"), "type": "message",
            "role": "assistant", "model": "m-1", "stop_reason": "tool_use", "stop_sequence": null,
            "content": [
                {"type": "thinking", "thinking": "Hm", "signature": format!("sig{turn}==")},
                {"type": "tool_use", "id": format!("toolu_{turn}"), "name": "look",
                 "input": {"n": turn}}],
            "usage": {"input_tokens": 1, "output_tokens": 1}}),
    };
    whole(200, "", answer.to_string())
}

const TURNS: usize = 5;

/// The answer in a response, streamed or not.
fn answer(got: &ReceivedResponse, streamed: bool) -> Value {
    assert_eq!(got.status, 200, "{got:?}");
    if !streamed {
        return got.json();
    }
    let events = got.body.lines().filter_map(|line| line.strip_prefix("data: {"));
    let events = events.map(|event| serde_json::from_str(&format!("{{{event}")).unwrap());
    let events: Vec<Value> = events.collect();
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed", "{got:?}");
    let id = &last["response"]["id"];
    for event in events.iter().filter(|event| event.get("response").is_some()) {
        assert_eq!(event["response"]["id"], *id);
    }
    last["response"].clone()
}

/// Five turns in which the client sends nothing but the last id and a result,
/// each turn through another gateway than the one before.
async fn five_turns(protocol: Protocol, streamed: bool, gateways: &[SocketAddr], server: &Server) {
    let tool = json!({"type": "function", "name": "look", "parameters":
        {"type": "object", "properties": {"n": {"type": "integer"}}}});
    let mut input = json!("Look five times");
    let mut previous = Value::Null;
    for turn in 0..TURNS {
        let to = gateways[turn % gateways.len()];
        let body = json!({"model": "m", "input": input, "tools": [tool], "stream": streamed,
            "previous_response_id": previous, "instructions": format!("Turn {turn}.")});
        let got = answer(&respond(to, &body).await, streamed);
        assert_eq!(got["previous_response_id"], previous);
        assert_eq!(got["store"], true);
        assert_eq!(got["status"], "completed");
        previous = got["id"].clone();
        let id = previous.as_str().unwrap();
        assert!(id.starts_with("resp_") && id.len() > 37, "{id}");
        // It can be read at once, also through another gateway.
        let next = gateways[(turn + 1) % gateways.len()];
        let stored = client::get(next, &format!("/v1/responses/{id}"), &[]).await;
        assert_eq!(stored.json(), got, "{protocol} {streamed} {turn}");
        let output = got["output"].as_array().unwrap();
        if turn == TURNS - 1 {
            assert_eq!(output[0]["content"][0]["text"], "Done");
            break;
        }
        let call = output.iter().find(|item| item["type"] == "function_call").unwrap();
        input = json!([{"type": "function_call_output", "call_id": call["call_id"],
            "output": format!("seen {turn}")}]);
    }
    let seen = server.seen();
    assert_eq!(seen.len(), TURNS);
    let (first, last) = (seen[0].json(), seen[TURNS - 1].json());
    for word in ["store", "previous_response_id", "background"] {
        assert!(last.get(word).is_none(), "{word}");
    }
    let text = last["messages"].to_string();
    for turn in 0..TURNS - 1 {
        assert!(text.contains(&format!("seen {turn}")), "{text}");
        // Neither instructions nor the order of calls come from earlier turns.
        assert!(!text.contains(&format!("Turn {turn}.")), "{text}");
        if protocol == Protocol::Messages {
            assert!(text.contains(&format!("sig{turn}==")), "sealed reasoning: {text}");
        }
    }
    // What the model was asked first stays the same, byte for byte.
    let question = |request: &Value| {
        let messages = request["messages"].as_array().unwrap();
        messages.iter().find(|message| message["role"] == "user").unwrap().clone()
    };
    assert_eq!(question(&first), question(&last));
}

#[tokio::test]
async fn five_turns_in_memory() {
    for protocol in [Protocol::Chat, Protocol::Messages] {
        for streamed in [false, true] {
            let server =
                Server::scripted(protocol, move |turn, seen| caller(protocol, turn, seen)).await;
            let gateway = gateway(&server, Options::memory()).await;
            five_turns(protocol, streamed, &[gateway.address()], &server).await;
        }
    }
}

#[tokio::test]
async fn five_turns_through_two_gateways_with_one_store() {
    for protocol in [Protocol::Chat, Protocol::Messages] {
        for streamed in [false, true] {
            let file = TempStore::new(&format!("{protocol}-{streamed}"));
            let server =
                Server::scripted(protocol, move |turn, seen| caller(protocol, turn, seen)).await;
            let one = gateway(&server, file.options()).await;
            let two = gateway(&server, file.options()).await;
            let gateways = [one.address(), two.address()];
            five_turns(protocol, streamed, &gateways, &server).await;
        }
    }
}

/// The moment a client sees the end of a stream, the response can be read.
#[tokio::test]
async fn a_response_can_be_read_when_its_stream_ends() {
    for protocol in [Protocol::Chat, Protocol::Messages] {
        let server = Server::new(protocol, stream(&fixtures::events(protocol))).await;
        let gateway = gateway(&server, Options::memory()).await;
        let body = json!({"model": "m", "input": "Hi", "stream": true});
        let got = answer(&respond(gateway.address(), &body).await, true);
        let path = format!("/v1/responses/{}", got["id"].as_str().unwrap());
        assert_eq!(client::get(gateway.address(), &path, &[]).await.json(), got);
    }
}

/// What cannot be stored is never acknowledged, and what is not to be stored
/// goes on.
#[tokio::test]
async fn a_store_that_fails() {
    for protocol in [Protocol::Chat, Protocol::Messages] {
        let script = move |_: usize, seen: &ReceivedRequest| {
            if seen.json()["stream"] == true {
                stream(&fixtures::events(protocol))
            } else {
                whole(200, "", fixtures::answer(protocol))
            }
        };
        let server = Server::scripted(protocol, script).await;
        let mut options = Options::memory();
        options.limits.tenant = 16;
        let gateway = gateway(&server, options).await;
        let to = gateway.address();
        for store in [json!(true), Value::Null] {
            let got = respond(to, &json!({"model": "m", "input": "Hi", "store": store})).await;
            assert_eq!(got.status, 503, "{got:?}");
            assert!(got.header("retry-after").is_some(), "{got:?}");
            let body = json!({"model": "m", "input": "Hi", "store": store, "stream": true});
            let got = respond(to, &body).await;
            assert!(!got.body.contains("response.completed"), "{got:?}");
            assert!(got.body.contains("event: response.failed"), "{got:?}");
        }
        for streamed in [false, true] {
            let body = json!({"model": "m", "input": "Hi", "store": false, "stream": streamed});
            let got = answer(&respond(to, &body).await, streamed);
            assert_eq!(got["store"], false);
        }
    }
}

/// A gateway without a store says so, and answers what does not need one.
#[tokio::test]
async fn a_gateway_that_keeps_nothing() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let to = gateway.address();
    let got = respond(to, &json!({"model": "m", "input": "Hi", "store": true})).await;
    assert_eq!((got.status, &got.json()["error"]["param"]), (400, &json!("store")));
    let got = respond(to, &json!({"model": "m", "input": "Hi"})).await;
    assert_eq!((got.status, &got.json()["store"]), (200, &json!(false)));
    let body = json!({"model": "m", "input": "Hi", "previous_response_id": "resp_1"});
    let got = respond(to, &body).await;
    assert_eq!(got.status, 400);
    assert_eq!(got.json()["error"]["code"], "previous_response_not_found");
    assert_eq!(client::get(to, "/v1/responses/resp_1", &[]).await.status, 404);
    assert_eq!(client::post(to, "/v1/conversations", &[], "{}").await.status, 400);
    assert_eq!(server.seen_count(), 1);
}

/// An upstream that remembers by itself gets the client's bytes; a thread of the
/// gateway's own goes to it whole.
#[tokio::test]
async fn an_upstream_that_remembers() {
    let native =
        Server::new(Protocol::Responses, whole(200, "", fixtures::answer(Protocol::Responses)))
            .await;
    let other = Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let mut config = config(vec![at(&native), at(&other)]);
    config.store = StoreConfig::On(Options::memory());
    let gateway = start(config).await;
    let to = gateway.address();
    let body = json!({"model": "responses/m", "input": "Hi", "previous_response_id": "resp_x",
        "store": true});
    let got = respond(to, &body).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(native.only().json()["previous_response_id"], "resp_x");
    assert_eq!(native.only().json()["store"], true);
    let first = respond(to, &json!({"model": "chat/m", "input": "Hi"})).await.json();
    let body = json!({"model": "responses/m", "input": "Go on",
        "previous_response_id": first["id"]});
    let second = respond(to, &body).await;
    assert_eq!(second.status, 200, "{second:?}");
    let sent = native.seen()[1].json();
    assert_eq!(sent["store"], false);
    assert!(sent.get("previous_response_id").is_none());
    let input = sent["input"].as_array().unwrap();
    assert_eq!(input[0]["content"], "Hi");
    assert_eq!(input[1], first["output"][0]);
    assert_eq!(input.last().unwrap()["content"], "Go on");
    // The thread goes on anywhere, under the upstream's own id.
    let id = second.json()["id"].clone();
    let body = json!({"model": "chat/m", "input": "More", "previous_response_id": id});
    assert_eq!(respond(to, &body).await.status, 200);
    let sent = other.seen()[1].json().to_string();
    assert!(sent.contains("Go on") && sent.contains("More"), "{sent}");
}

/// Deleting, listing and referring to what was kept.
#[tokio::test]
async fn what_was_kept() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let input = json!([
        {"role": "user", "content": "One"},
        {"type": "message", "id": "msg_mine", "role": "user",
         "content": [{"type": "input_text", "text": "Two"}]},
    ]);
    let made = respond(to, &json!({"model": "m", "input": input})).await.json();
    let path = format!("/v1/responses/{}", made["id"].as_str().unwrap());
    let list = client::get(to, &format!("{path}/input_items?order=asc&limit=1"), &[]).await.json();
    assert_eq!(list["object"], "list");
    assert_eq!(list["has_more"], true);
    let first = &list["data"][0];
    assert_eq!(first["type"], "message");
    assert_eq!(first["content"], json!([{"type": "input_text", "text": "One"}]));
    assert_eq!(list["first_id"], first["id"]);
    let after = list["last_id"].as_str().unwrap();
    let rest = client::get(to, &format!("{path}/input_items?order=asc&after={after}"), &[]).await;
    assert_eq!(rest.json()["data"][0]["id"], "msg_mine");
    assert_eq!(rest.json()["has_more"], false);
    let wrong = client::get(to, &format!("{path}/input_items?limit=0"), &[]).await;
    assert_eq!((wrong.status, &wrong.json()["error"]["param"]), (400, &json!("limit")));
    let body = json!({"model": "m", "input": [{"type": "item_reference", "id": "msg_mine"}]});
    assert_eq!(respond(to, &body).await.status, 200);
    assert!(server.seen()[1].body.contains("Two"));
    // A reference may leave out its type, and an answer that is not stored may need it too.
    for (turn, store) in [(2, true), (3, false)] {
        let input = json!([{"id": "msg_mine"}, {"role": "user", "content": "Go on"}]);
        let body = json!({"model": "m", "store": store, "input": input});
        let got = respond(to, &body).await;
        assert_eq!(got.status, 200, "{got:?}");
        assert!(server.seen()[turn].body.contains("Two"), "{:?}", server.seen()[turn]);
    }
    let body = json!({"model": "m", "input": [{"type": "item_reference", "id": "msg_other"}]});
    let missing = respond(to, &body).await;
    assert_eq!((missing.status, &missing.json()["error"]["code"]), (404, &json!("item_not_found")));
    assert_eq!(client::post(to, &format!("{path}/cancel"), &[], "").await.status, 400);
    let gone = delete(to, &path, &[]).await;
    let expected = json!({"id": made["id"], "object": "response", "deleted": true});
    assert_eq!((gone.status, gone.json()), (200, expected));
    assert_eq!(delete(to, &path, &[]).await.status, 404);
    let body = json!({"model": "m", "input": "Hi", "previous_response_id": made["id"]});
    let got = respond(to, &body).await;
    assert_eq!(got.status, 400);
    assert_eq!(got.json()["error"]["param"], "previous_response_id");
}

/// A conversation grows with every answer, also with those that are not stored.
#[tokio::test]
async fn a_conversation() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let body = json!({"metadata": {"topic": "demo"},
        "items": [{"role": "user", "content": "Before"}]});
    let made = client::post(to, "/v1/conversations", &[], &body.to_string()).await.json();
    assert_eq!(made["object"], "conversation");
    assert_eq!(made["metadata"], json!({"topic": "demo"}));
    let id = made["id"].as_str().unwrap();
    let path = format!("/v1/conversations/{id}");
    for (turn, store) in [(0, json!(true)), (1, json!(false))] {
        let conversation = if turn == 0 { json!(id) } else { json!({"id": id}) };
        let body = json!({"model": "m", "input": format!("Turn {turn}"), "store": store,
            "conversation": conversation});
        let got = respond(to, &body).await;
        assert_eq!(got.json()["conversation"], json!({"id": id}), "{got:?}");
        assert_eq!(got.json()["store"], store);
    }
    let sent = server.seen()[1].body.clone();
    for text in ["Before", "Turn 0", "Turn 1"] {
        assert!(sent.contains(text), "{sent}");
    }
    let list = client::get(to, &format!("{path}/items?order=asc"), &[]).await.json();
    let items = list["data"].as_array().unwrap();
    // One to begin with, and two turns of a question, a text and a call.
    assert_eq!(items.len(), 7, "{list}");
    let added = json!({"items": [{"role": "user", "content": "After"}]}).to_string();
    let added = client::post(to, &format!("{path}/items"), &[], &added).await.json();
    let item = added["data"][0]["id"].as_str().unwrap();
    let one = client::get(to, &format!("{path}/items/{item}"), &[]).await.json();
    assert_eq!(one["content"][0]["text"], "After");
    assert_eq!(delete(to, &format!("{path}/items/{item}"), &[]).await.json()["id"], id);
    assert_eq!(client::get(to, &format!("{path}/items/{item}"), &[]).await.status, 404);
    let changed = client::post(to, &path, &[], r#"{"metadata":{"topic":"other"}}"#).await;
    assert_eq!(changed.json()["metadata"]["topic"], "other");
    assert_eq!(client::get(to, &path, &[]).await.json(), changed.json());
    let both = json!({"model": "m", "input": "Hi", "conversation": id,
        "previous_response_id": "resp_1"});
    assert_eq!(respond(to, &both).await.status, 400);
    let gone = delete(to, &path, &[]).await.json();
    assert_eq!(gone, json!({"id": id, "object": "conversation.deleted", "deleted": true}));
    let body = json!({"model": "m", "input": "Hi", "conversation": id});
    assert_eq!(respond(to, &body).await.status, 404);
}

/// A stream that fails ends with an answer too, and its client knows its id. It is kept like any
/// other, except that the conversation goes on without it.
#[tokio::test]
async fn a_stream_that_fails_can_be_read() {
    let error = r#"data: {"error":{"message":"no key-of-the-upstream-0123456 today","type":"server_error"}}"#;
    for (name, end) in [("cut", None), ("error", Some(format!("{error}\n\n")))] {
        let mut steps = vec![stream_head("")];
        steps.extend(fixtures::events(Protocol::Chat).iter().take(3).map(chunk));
        match end {
            Some(event) => steps.extend([chunk(&event), stream_end()]),
            None => steps.push(Step::Close),
        }
        let server = Server::new(Protocol::Chat, steps).await;
        let mut upstream = at(&server);
        upstream.credential =
            Credential::Key(Secret::new("key-of-the-upstream-0123456".to_owned()));
        let mut config = config(vec![upstream]);
        config.store = StoreConfig::On(Options::memory());
        let gateway = start(config).await;
        let to = gateway.address();
        let conversation = client::post(to, "/v1/conversations", &[], "{}").await.json();
        let body = json!({"model": "m", "input": "Hi", "stream": true,
            "conversation": conversation["id"]});
        let got = respond(to, &body).await;
        let events = got.body.lines().filter_map(|line| line.strip_prefix("data: {"));
        let events = events.map(|event| serde_json::from_str(&format!("{{{event}")).unwrap());
        let events: Vec<Value> = events.collect();
        let (first, last) = (&events[0], events.last().unwrap());
        assert_eq!(first["type"], "response.created", "{name}: {got:?}");
        assert_eq!(last["type"], "response.failed", "{name}: {got:?}");
        assert_eq!(first["response"]["id"], last["response"]["id"], "{name}");
        let path = format!("/v1/responses/{}", first["response"]["id"].as_str().unwrap());
        let stored = client::get(to, &path, &[]).await;
        assert_eq!((stored.status, stored.json()), (200, last["response"].clone()), "{name}");
        assert_eq!(stored.json()["status"], "failed", "{name}");
        assert!(!stored.body.contains("key-of-the-upstream"), "{name}: {stored:?}");
        let items = client::get(to, &format!("{path}/input_items"), &[]).await.json();
        assert_eq!(items["data"][0]["content"][0]["text"], "Hi", "{name}");
        let path = format!("/v1/conversations/{}/items", conversation["id"].as_str().unwrap());
        assert_eq!(client::get(to, &path, &[]).await.json()["data"], json!([]), "{name}");
        let body = json!({"model": "m", "input": "Hi", "stream": true, "store": false});
        let got = respond(to, &body).await;
        let id = got.body.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap();
        let path = format!("/v1/responses/{id}");
        assert_eq!(client::get(to, &path, &[]).await.status, 404, "{name}");
    }
}
