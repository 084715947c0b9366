//! Conversations: what may be in them, and what happens to one while an answer is made.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolwire::Protocol;
use toolwire_store::Options;

use super::{TempStore, delete, gateway, respond};
use crate::client::{self, ReceivedResponse};
use crate::upstream::{Gate, Server, Step, stream, whole};
use crate::{fixtures, ms};

/// A POST as clients send it that have nothing to say: without a content type.
async fn post_without_type(to: SocketAddr, path: &str, body: &str) -> ReceivedResponse {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    client::raw(to, head.as_bytes()).await
}

async fn post(to: SocketAddr, path: &str, body: &Value) -> ReceivedResponse {
    client::post(to, path, &[], &body.to_string()).await
}

fn id(thing: &Value) -> &str {
    thing["id"].as_str().unwrap()
}

/// The items of a conversation, from the first to the last.
async fn items(to: SocketAddr, conversation: &Value) -> Vec<Value> {
    let path = format!("/v1/conversations/{}/items?order=asc&limit=100", id(conversation));
    let got = client::get(to, &path, &[]).await;
    assert_eq!(got.status, 200, "{got:?}");
    got.json()["data"].as_array().unwrap().clone()
}

/// How a client can wait for an answer.
const WAYS: [(&str, bool, bool); 3] =
    [("whole", false, false), ("streamed", true, false), ("in the background", false, true)];

/// Something that is answered when the gate is open.
async fn behind(gate: &Gate, protocol: Protocol, streamed: bool) -> Server {
    let answer = match streamed {
        true => stream(&fixtures::events(protocol)),
        false => whole(200, "", fixtures::answer(protocol)),
    };
    let mut steps = vec![Step::Until(gate.clone())];
    steps.extend(answer);
    Server::new(protocol, steps).await
}

/// Begins an answer in a conversation, and returns when the model has been asked.
async fn begin(
    to: SocketAddr,
    server: &Server,
    conversation: &Value,
    streamed: bool,
    background: bool,
) -> tokio::net::TcpStream {
    let body = json!({"model": "m", "conversation": id(conversation), "stream": streamed,
        "background": background,
        "input": [{"type": "message", "id": "msg_mine", "role": "user", "content": "Hi"}]});
    let open = client::open(to, "/v1/responses", &[], &body.to_string()).await;
    server.until_seen(1).await;
    open
}

/// The answer that was begun, when it has ended.
async fn ended(to: SocketAddr, mut open: tokio::net::TcpStream, background: bool) -> Value {
    let got = client::finish(&mut open).await;
    assert_eq!(got.status, 200, "{got:?}");
    let mut answer = match got.body.starts_with('{') {
        true => got.json(),
        false => {
            let mut events = got.body.lines().filter_map(|line| line.strip_prefix("data: {"));
            let last = format!("{{{}", events.next_back().unwrap());
            let last: Value = serde_json::from_str(&last).unwrap();
            last["response"].clone()
        }
    };
    let by = Instant::now() + Duration::from_secs(5);
    let path = format!("/v1/responses/{}", id(&answer));
    while background && ["queued", "in_progress"].contains(&answer["status"].as_str().unwrap()) {
        assert!(Instant::now() < by, "it does not end: {answer}");
        tokio::time::sleep(ms(5)).await;
        answer = client::get(to, &path, &[]).await.json();
    }
    assert_eq!(answer["status"], "completed", "{got:?}");
    assert_eq!(client::get(to, &path, &[]).await.json(), answer);
    answer
}

/// The TypeScript SDK sends neither a body nor a content type to cancel a response.
#[tokio::test]
async fn a_post_without_a_body_needs_no_content_type() {
    let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let body = json!({"model": "m", "input": "Hi", "background": true});
    let queued = respond(to, &body).await.json();
    let path = format!("/v1/responses/{}/cancel", id(&queued));
    let cancelled = post_without_type(to, &path, "").await;
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")));
    let made = post_without_type(to, "/v1/conversations", "").await;
    assert_eq!((made.status, &made.json()["metadata"]), (200, &json!({})), "{made:?}");
    for path in ["/v1/conversations", "/v1/sessions", &path] {
        assert_eq!(post_without_type(to, path, "{}").await.status, 415, "{path}");
    }
    let path = format!("/v1/conversations/{}", id(&made.json()));
    assert_eq!(post_without_type(to, &path, "").await.status, 415);
}

