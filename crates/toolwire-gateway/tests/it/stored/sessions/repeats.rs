//! Requests that repeat what their session has.

use std::net::SocketAddr;

use serde_json::{Value, json};
use toolwire::{Protocol, codec};
use toolwire_store::Options;

use super::{ANSWER, CLIENTS, caller, read, request, results, send, stored};
use crate::client::{self, ReceivedResponse};
use crate::fixtures;
use crate::stored::gateway;
use crate::upstream::{Server, whole};

/// The session's first question, as Messages clients mark it for the cache.
fn question() -> Value {
    json!({"role": "user", "content": [
        {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]})
}

/// Clients that send the whole conversation all the same do not get it doubled,
/// however they spell it this time.
#[tokio::test]
async fn a_conversation_that_is_sent_again() {
    for client in CLIENTS {
        let server = caller(client).await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        let first = [question()];
        let got = send(to, client, "s", &request(client, false, &first)).await;
        let (_, calls) = read(client, false, &got);
        let items = (codec(client).answer_items)(&got.body).unwrap();
        let answers: Vec<Value> =
            items.iter().map(|item| serde_json::from_str(item).unwrap()).collect();
        let rest: Vec<Value> = answers.into_iter().chain(results(client, &calls)).collect();
        let spellings = [
            r#"{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}"#,
            r#"{"role": "user", "content": [{"type": "text", "text": "Hi"}]}"#,
            r#"{"content":[{"text":"\u0048i","type":"text"}],"role":"user"}"#,
            r#"{"content":"Hi","role":"user"}"#,
        ];
        let rest_text: Vec<String> = rest.iter().map(Value::to_string).collect();
        let whole = |first: &str| format!("{first},{}", rest_text.join(","));
        let trimmed = {
            let pair = [
                results(client, &calls).remove(0),
                json!({"role": "assistant",
                "content": "Trimmed"}),
            ];
            pair.map(|message| message.to_string()).join(",")
        };
        for messages in spellings.map(whole) {
            let got = send_text(to, client, "s", &messages, &[]).await;
            assert_eq!(got.status, 400, "{messages}: {got:?}");
            assert!(got.body.contains("session_repeated"), "{got:?}");
            assert!(got.body.contains("only what is new"), "{got:?}");
        }
        assert_eq!(server.seen_count(), 1);
        // The same question once more is no repetition.
        let mut more = results(client, &calls);
        more.insert(0, question());
        let got = send(to, client, "s", &request(client, false, &more)).await;
        assert_eq!(got.status, 200, "{got:?}");
        // Nor is an answer that the client makes up.
        let got = send_text(to, client, "s", &format!("{trimmed},{}", question()), &[]).await;
        assert_eq!(got.status, 200, "{got:?}");
    }
}

/// A client that sends only the newest part of a conversation that it keeps
/// itself, repeats it too.
#[tokio::test]
async fn a_window_that_is_sent_again() {
    for client in CLIENTS {
        let server = Server::new(Protocol::Chat, whole(200, "", ANSWER)).await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        let user = |text: &str| json!({"role": "user", "content": text}).to_string();
        for text in ["One", "Two", "Three"] {
            assert_eq!(send_text(to, client, "s", &user(text), &[]).await.status, 200);
        }
        let answer = r#"{"content": "Hello", "role": "assistant"}"#;
        let window =
            format!("{},{answer},{},{answer},{}", user("Two"), user("Three"), user("Four"));
        let window = match client == Protocol::Messages {
            true => window.replace("\"Hello\"", r#"[{"type":"text","text":"Hello"}]"#),
            false => window,
        };
        let got = send_text(to, client, "s", &window, &[]).await;
        assert_eq!(got.status, 400, "{got:?}");
        assert!(got.body.contains("session_repeated"), "{got:?}");
        // An answer like one of the session's, to another question, is the client's own.
        let own = format!("{},{answer},{}", user("Other"), user("Four"));
        assert_eq!(send_text(to, client, "s", &own, &[]).await.status, 200);
    }
}

/// A prompt with the beginning of its answer may come again and again.
#[tokio::test]
async fn a_prompt_with_a_begun_answer() {
    for client in CLIENTS {
        let server = Server::new(client, whole(200, "", fixtures::answer(client))).await;
        let gateway = gateway(&server, Options::memory()).await;
        let prompt = r#"{"role":"user","content":"Next"},{"role":"assistant","content":"{"}"#;
        for turn in 1..=3 {
            let got = send_text(gateway.address(), client, "s", prompt, &[]).await;
            assert_eq!(got.status, 200, "{turn}: {got:?}");
        }
    }
}

/// Counting the tokens of a request answers as the request itself would.
#[tokio::test]
async fn a_repetition_is_not_counted() {
    let server = Server::new(Protocol::Chat, whole(200, "", ANSWER)).await;
    let gateway = gateway(&server, Options::memory()).await;
    let (to, client) = (gateway.address(), Protocol::Messages);
    let user = r#"{"role":"user","content":"Hi"}"#;
    assert_eq!(send_text(to, client, "s", user, &[]).await.status, 200);
    let body = format!(
        r#"{{"model":"m","messages":[{user},{{"role":"assistant","content":"Hello"}},{user}]}}"#
    );
    let path = "/v1/messages/count_tokens";
    let got = client::post(to, path, &["toolwire-session: s"], &body).await;
    assert_eq!(got.status, 400, "{got:?}");
    assert!(got.body.contains("session_repeated"), "{got:?}");
}

/// An SDK that has not heard the end of an answer sends the request again by
/// itself. A turn that is stored does not become two.
#[tokio::test]
async fn a_turn_that_is_delivered_again() {
    for client in CLIENTS {
        let server = Server::new(Protocol::Chat, whole(200, "", ANSWER)).await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        let turn = r#"{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}"#;
        let (user, again) = (r#"{"role":"user","content":"Hi"}"#, "x-stainless-retry-count: 1");
        // A first delivery that never arrived is not repeated by the second.
        let got = send_text(to, client, "s", turn, &[again]).await;
        assert_eq!(got.status, 200, "{got:?}");
        for messages in [turn, user] {
            let got = send_text(to, client, "s", messages, &[again]).await;
            assert_eq!(got.status, 409, "{got:?}");
            assert!(got.body.contains("session_turn_stored"), "{got:?}");
            assert_eq!(got.header("x-should-retry"), Some("false"), "{got:?}");
        }
        assert_eq!(server.seen_count(), 1);
        let other = r#"{"role": "user", "content": "Hi"}"#;
        assert_eq!(send_text(to, client, "s", other, &[again]).await.status, 200);
        // A user may say the same twice.
        assert_eq!(send_text(to, client, "s", other, &[]).await.status, 200);
        let first = "x-stainless-retry-count: 0";
        assert_eq!(send_text(to, client, "s", other, &[first]).await.status, 200);
        assert_eq!(stored(to, "s").await["stats"]["turns"], 4);
    }
}

/// A user who says the same twice is heard twice, also if the first delivery of the second
/// time has failed. Once that is stored, it is not delivered again.
#[tokio::test]
async fn the_same_again_whose_first_delivery_fails() {
    for client in CLIENTS {
        let failed = r#"{"error":{"message":"no","type":"server_error"}}"#;
        let server = Server::scripted(client, move |number, _| match number {
            1 => whole(429, "", failed),
            2 => whole(500, "", failed),
            _ => whole(200, "", fixtures::answer(client)),
        });
        let server = server.await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        let user = r#"{"role":"user","content":"continue"}"#;
        let attempt = async |number: u32| {
            let count = format!("x-stainless-retry-count: {number}");
            let got = send_text(to, client, "s", user, &[&count]).await;
            assert_eq!(got.body.contains("session_turn_stored"), got.status == 409, "{got:?}");
            got.status
        };
        assert_eq!(attempt(0).await, 200);
        // Its first delivery is the one that was answered.
        assert_eq!(attempt(1).await, 409);
        let statuses = [attempt(0).await, attempt(1).await, attempt(2).await, attempt(3).await];
        assert_eq!(statuses, [429, 500, 200, 409]);
        assert_eq!(server.seen_count(), 4);
        assert_eq!(stored(to, "s").await["stats"]["turns"], 2);
        // A dry run is no delivery.
        let dry = send_text(to, client, "s", user, &["toolwire-dry-run: 1"]).await;
        assert_eq!(dry.status, 200, "{dry:?}");
        assert_eq!(attempt(1).await, 409);
    }
}

/// An empty list asks for an answer to what the session has. That is not made twice either.
#[tokio::test]
async fn an_empty_list_that_is_delivered_again() {
    for client in CLIENTS {
        let server = Server::new(client, whole(200, "", fixtures::answer(client))).await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        let user = json!({"role": "user", "content": "Hi"});
        let made = json!({"id": "s", "protocol": client.as_str(), "messages": [user]});
        let made = client::post(to, "/v1/sessions", &[], &made.to_string()).await;
        assert_eq!(made.status, 200, "{made:?}");
        // The first two are deliveries of one request, of which the first was lost.
        for (count, status) in [(1, 200), (2, 409), (0, 200), (1, 409)] {
            let count = format!("x-stainless-retry-count: {count}");
            let got = send_text(to, client, "s", "", &[&count]).await;
            assert_eq!(got.status, status, "{count}: {got:?}");
            assert_eq!(got.body.contains("session_turn_stored"), status == 409, "{got:?}");
        }
        assert_eq!(server.seen_count(), 2);
        assert_eq!(stored(to, "s").await["stats"]["turns"], 2);
    }
}

/// Sends messages as they are spelled.
async fn send_text(
    to: SocketAddr,
    client: Protocol,
    session: &str,
    messages: &str,
    headers: &[&str],
) -> ReceivedResponse {
    let body = format!(
        r#"{{"model":"m","max_tokens":100,"session_id":"{session}","messages":[{messages}]}}"#
    );
    client::post(to, fixtures::path(client), headers, &body).await
}
