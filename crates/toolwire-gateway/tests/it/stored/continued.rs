//! A response that was made in a conversation, and then continued by its id.

use std::net::SocketAddr;

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::Gateway;
use toolwire_store::{Limits, Options};

use super::background::ended;
use super::{answer, delete, gateway, respond};
use crate::client::{self, ReceivedResponse};
use crate::upstream::{ReceivedRequest, Server, Step, chunk, stream, stream_head, whole};

/// Says which turn it is, and breaks off the stream of one that is told to fail.
fn counting(turn: usize, request: &ReceivedRequest) -> Vec<Step> {
    let said = format!("Answer {turn}");
    let event = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let event = json!({"id": "c", "object": "chat.completion.chunk", "created": 1,
            "model": "m-1", "choices": [choice]});
        format!("data: {event}\n\n")
    };
    let begun = event(json!({"role": "assistant", "content": said}), json!(null));
    if request.body.contains("Fail") {
        return vec![stream_head(""), chunk(&begun), Step::Close];
    }
    if request.json()["stream"] == true {
        let end = event(json!({}), json!("stop"));
        return stream(&[begun, end, "data: [DONE]\n\n".to_owned()]);
    }
    let choice = json!({"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": said}});
    let answer = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [choice]});
    whole(200, "", answer.to_string())
}

async fn start(options: Options) -> (Server, Gateway) {
    let server = Server::scripted(Protocol::Chat, counting).await;
    let gateway = gateway(&server, options).await;
    (server, gateway)
}

/// The id of a conversation that begins with a text.
async fn conversation(to: SocketAddr, text: &str) -> String {
    let body = json!({"items": [{"role": "user", "content": text}]});
    let made = client::post(to, "/v1/conversations", &[], &body.to_string()).await.json();
    made["id"].as_str().unwrap().to_owned()
}

async fn add(to: SocketAddr, conversation: &str, text: &str) {
    let path = format!("/v1/conversations/{conversation}/items");
    let body = json!({"items": [{"role": "user", "content": text}]});
    assert_eq!(client::post(to, &path, &[], &body.to_string()).await.status, 200);
}