/// An answer is paid for and a change can be sent again, so it is the change that is told
/// to wait.
#[tokio::test]
async fn a_conversation_cannot_be_changed_while_an_answer_is_made() {
    for (name, streamed, background) in WAYS {
        let gate = Gate::default();
        let server = behind(&gate, Protocol::Chat, streamed).await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        let body = json!({"items": [{"role": "user", "content": "Before"}]});
        let made = post(to, "/v1/conversations", &body).await.json();
        let first = items(to, &made).await[0].clone();
        let open = begin(to, &server, &made, streamed, background).await;
        let path = format!("/v1/conversations/{}", id(&made));
        let item = format!("{path}/items/{}", id(&first));
        let changes = [
            post(to, &format!("{path}/items"), &body).await,
            post(to, &path, &json!({"metadata": {"a": "b"}})).await,
            delete(to, &item, &[]).await,
            delete(to, &path, &[]).await,
        ];
        for got in changes {
            assert_eq!(got.status, 409, "{name}: {got:?}");
            assert_eq!(got.json()["error"]["code"], "conversation_locked", "{name}");
        }
        assert_eq!(client::get(to, &item, &[]).await.status, 200, "it can be read");
        gate.open();
        let answer = ended(to, open, background).await;
        assert_eq!(answer["conversation"], json!({"id": made["id"]}), "{name}");
        // One before it, the question, a text and a call.
        assert_eq!(items(to, &made).await.len(), 4, "{name}");
        assert_eq!(delete(to, &item, &[]).await.status, 200, "{name}: it is free again");
    }
}

/// Another gateway on the same store does not know that the conversation is in use.
#[tokio::test]
async fn an_answer_goes_behind_what_another_gateway_has_added() {
    for (name, streamed, background) in WAYS {
        let file = TempStore::new(&format!("added-{streamed}-{background}"));
        let gate = Gate::default();
        let server = behind(&gate, Protocol::Chat, streamed).await;
        let one = gateway(&server, file.options()).await;
        let two = gateway(&server, file.options()).await;
        let made = post(one.address(), "/v1/conversations", &json!({})).await.json();
        let open = begin(one.address(), &server, &made, streamed, background).await;
        let path = format!("/v1/conversations/{}/items", id(&made));
        let body = json!({"items": [{"id": "msg_mine", "role": "user", "content": "Between"}]});
        assert_eq!(post(two.address(), &path, &body).await.status, 200);
        gate.open();
        let answer = ended(one.address(), open, background).await;
        let found = items(two.address(), &made).await;
        assert_eq!(found.len(), 4, "{name}: {found:?}");
        assert_eq!(found[0]["content"][0]["text"], "Between", "{name}");
        assert_eq!(found[1]["content"][0]["text"], "Hi", "{name}");
        assert_eq!(found[3]["id"], answer["output"][1]["id"], "{name}");
        let ids: BTreeSet<&str> = found.iter().map(id).collect();
        assert_eq!(ids.len(), 4, "{name}: each has an id of its own: {found:?}");
        let body = json!({"model": "m", "input": "On", "stream": streamed,
            "previous_response_id": answer["id"]});
        assert_eq!(respond(two.address(), &body).await.status, 200, "{name}");
        let sent = server.seen().pop().unwrap().json();
        let users = sent["messages"].as_array().unwrap().iter();
        let users = users.filter(|message| message["role"] == "user");
        let users: Vec<_> = users.map(|message| message["content"].as_str().unwrap()).collect();
        assert_eq!(users, ["Between", "Hi", "On"], "{name}");
    }
}

