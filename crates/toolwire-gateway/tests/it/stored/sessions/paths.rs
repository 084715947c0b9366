//! What the paths of sessions refuse, and what a session is named by.

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_store::Options;

use super::{ANSWER, CLIENTS, request, send, stored};
use crate::stored::gateway;
use crate::upstream::{Gate, Server, Step, chunk, stream_head, whole};
use crate::{client, fixtures};

/// What no model's API would take back does not get into a session, where it
/// would make every later turn fail.
#[tokio::test]
async fn messages_that_nobody_can_read() {
    let server = Server::new(Protocol::Chat, whole(200, "", ANSWER)).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let made = client::post(to, "/v1/sessions", &[], r#"{"id":"s"}"#).await;
    assert_eq!(made.status, 200, "{made:?}");
    let user = json!({"role": "user", "content": "Hi"});
    let result = json!({"type": "tool_result", "tool_use_id": "call_1", "content": "sunny"});
    let call = json!({"id": "call_1", "type": "function",
        "function": {"name": "look", "arguments": "{}"}});
    let cases = [
        (json!({"mesages": [user]}), "mesages"),
        (json!({"messages": [user], "protocol": "chat", "model": "m"}), "model"),
        (json!({"messages": [user, {"role": "nobody", "content": "Hi"}]}), "messages[1].role"),
        (json!({"messages": [{"role": "user"}]}), "messages[0].content"),
        (
            json!({"messages": [user, {"role": "assistant", "content": null}]}),
            "messages[1].content",
        ),
        (json!({"messages": [{"role": "user", "content": [result]}]}), "messages[0]"),
        (
            json!({"protocol": "messages", "messages": [
                {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}]}),
            "messages[0].role",
        ),
        (
            json!({"protocol": "messages", "messages": [user,
                {"role": "assistant", "content": [], "tool_calls": [call]}]}),
            "messages[1]",
        ),
    ];
    for (body, param) in cases {
        for path in ["/v1/sessions", "/v1/sessions/s/messages"] {
            let got = client::post(to, path, &[], &body.to_string()).await;
            let error = got.json()["error"].clone();
            assert_eq!((got.status, &error["param"]), (400, &json!(param)), "{body}: {got:?}");
        }
    }
    let list = client::get(to, "/v1/sessions", &[]).await.json();
    assert_eq!(list["data"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(stored(to, "s").await["messages"], 0);
    // What toolwire does not know may be a vendor's own.
    let own = json!({"messages": [user, {"role": "user", "x": 1, "content": [
        {"type": "video_url", "video_url": {"url": "https://a.example/v"}}]},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}]});
    let got = client::post(to, "/v1/sessions/s/messages", &[], &own.to_string()).await;
    assert_eq!(got.status, 200, "{got:?}");
    let own = json!({"protocol": "messages", "messages": [{"role": "user", "content": [result]}]});
    let got = client::post(to, "/v1/sessions/s/messages", &[], &own.to_string()).await;
    assert_eq!(got.status, 200, "{got:?}");
}

/// `session_id` is the gateway's own, whatever its value.
#[tokio::test]
async fn a_session_that_is_null() {
    for client in CLIENTS {
        let server = Server::new(client, whole(200, "", fixtures::answer(client))).await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        for body in [
            r#"{"model":"m","session_id":null,"max_tokens":9,"messages":[{"role":"user","content":"a\u00e9"}]}"#,
            r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a\u00e9"}], "session_id" : null }"#,
        ] {
            let got = client::post(to, fixtures::path(client), &[], body).await;
            assert_eq!(got.status, 200, "{got:?}");
            assert_eq!(got.header("toolwire-session"), None, "{got:?}");
            let sent = server.seen().last().unwrap().body.clone();
            assert!(!sent.contains("session"), "{sent}");
            assert!(sent.contains(r#"{"role":"user","content":"a\u00e9"}"#), "{sent}");
        }
    }
}

/// A Responses client is told the same, wherever it names a session.
#[tokio::test]
async fn a_client_without_sessions() {
    let server = Server::new(Protocol::Chat, whole(200, "", ANSWER)).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let mut body = json!({"model": "m", "input": "Hi"});
    let in_header = send(to, Protocol::Responses, "s", &body).await;
    body["session_id"] = json!("s");
    let in_body = client::post(to, "/v1/responses", &[], &body.to_string()).await;
    for got in [&in_header, &in_body] {
        let error = got.json()["error"].clone();
        assert_eq!((got.status, &error["param"]), (400, &json!("session_id")), "{got:?}");
        assert!(got.body.contains("previous_response_id"), "{got:?}");
    }
    assert_eq!(server.seen_count(), 0);
    body["session_id"] = Value::Null;
    let got = client::post(to, "/v1/responses", &[], &body.to_string()).await;
    assert_eq!(got.status, 200, "{got:?}");
}

/// Asking what would be sent neither waits for a turn nor stands in the way of one.
#[tokio::test]
async fn a_dry_run_during_a_turn() {
    let protocol = Protocol::Chat;
    let gate = Gate::default();
    let behind = gate.clone();
    let script = move |_: usize, _: &crate::upstream::ReceivedRequest| {
        let events = fixtures::events(protocol);
        let mut steps = vec![stream_head("")];
        steps.extend(events[..2].iter().map(chunk));
        steps.push(Step::Until(behind.clone()));
        steps.extend(events[2..].iter().map(chunk));
        steps.push(crate::upstream::stream_end());
        steps
    };
    let server = Server::scripted(protocol, script).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let body = request(protocol, true, &[json!({"role": "user", "content": "Hi"})]);
    let turn = tokio::spawn({
        let body = body.clone();
        async move { send(to, protocol, "s", &body).await }
    });
    server.until_seen(1).await;
    let headers = ["toolwire-session: s", "toolwire-dry-run: 1"];
    let got = client::post(to, fixtures::path(protocol), &headers, &body.to_string()).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(got.json()["object"], "toolwire.dry_run", "{got:?}");
    gate.open();
    assert!(turn.await.unwrap().body.contains("[DONE]"));
    assert_eq!(stored(to, "s").await["stats"]["turns"], 1);
}