/// The ids of the items of a conversation, from the first to the last.
async fn item_ids(to: SocketAddr, conversation: &str) -> Vec<String> {
    let path = format!("/v1/conversations/{conversation}/items?order=asc");
    let list = client::get(to, &path, &[]).await.json();
    let items = list["data"].as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

/// The texts that the model got last.
fn sent(server: &Server) -> Vec<String> {
    let sent = server.seen().pop().unwrap().json();
    let messages = sent["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// The id of an answer that was asked for in some way, when it has ended.
async fn id_of(to: SocketAddr, got: &ReceivedResponse, streamed: bool) -> String {
    let got = answer(got, streamed);
    let id = got["id"].as_str().unwrap();
    assert_eq!(ended(to, id).await["status"], "completed");
    id.to_owned()
}

fn is_not_in_its_conversation(got: &ReceivedResponse) {
    assert_eq!(got.status, 400, "{got:?}");
    let error = &got.json()["error"];
    assert_eq!(error["param"], "previous_response_id", "{got:?}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("made in a conversation that was deleted"), "{message}");
}

/// What stood in front of the first response counts, and nothing that was added behind it.
#[tokio::test]
async fn the_conversation_comes_first() {
    for (streamed, background) in [(false, false), (true, false), (false, true)] {
        let (server, gateway) = start(Options::memory()).await;
        let to = gateway.address();
        let conversation = conversation(to, "My name is Ann.").await;
        let first = json!({"model": "m", "conversation": conversation, "input": "Hello",
            "stream": streamed, "background": background});
        let first = id_of(to, &respond(to, &first).await, streamed).await;
        add(to, &conversation, "Later").await;

        let second = json!({"model": "m", "previous_response_id": first, "input": "Who am I?"});
        let second = id_of(to, &respond(to, &second).await, false).await;
        let expected = ["My name is Ann.", "Hello", "Answer 0", "Who am I?"];
        assert_eq!(sent(&server), expected);

        let third = json!({"model": "m", "previous_response_id": second, "input": "Sure?"});
        assert_eq!(respond(to, &third).await.status, 200);
        let expected = [expected.as_slice(), &["Answer 1", "Sure?"]].concat();
        assert_eq!(sent(&server), expected);
        assert_eq!(item_ids(to, &conversation).await.len(), 4, "it doesn't grow with them");
    }
}

/// Clients can take items out of a conversation, also those of the response.
#[tokio::test]
async fn a_response_whose_items_are_gone_one_by_one() {
    let (server, gateway) = start(Options::memory()).await;
    let to = gateway.address();
    let conversation = conversation(to, "My name is Ann.").await;
    let first = json!({"model": "m", "conversation": conversation, "input": "Hello"});
    let first = id_of(to, &respond(to, &first).await, false).await;
    add(to, &conversation, "Later").await;
    let next = json!({"model": "m", "previous_response_id": first, "input": "On"});
    let ids = item_ids(to, &conversation).await;
    let path = |item: &str| format!("/v1/conversations/{conversation}/items/{item}");

    assert_eq!(delete(to, &path(&ids[1]), &[]).await.status, 200);
    assert_eq!(respond(to, &next).await.status, 200);
    assert_eq!(sent(&server), ["My name is Ann.", "Hello", "Answer 0", "On"]);

    assert_eq!(delete(to, &path(&ids[0]), &[]).await.status, 200);
    assert_eq!(respond(to, &next).await.status, 200);
    assert_eq!(sent(&server), ["Hello", "Answer 0", "On"]);

    assert_eq!(delete(to, &path(&ids[2]), &[]).await.status, 200);
    is_not_in_its_conversation(&respond(to, &next).await);
}

/// Nobody knows any more what stood in front of it.
#[tokio::test]
async fn a_response_whose_conversation_was_deleted() {
    let (server, gateway) = start(Options::memory()).await;
    let to = gateway.address();
    let conversation = conversation(to, "My name is Ann.").await;
    let first = json!({"model": "m", "conversation": conversation, "input": "Hello"});
    let first = id_of(to, &respond(to, &first).await, false).await;
    let second = json!({"model": "m", "previous_response_id": first, "input": "On"});
    let second = id_of(to, &respond(to, &second).await, false).await;
    assert_eq!(delete(to, &format!("/v1/conversations/{conversation}"), &[]).await.status, 200);
    for id in [first, second] {
        let next = json!({"model": "m", "previous_response_id": id, "input": "On"});
        is_not_in_its_conversation(&respond(to, &next).await);
    }
    assert_eq!(server.seen_count(), 2, "no model is asked");
}

/// It is kept, but not in the conversation.
#[tokio::test]
async fn a_response_that_failed_in_its_conversation() {
    let (_server, gateway) = start(Options::memory()).await;
    let to = gateway.address();
    let conversation = conversation(to, "My name is Ann.").await;
    let body = json!({"model": "m", "conversation": conversation, "input": "Fail",
        "stream": true});
    let got = respond(to, &body).await;
    assert!(got.body.contains("response.failed"), "{got:?}");
    let id = got.body.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap();
    let next = json!({"model": "m", "previous_response_id": id, "input": "On"});
    is_not_in_its_conversation(&respond(to, &next).await);
}

/// The limit is for both parts together, and what only looks has it too.
#[tokio::test]
async fn a_conversation_and_what_continues_it_may_be_too_long_together() {
    let read = 4000;
    let options = Options { limits: Limits { read, ..Limits::default() }, ..Options::memory() };
    let (server, gateway) = start(options).await;
    let to = gateway.address();
    let conversation = conversation(to, &"My name is Ann.".repeat(140)).await;
    let first = json!({"model": "m", "conversation": conversation, "input": "Hello"});
    let first = id_of(to, &respond(to, &first).await, false).await;
    let long = "Who am I?".repeat(200);
    let second = json!({"model": "m", "previous_response_id": first, "input": long});
    let second = id_of(to, &respond(to, &second).await, false).await;
    let third = json!({"model": "m", "previous_response_id": second, "input": "On"});
    for path in ["/v1/responses", "/v1/responses/input_tokens"] {
        let got = client::post(to, path, &[], &third.to_string()).await;
        assert_eq!(got.status, 413, "{got:?}");
        assert!(got.body.contains("longer than 4000 bytes, the limit `max_read`"), "{got:?}");
    }
    assert_eq!(server.seen_count(), 2, "no model is asked");
}