/// It is kept without its conversation, as if it had been a moment earlier, and nobody waits
/// for the gateway to be taken for dead.
#[tokio::test]
async fn an_answer_whose_conversation_another_gateway_has_deleted() {
    for (name, streamed, background) in WAYS {
        let file = TempStore::new(&format!("deleted-{streamed}-{background}"));
        let gate = Gate::default();
        let server = behind(&gate, Protocol::Chat, streamed).await;
        let one = gateway(&server, file.options()).await;
        let two = gateway(&server, file.options()).await;
        let made = post(one.address(), "/v1/conversations", &json!({})).await.json();
        let open = begin(one.address(), &server, &made, streamed, background).await;
        let path = format!("/v1/conversations/{}", id(&made));
        assert_eq!(delete(two.address(), &path, &[]).await.status, 200);
        gate.open();
        let answer = ended(one.address(), open, background).await;
        assert_eq!(answer["conversation"], json!({"id": made["id"]}), "{name}");
        assert_eq!(client::get(one.address(), &path, &[]).await.status, 404, "{name}");
        let body = json!({"model": "m", "input": "On", "stream": streamed,
            "previous_response_id": answer["id"]});
        // Like any other whose conversation is gone.
        assert_eq!(respond(two.address(), &body).await.status, 400, "{name}");
    }
}

/// Such an item would stop every later request in its conversation.
#[tokio::test]
async fn what_is_no_item_is_not_added() {
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let made = post(to, "/v1/conversations", &json!({})).await.json();
    let path = format!("/v1/conversations/{}/items", id(&made));
    let good = json!({"role": "user", "content": "Hi"});
    for (wrong, param) in [
        (json!("x"), "items[1]"),
        (json!(null), "items[1]"),
        (json!(5), "items[1]"),
        (json!([]), "items[1]"),
        (json!({}), "items[1]"),
        (json!({"role": "user", "content": 5}), "items[1].content"),
        (json!({"role": 5, "content": "x"}), "items[1]"),
        (json!({"type": "function_call", "call_id": 1}), "items[1].call_id"),
    ] {
        for path in [path.as_str(), "/v1/conversations"] {
            let got = post(to, path, &json!({"items": [good, wrong]})).await;
            assert_eq!(got.status, 400, "{wrong}: {got:?}");
            assert_eq!(got.json()["error"]["param"], param, "{wrong}: {got:?}");
        }
    }
    let many = json!({"items": vec![good.clone(); 21]});
    for path in [path.as_str(), "/v1/conversations"] {
        let got = post(to, path, &many).await;
        assert_eq!((got.status, &got.json()["error"]["param"]), (400, &json!("items")));
    }
    assert_eq!(items(to, &made).await, Vec::<Value>::new());
    // Nobody knows all the kinds of items that there will be.
    let new = json!({"items": [good, {"type": "of_tomorrow", "x": 1}]});
    assert_eq!(post(to, &path, &new).await.status, 200);
    assert_eq!(post(to, &path, &json!({"items": vec![good; 20]})).await.status, 200);
}

/// Labels are kept as the client sent them or refused, never lost in silence.
#[tokio::test]
async fn labels_that_cannot_be_kept() {
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let pairs = |count: usize| -> Value {
        (0..count).map(|n| (format!("k{n}"), json!("v"))).collect::<serde_json::Map<_, _>>().into()
    };
    let kept = [json!({}), pairs(16), json!({"ä".repeat(64): "ö".repeat(512)})];
    let wrong = [
        json!(5),
        json!("x"),
        json!(["a"]),
        json!({"a": 1}),
        json!({"a": null}),
        json!({"a": {"b": "c"}}),
        pairs(17),
        json!({"k".repeat(65): "v"}),
        json!({"k": "v".repeat(513)}),
    ];
    let made = post(to, "/v1/conversations", &json!({"metadata": {"a": "b"}})).await.json();
    let path = format!("/v1/conversations/{}", id(&made));
    for path in ["/v1/conversations", path.as_str()] {
        for metadata in &wrong {
            let got = post(to, path, &json!({"metadata": metadata})).await;
            assert_eq!(got.status, 400, "{metadata}: {got:?}");
            assert_eq!(got.json()["error"]["param"], "metadata", "{metadata}");
        }
    }
    assert_eq!(client::get(to, &path, &[]).await.json()["metadata"], json!({"a": "b"}));
    for path in ["/v1/conversations", path.as_str()] {
        for metadata in &kept {
            let got = post(to, path, &json!({"metadata": metadata})).await;
            assert_eq!((got.status, &got.json()["metadata"]), (200, metadata), "{got:?}");
        }
        let got = post(to, path, &json!({"metadata": null})).await;
        assert_eq!((got.status, &got.json()["metadata"]), (200, &json!({})), "{got:?}");
    }
    let got = post(to, &path, &json!({})).await;
    assert_eq!((got.status, &got.json()["error"]["param"]), (400, &json!("metadata")));
}

/// The published types of a list's items require more than those of a request's.
#[tokio::test]
async fn items_in_a_list_are_complete() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    let sent = json!([
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}, image]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Yes"}]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": [image]},
        {"type": "custom_tool_call", "call_id": "c2", "name": "run", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "a", "status": "incomplete"},
        {"type": "reasoning", "summary": []},
    ]);
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA",
        "detail": "auto"});
    let text = json!({"type": "output_text", "text": "Yes", "annotations": []});
    let expected = json!([
        {"type": "message", "status": "completed", "role": "user",
         "content": [{"type": "input_text", "text": "Hi"}, image]},
        {"type": "message", "status": "completed", "role": "assistant", "content": [text]},
        {"type": "function_call", "status": "completed", "call_id": "c1", "name": "look",
         "arguments": "{}"},
        {"type": "function_call_output", "status": "completed", "call_id": "c1",
         "output": [image]},
        {"type": "custom_tool_call", "status": "completed", "call_id": "c2", "name": "run",
         "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "a",
         "status": "incomplete"},
        {"type": "reasoning", "summary": []},
    ]);
    let without_ids = |mut list: Vec<Value>| {
        list.iter_mut().for_each(|item| drop(item.as_object_mut().unwrap().remove("id")));
        Value::from(list)
    };
    let made = post(to, "/v1/conversations", &json!({"items": sent})).await.json();
    assert_eq!(without_ids(items(to, &made).await), expected);
    let answer = respond(to, &json!({"model": "m", "input": sent})).await.json();
    let path = format!("/v1/responses/{}/input_items?order=asc", id(&answer));
    let list = client::get(to, &path, &[]).await.json();
    assert_eq!(without_ids(list["data"].as_array().unwrap().clone()), expected);
}

/// `encodeURIComponent` encodes the colon of `user:42`.
#[tokio::test]
async fn an_id_that_is_encoded_in_a_path() {
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    assert_eq!(post(to, "/v1/sessions", &json!({"id": "user:42"})).await.status, 200);
    let items = json!({"items": [{"id": "msg:1", "role": "user", "content": "Hi"}]});
    let made = post(to, "/v1/conversations", &items).await.json();
    let item = format!("/v1/conversations/{}/items/msg", id(&made).replace('_', "%5F"));
    for path in
        ["/v1/sessions/user%3A42", "/v1/sessions/user%3a42/messages", "/v1/sessions/user:42"]
    {
        assert_eq!(client::get(to, path, &[]).await.status, 200, "{path}");
    }
    for (id, status) in [("%3A1", 200), (":1", 200), ("+1", 404), ("%2F1", 404), ("%ff", 404)] {
        let got = client::get(to, &format!("{item}{id}"), &[]).await;
        assert_eq!(got.status, status, "{id}: {got:?}");
    }
    assert_eq!(delete(to, "/v1/sessions/user%3A42", &[]).await.status, 200);
    assert_eq!(client::get(to, "/v1/sessions/user:42", &[]).await.status, 404);
}
