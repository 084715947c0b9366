//! Sessions of Chat and Messages clients, which send only what is new.

mod calls;
mod limits;
mod paths;
mod repeats;

use std::net::SocketAddr;

use serde_json::{Value, json};
use toolwire::calls::StreamedAnswer;
use toolwire::{Protocol, codec};
use toolwire_gateway::Gateway;
use toolwire_gateway::config::{StoreConfig, UpstreamConfig};
use toolwire_store::Options;

use super::{TempStore, delete, gateway};
use crate::client::{self, ReceivedResponse};
use crate::postgres_server::{PostgresServer, is_left_out};
use crate::text_tools::{TEXT, speak, with};
use crate::upstream::{Gate, ReceivedRequest, Server, Step, chunk, stream, stream_head, whole};
use crate::{at, config, fixtures, ms, pairs, start};

const CLIENTS: [Protocol; 2] = [Protocol::Chat, Protocol::Messages];
const TURNS: usize = 5;

/// Two calls in each of the first turns, with reasoning where it is sealed, and
/// then the end.
fn answer(protocol: Protocol, turn: usize) -> String {
    let last = turn == TURNS - 1;
    let numbers = [2 * turn, 2 * turn + 1];
    let arguments = |n: usize| format!("{{\"n\" : {n}.0}}");
    let answer = match protocol {
        Protocol::Chat if last => json!({"id": "c", "object": "chat.completion", "created": 1,
            "model": "m-1", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Done"}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}}),
        Protocol::Chat => json!({"id": "c", "object": "chat.completion", "created": 1,
            "model": "m-1", "choices": [{"index": 0, "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": null, "tool_calls": numbers.map(|n| json!({
                "id": format!("call_{n}"), "type": "function",
                "function": {"name": "look", "arguments": arguments(n)}}))}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}}),
        Protocol::Responses => {
            let mut output = vec![json!({"type": "reasoning", "id": format!("rs_{turn}"),
                "summary": [], "encrypted_content": format!("sealed{turn}==")})];
            if last {
                output.push(json!({"type": "message", "id": "msg", "role": "assistant",
                    "status": "completed", "content": [{"type": "output_text", "text": "Done",
                    "annotations": []}]}));
            } else {
                output.extend(numbers.map(|n| {
                    json!({"type": "function_call",
                    "id": format!("fc_{n}"), "call_id": format!("call_{n}"), "name": "look",
                    "arguments": arguments(n), "status": "completed"})
                }));
            }
            json!({"id": "resp", "object": "response", "created_at": 1, "status": "completed",
                "model": "m-1", "output": output,
                "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}})
        }
        Protocol::Messages => {
            let mut content = vec![json!({"type": "thinking", "thinking": "Hm",
                "signature": format!("sealed{turn}==")})];
            if last {
                content.push(json!({"type": "text", "text": "Done"}));
            } else {
                content.extend(numbers.map(|n| {
                    json!({"type": "tool_use",
                        "id": format!("call_{n}"), "name": "look", "input": {"n": n}})
                }));
            }
            let stop = if last { "end_turn" } else { "tool_use" };
            json!({"id": "msg", "type": "message", "role": "assistant", "model": "m-1",
                "content": content, "stop_reason": stop, "stop_sequence": null,
                "usage": {"input_tokens": 10, "output_tokens": 2}})
        }
        other => panic!("{other}"),
    };
    answer.to_string()
}

/// An upstream that calls tools, whole or in a stream as it is asked.
async fn caller(protocol: Protocol) -> Server {
    Server::scripted(protocol, move |turn, seen| {
        let answer = answer(protocol, turn % TURNS);
        if seen.json()["stream"] != true {
            return whole(200, "", answer);
        }
        let events = (codec(protocol).stream_from_response)(&answer).unwrap();
        stream(&[String::from_utf8(events).unwrap()])
    })
    .await
}

/// A request that continues a session by its header.
fn request(client: Protocol, streamed: bool, messages: &[Value]) -> Value {
    let tool = if client == Protocol::Chat {
        json!({"type": "function", "function": {"name": "look",
            "parameters": {"type": "object"}}})
    } else {
        json!({"name": "look", "input_schema": {"type": "object"}})
    };
    let limit = if client == Protocol::Chat { "max_completion_tokens" } else { "max_tokens" };
    json!({"model": "m", "stream": streamed, limit: 4096, "tools": [tool], "messages": messages})
}

fn results(client: Protocol, calls: &[String]) -> Vec<Value> {
    if client == Protocol::Chat {
        let result =
            |id| json!({"role": "tool", "tool_call_id": id, "content": format!("saw {id}")});
        return calls.iter().map(result).collect();
    }
    let block = |id| {
        json!({"type": "tool_result", "tool_use_id": id,
            "content": format!("saw {id}")})
    };
    vec![json!({"role": "user", "content": calls.iter().map(block).collect::<Vec<_>>()})]
}

async fn send(to: SocketAddr, client: Protocol, session: &str, body: &Value) -> ReceivedResponse {
    let header = format!("toolwire-session: {session}");
    client::post(to, fixtures::path(client), &[&header], &body.to_string()).await
}

/// The text of an answer and the ids of its calls.
fn read(client: Protocol, streamed: bool, got: &ReceivedResponse) -> (String, Vec<String>) {
    assert_eq!(got.status, 200, "{got:?}");
    let answer = if streamed {
        let mut answer = StreamedAnswer::new(client);
        answer.push(got.body.as_bytes()).unwrap_or_else(|error| panic!("{error}: {got:?}"));
        answer.finish().unwrap_or_else(|error| panic!("{error}: {got:?}")).1
    } else {
        got.body.clone().into_bytes()
    };
    let calls = toolwire::calls::parse(client, &answer).unwrap();
    let value: Value = serde_json::from_slice(&answer).unwrap();
    let text = if client == Protocol::Chat {
        value["choices"][0]["message"]["content"].clone()
    } else {
        let mut blocks = value["content"].as_array().unwrap().iter();
        let text = blocks.find(|block| block["type"] == "text");
        text.map_or(Value::Null, |block| block["text"].clone())
    };
    let text = text.as_str().unwrap_or_default().to_owned();
    (text, calls.into_iter().map(|call| call.id).collect())
}

async fn stored(to: SocketAddr, session: &str) -> Value {
    client::get(to, &format!("/v1/sessions/{session}"), &[]).await.json()
}

/// Five turns in which clients send nothing but what is new. `client` says who
/// speaks in a turn.
async fn five_turns(
    client: impl Fn(usize) -> Protocol,
    streamed: bool,
    gateways: &[SocketAddr],
    server: &Server,
) {
    let session = "five-turns";
    let mut messages = vec![json!({"role": "user", "content": "Look eight times."})];
    let mut seen = Vec::new();
    for turn in 0..TURNS {
        let (to, speaks) = (gateways[turn % gateways.len()], client(turn));
        let got = send(to, speaks, session, &request(speaks, streamed, &messages)).await;
        let place = format!("{speaks} over {} {streamed} {turn}", server.protocol);
        assert_eq!(got.header("toolwire-session"), Some(session), "{place}");
        let losses = got.header("toolwire-loss").unwrap_or_default();
        let is_lost = |loss: &&str| loss.contains("side=request") && !loss.contains("level=info");
        assert_eq!(losses.split(", ").find(is_lost), None, "{place}: {losses}");
        let (text, calls) = read(speaks, streamed, &got);
        // What the client has the end of is there, also for another gateway.
        let next = gateways[(turn + 1) % gateways.len()];
        let state = stored(next, session).await;
        assert_eq!(state["stats"]["turns"], turn + 1, "{place}: {state}");
        assert_eq!(state["stats"]["calls"]["pending"], calls.len(), "{place}: {state}");
        assert_eq!(state["stats"]["calls"]["completed"], 2 * turn, "{place}: {state}");
        if turn == TURNS - 1 {
            assert_eq!(text, "Done", "{place}");
            break;
        }
        assert_eq!(calls.len(), 2, "{place}: {got:?}");
        seen.extend(calls.clone());
        messages = results(client(turn + 1), &calls);
    }
    let requests = server.seen();
    assert_eq!(requests.len(), TURNS);
    let last = &requests[TURNS - 1].body;
    assert!(!last.contains("session"), "{last}");
    for (n, id) in seen.iter().enumerate() {
        assert!(last.contains(&format!("saw {id}")), "{last}");
        let arguments = if server.protocol == Protocol::Messages {
            format!("\"input\":{{\"n\":{n}}}")
        } else {
            format!("\"arguments\":\"{{\\\"n\\\" : {n}.0}}\"")
        };
        assert!(last.contains(&arguments), "{arguments} in {last}");
        assert_eq!(last.matches(&format!("\"{id}\"")).count(), 2, "{id} in {last}");
    }
    if server.protocol != Protocol::Chat {
        for turn in 0..TURNS - 1 {
            assert!(last.contains(&format!("\"sealed{turn}==\"")), "{turn} in {last}");
        }
    }
    let tokens = &stored(gateways[0], session).await["stats"]["tokens"];
    assert_eq!(*tokens, json!({"input": 50, "output": 10}));
}

#[tokio::test]
async fn five_turns_of_one_client() {
    for client in CLIENTS {
        for upstream in Protocol::ALL {
            for streamed in [false, true] {
                let server = caller(upstream).await;
                let gateway = gateway(&server, Options::memory()).await;
                five_turns(|_| client, streamed, &[gateway.address()], &server).await;
            }
        }
    }
}

/// A session may change its protocol with every turn.
#[tokio::test]
async fn five_turns_of_two_clients() {
    for first in [0, 1] {
        for upstream in Protocol::ALL {
            for streamed in [false, true] {
                let server = caller(upstream).await;
                let gateway = gateway(&server, Options::memory()).await;
                let client = |turn: usize| CLIENTS[(turn + first) % 2];
                five_turns(client, streamed, &[gateway.address()], &server).await;
            }
        }
    }
}

#[tokio::test]
async fn five_turns_through_two_gateways() {
    for client in CLIENTS {
        let file = TempStore::new(&format!("sessions-{client}"));
        let server = caller(Protocol::Messages).await;
        let one = gateway(&server, file.options()).await;
        let two = gateway(&server, file.options()).await;
        five_turns(|_| client, true, &[one.address(), two.address()], &server).await;
    }
}

/// A session goes on through another gateway at once, and after its database was
/// gone, without anybody starting a gateway again.
#[tokio::test]
async fn a_database_that_gateways_share() {
    if is_left_out() {
        return;
    }
    let mut database = PostgresServer::start();
    let url = database.new_database().await;
    let server = caller(Protocol::Chat).await;
    let one = gateway(&server, Options::postgres(&url)).await;
    let two = gateway(&server, Options::postgres(&url)).await;
    let to = [one.address(), two.address()];
    five_turns(|turn| CLIENTS[turn % 2], true, &to, &server).await;
    database.signal("KILL");
    for client in CLIENTS {
        let body = request(client, true, &[json!({"role": "user", "content": "More"})]);
        let got = send(to[0], client, "five-turns", &body).await;
        assert_eq!(got.status, 503, "{got:?}");
        assert!(got.header("retry-after").is_some(), "{got:?}");
        let path = fixtures::path(client);
        read(client, true, &client::post(to[0], path, &[], &body.to_string()).await);
    }
    database.start_again();
    let body = request(Protocol::Chat, true, &[json!({"role": "user", "content": "More"})]);
    let mut got = send(to[1], Protocol::Chat, "five-turns", &body).await;
    for _ in 0..100 {
        if got.status != 503 {
            break;
        }
        tokio::time::sleep(ms(50)).await;
        got = send(to[1], Protocol::Chat, "five-turns", &body).await;
    }
    read(Protocol::Chat, true, &got);
    assert_eq!(stored(to[0], "five-turns").await["stats"]["turns"], 6);
    let sent = server.seen().last().unwrap().body.clone();
    assert!(sent.contains("saw call_7") && sent.contains("More"), "{sent}");
}

/// Within one protocol an upstream gets the messages as the clients wrote them.
#[tokio::test]
async fn bytes_pass() {
    let server = caller(Protocol::Chat).await;
    let gateway = gateway(&server, Options::memory()).await;
    let body = r#"{"session_id":"s","model":"m","messages":[{"role":"user","content":"a\u00e9","x":1.0}]}"#;
    client::post(gateway.address(), "/v1/chat/completions", &[], body).await;
    assert!(!server.seen()[0].body.contains("session"), "{:?}", server.seen()[0]);
    let body = r#"{"model":"m","session_id":"s","seed":1.50,
        "messages":[{"role":"tool","tool_call_id":"call_0","content":"0"},{"role":"tool","tool_call_id":"call_1","content":"1"}]}"#;
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], body).await;
    assert_eq!(got.header("toolwire-session"), Some("s"));
    let sent = server.seen()[1].body.clone();
    assert!(sent.contains(r#"{"role":"user","content":"a\u00e9","x":1.0}"#), "{sent}");
    assert!(sent.contains(r#""seed":1.50"#) && !sent.contains("session"), "{sent}");
}

/// What did not end well is not part of the session, and neither is what the
/// client had sent for it.
#[tokio::test]
async fn a_turn_that_fails_leaves_nothing() {
    for protocol in CLIENTS {
        let script = move |number: usize, _: &ReceivedRequest| {
            let events = fixtures::events(protocol);
            match number {
                1 => {
                    let mut steps = vec![stream_head("")];
                    steps.extend(events[..events.len() - 1].iter().map(chunk));
                    steps.push(Step::Close);
                    steps
                }
                2 => whole(500, "", r#"{"error":{"message":"no","type":"server_error"}}"#),
                3 => {
                    let mut steps = vec![stream_head("")];
                    steps.extend(events[..2].iter().map(chunk));
                    steps.push(Step::Hang);
                    steps
                }
                _ => stream(&events),
            }
        };
        let server = Server::scripted(protocol, script).await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        let user = |text: &str| [json!({"role": "user", "content": text})];
        send(to, protocol, "s", &request(protocol, true, &user("First"))).await;
        let before = stored(to, "s").await;
        assert_eq!(before["stats"]["turns"], 1, "{before}");
        let cut = send(to, protocol, "s", &request(protocol, true, &user("Cut"))).await;
        // The client never gets what it may take for an end.
        assert!(!cut.body.contains("tool_calls\"}"), "{cut:?}");
        assert!(!cut.body.contains("[DONE]") && !cut.body.contains("message_stop"), "{cut:?}");
        assert!(cut.body.contains("\"error\""), "{cut:?}");
        let failed = send(to, protocol, "s", &request(protocol, true, &user("Failed"))).await;
        assert_ne!(failed.status, 200, "{failed:?}");
        let body = request(protocol, true, &user("Left")).to_string();
        let open =
            client::open(to, fixtures::path(protocol), &["toolwire-session: s"], &body).await;
        server.until_seen(4).await;
        let busy = send(to, protocol, "s", &request(protocol, false, &user("Busy"))).await;
        assert_eq!(busy.status, 409, "{busy:?}");
        drop(open);
        server.left(1).await;
        assert_eq!(stored(to, "s").await, before);
        // The session is free again.
        let mut got = send(to, protocol, "s", &request(protocol, true, &user("Last"))).await;
        while got.status == 409 {
            tokio::time::sleep(ms(1)).await;
            got = send(to, protocol, "s", &request(protocol, true, &user("Last"))).await;
        }
        read(protocol, true, &got);
        let sent = server.seen().last().unwrap().body.clone();
        assert!(sent.contains("First") && sent.contains("Last"), "{sent}");
        for text in ["Cut", "Failed", "Left", "Busy"] {
            assert!(!sent.contains(text), "{sent}");
        }
        assert_eq!(stored(to, "s").await["stats"]["turns"], 2);
    }
}

/// A store that fails stops sessions before a client takes an answer for
/// complete, and nothing else. What the client reads is an error, whatever the
/// upstream speaks and whether it takes tools.
#[tokio::test]
async fn a_store_that_is_full() {
    for (client, upstream, tools) in every_kind() {
        let place = format!("{client} over {upstream} {tools:?}");
        let script = move |_: usize, seen: &ReceivedRequest| speak(seen, upstream, "Hi there.");
        let server = Server::scripted(upstream, script).await;
        let mut options = Options::memory();
        options.limits.tenant = 16;
        let gateway = gateway_with(with(&server, tools), options).await;
        let to = gateway.address();
        let user = [json!({"role": "user", "content": "Hi"})];
        let got = send(to, client, "s", &request(client, false, &user)).await;
        assert_eq!(got.status, 503, "{place}: {got:?}");
        assert!(got.header("retry-after").is_some(), "{place}: {got:?}");
        let got = send(to, client, "s", &request(client, true, &user)).await;
        is_stopped(&got, "store is full", &place);
        for streamed in [false, true] {
            let body = request(client, streamed, &user).to_string();
            let got = client::post(to, fixtures::path(client), &[], &body).await;
            read(client, streamed, &got);
        }
        assert_eq!(client::get(to, "/v1/sessions/s", &[]).await.status, 404);
    }
}

/// Every client over every upstream, and over one that takes no tools.
fn every_kind() -> impl Iterator<Item = (Protocol, Protocol, &'static str)> {
    let pairs = pairs().filter(|(client, _)| CLIENTS.contains(client));
    pairs.flat_map(|(client, upstream)| ["", TEXT].map(|tools| (client, upstream, tools)))
}

/// A stream that ends in an error, and not as an answer does.
fn is_stopped(got: &ReceivedResponse, why: &str, place: &str) {
    assert!(got.body.contains("\"error\"") && got.body.contains(why), "{place}: {got:?}");
    for word in ["finish_reason\":\"", "[DONE]", "message_stop"] {
        assert!(!got.body.contains(word), "{place}: {word} in {got:?}");
    }
}

async fn gateway_with(upstream: UpstreamConfig, options: Options) -> Gateway {
    let mut config = config(vec![upstream]);
    config.store = StoreConfig::On(options);
    start(config).await
}

/// A store that is gone says so before a model is asked.
#[tokio::test]
async fn a_store_that_is_down() {
    let server = caller(Protocol::Chat).await;
    let options = Options::postgres("postgres://nobody@127.0.0.1:1/nothing");
    let gateway = gateway(&server, options).await;
    let to = gateway.address();
    let user = [json!({"role": "user", "content": "Hi"})];
    for client in CLIENTS {
        let got = send(to, client, "s", &request(client, true, &user)).await;
        assert_eq!(got.status, 503, "{got:?}");
        assert!(got.header("retry-after").is_some(), "{got:?}");
        assert_eq!(server.seen_count(), 0);
    }
    for path in ["/v1/sessions", "/v1/sessions/s", "/v1/sessions/s/messages"] {
        assert_eq!(client::get(to, path, &[]).await.status, 503, "{path}");
    }
    let body = request(Protocol::Chat, false, &user).to_string();
    let got = client::post(to, "/v1/chat/completions", &[], &body).await;
    assert_eq!(got.status, 200, "{got:?}");
}

/// One turn at a time, also between gateways that share a store. The one that
/// is late says so, whole or at the end of its stream.
#[tokio::test]
async fn turns_of_one_session_do_not_mix() {
    let mut all = Vec::new();
    for (client, upstream, tools) in every_kind() {
        for streamed in [false, true] {
            all.push(tokio::spawn(turns_that_meet(client, upstream, tools, streamed)));
        }
    }
    for meeting in all {
        meeting.await.unwrap();
    }
}

async fn turns_that_meet(
    client: Protocol,
    upstream: Protocol,
    tools: &'static str,
    streamed: bool,
) {
    let place = format!("{client} over {upstream} {tools:?} {streamed}");
    let gates = [Gate::default(), Gate::default()];
    let slow = gates.clone();
    let script = move |number: usize, seen: &ReceivedRequest| {
        let mut steps = speak(seen, upstream, "Hi there.");
        if number % 4 == 1 {
            let gate = slow[number / 4].clone();
            steps.insert(if streamed { 2 } else { 0 }, Step::Until(gate));
        }
        steps
    };
    let file =
        TempStore::new(&format!("sessions-mix-{client}-{upstream}-{}-{streamed}", tools.len()));
    let server = Server::scripted(upstream, script).await;
    let one = gateway_with(with(&server, tools), file.options()).await;
    let two = gateway_with(with(&server, tools), file.options()).await;
    let body = |text: &str| request(client, streamed, &[json!({"role": "user", "content": text})]);
    // A session that exists, and one that nobody has made yet.
    for ((session, before), gate) in [("old", 2), ("new", 0)].into_iter().zip(&gates) {
        let first = if before > 0 { session } else { "some" };
        read(client, streamed, &send(one.address(), client, first, &body("First")).await);
        let asked = server.seen_count();
        let slow = tokio::spawn({
            let (to, body) = (one.address(), body("Slow"));
            async move { send(to, client, session, &body).await }
        });
        server.until_seen(asked + 1).await;
        let here = send(one.address(), client, session, &body("Here")).await;
        assert_eq!(here.status, 409, "{place}: {here:?}");
        assert!(here.body.contains("session_locked"), "{place}: {here:?}");
        let other = send(one.address(), client, "another", &body("Another")).await;
        assert_eq!(other.status, 200, "{place}: {other:?}");
        let there = send(two.address(), client, session, &body("There")).await;
        read(client, streamed, &there);
        gate.open();
        let slow = slow.await.unwrap();
        match streamed {
            true => is_stopped(&slow, "working on this session", &place),
            false => assert_eq!(slow.status, 409, "{place}: {slow:?}"),
        }
        let path = format!("/v1/sessions/{session}/messages?order=asc");
        let list = client::get(two.address(), &path, &[]).await.json();
        assert_eq!(list["data"].as_array().unwrap().len(), before + 2, "{place}: {list}");
        assert_eq!(list["data"][before]["message"]["content"], "There");
    }
}

/// A turn that has begun is paid for, so deleting its session has to wait. Another gateway on
/// the same store does not know of the turn: what it deletes does not come back with the answer.
#[tokio::test]
async fn a_session_that_is_deleted_meanwhile() {
    let protocol = Protocol::Messages;
    let gates = [Gate::default(), Gate::default()];
    let behind = gates.clone();
    let script = move |number: usize, _: &ReceivedRequest| {
        let mut steps = stream(&fixtures::events(protocol));
        if let Some(gate) = number.checked_sub(1).and_then(|turn| behind.get(turn)) {
            steps.insert(2, Step::Until(gate.clone()));
        }
        steps
    };
    let server = Server::scripted(protocol, script).await;
    let file = TempStore::new("sessions-deleted");
    let one = gateway(&server, file.options()).await;
    let two = gateway(&server, file.options()).await;
    let to = one.address();
    let body = request(protocol, true, &[json!({"role": "user", "content": "Hi"})]);
    read(protocol, true, &send(to, protocol, "s", &body).await);
    for (turn, gate) in gates.iter().enumerate() {
        let asked = body.clone();
        let answer = tokio::spawn(async move { send(to, protocol, "s", &asked).await });
        server.until_seen(turn + 2).await;
        let got = delete(to, "/v1/sessions/s", &[]).await;
        assert_eq!(got.status, 409, "{got:?}");
        assert!(got.body.contains("session_locked"), "{got:?}");
        let is_deleted = turn > 0;
        if is_deleted {
            assert_eq!(delete(two.address(), "/v1/sessions/s", &[]).await.status, 200);
        }
        gate.open();
        let got = answer.await.unwrap();
        assert_eq!(got.body.contains("event: error"), is_deleted, "{got:?}");
        assert_eq!(got.body.contains("message_stop"), !is_deleted, "{got:?}");
    }
    assert_eq!(client::get(to, "/v1/sessions/s", &[]).await.status, 404);
    read(protocol, true, &send(to, protocol, "s", &body).await);
    assert_eq!(delete(to, "/v1/sessions/s", &[]).await.status, 200, "it is free again");
}

/// A call without a result is answered, reported and, by request, refused.
#[tokio::test]
async fn a_partial_tool_sequence() {
    for client in CLIENTS {
        for upstream in Protocol::ALL {
            let server = caller(upstream).await;
            let gateway = gateway(&server, Options::memory()).await;
            let to = gateway.address();
            let user = [json!({"role": "user", "content": "Hi"})];
            let got = send(to, client, "s", &request(client, false, &user)).await;
            let (_, calls) = read(client, false, &got);
            let body = request(client, false, &results(client, &calls[1..])).to_string();
            let headers = ["toolwire-session: s", "toolwire-on-loss: refuse"];
            let refused = client::post(to, fixtures::path(client), &headers, &body).await;
            assert_eq!(refused.status, 400, "{client} {upstream}: {refused:?}");
            assert!(refused.body.contains("missing_result"), "{refused:?}");
            let got = client::post(to, fixtures::path(client), &headers[..1], &body).await;
            read(client, false, &got);
            let losses = got.header("toolwire-loss").unwrap_or_default();
            assert!(losses.contains("missing_result"), "{client} {upstream}: {got:?}");
            assert!(losses.contains("/session/"), "{losses}");
            let sent = server.seen()[1].body.clone();
            assert!(sent.contains("no result supplied"), "{sent}");
            let calls = stored(to, "s").await["stats"]["calls"].clone();
            assert_eq!(calls["missing"], 1, "{calls}");
            assert_eq!(calls["completed"], 1, "{calls}");
            // The result comes late, and another that nobody waits for.
            let late = results(client, &["call_0".to_owned(), "call_77".to_owned()]);
            let body = json!({"messages": late, "protocol": client.as_str()}).to_string();
            let added = client::post(to, "/v1/sessions/s/messages", &[], &body).await;
            assert_eq!(added.status, 200, "{added:?}");
            let calls = added.json()["stats"]["calls"].clone();
            assert_eq!(calls["missing"], 0, "{calls}");
            assert_eq!(calls["pending"], 2, "those of the second answer: {calls}");
            assert_eq!(calls["completed"], 2, "{calls}");
            assert_eq!(calls["orphaned"], 1, "{calls}");
        }
    }
}

/// What a client can do with sessions besides going on with them.
#[tokio::test]
async fn the_paths() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let empty = client::get(to, "/v1/sessions", &[]).await.json();
    let expected = json!({"object": "list", "data": [], "first_id": null, "last_id": null,
        "has_more": false});
    assert_eq!(empty, expected);
    let made = client::post(to, "/v1/sessions", &[], "").await.json();
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("sess_") && id.len() > 37, "{id}");
    assert_eq!(made["messages"], 0);
    let body = json!({"id": "mine", "messages": [{"role": "system", "content": "Be brief."},
        {"role": "user", "content": "I am Ann."}]});
    let made = client::post(to, "/v1/sessions", &[], &body.to_string()).await;
    assert_eq!(made.json()["messages"], 2, "{made:?}");
    let again = client::post(to, "/v1/sessions", &[], &body.to_string()).await;
    assert_eq!((again.status, &again.json()["error"]["code"]), (409, &json!("session_exists")));
    let page = client::get(to, "/v1/sessions?limit=1&order=asc", &[]).await.json();
    assert_eq!((&page["has_more"], &page["first_id"]), (&json!(true), &json!(id)));
    let rest = client::get(to, &format!("/v1/sessions?order=asc&after={id}"), &[]).await.json();
    assert_eq!((&rest["has_more"], &rest["last_id"]), (&json!(false), &json!("mine")));
    assert_eq!(rest["data"][0], stored(to, "mine").await);
    let user = [json!({"role": "user", "content": "Who am I?"})];
    send(to, Protocol::Chat, "mine", &request(Protocol::Chat, false, &user)).await;
    let sent = server.only().body;
    let places = ["Be brief.", "I am Ann.", "Who am I?"].map(|text| sent.find(text).unwrap());
    assert!(places.is_sorted(), "{sent}");
    let list = client::get(to, "/v1/sessions/mine/messages?order=asc", &[]).await.json();
    let roles: Vec<_> =
        list["data"].as_array().unwrap().iter().map(|m| &m["message"]["role"]).collect();
    assert_eq!(roles, ["system", "user", "user", "assistant"], "{list}");
    assert_eq!(list["data"][0]["protocol"], "chat");
    let after = list["data"][2]["id"].as_str().unwrap();
    let path = format!("/v1/sessions/mine/messages?order=asc&after={after}");
    assert_eq!(client::get(to, &path, &[]).await.json()["data"].as_array().unwrap().len(), 1);
    let anthropic = ["anthropic-version: 2023-06-01"];
    let result = json!({"messages": results(Protocol::Messages, &["call_abc".to_owned()])});
    let added =
        client::post(to, "/v1/sessions/mine/messages", &anthropic, &result.to_string()).await;
    assert_eq!(added.json()["stats"]["calls"]["completed"], 1, "{added:?}");
    let list = client::get(to, "/v1/sessions/mine/messages?limit=1", &[]).await.json();
    assert_eq!(list["data"][0]["protocol"], "messages", "{list}");
    for (path, body) in [
        ("/v1/sessions/mine/messages", r#"{"messages":[]}"#),
        ("/v1/sessions/mine/messages", r#"{"messages":[{"content":"no role"}]}"#),
        ("/v1/sessions/mine/messages", r#"{"messages":[],"protocol":"responses"}"#),
        ("/v1/sessions/mine/messages", "no JSON"),
        (
            "/v1/sessions/mine/messages",
            r#"{"messages":[{"role":"user","content":"x","y":1,"y":2}]}"#,
        ),
        ("/v1/sessions", r#"{"id":"with space"}"#),
        ("/v1/sessions", r#"{"id":7}"#),
    ] {
        assert_eq!(client::post(to, path, &[], body).await.status, 400, "{path} {body}");
    }
    let gone = delete(to, "/v1/sessions/mine", &[]).await.json();
    assert_eq!(gone, json!({"id": "mine", "object": "session.deleted", "deleted": true}));
    assert_eq!(client::get(to, "/v1/sessions/mine", &[]).await.status, 404);
    assert_eq!(delete(to, "/v1/sessions/mine", &[]).await.status, 404);
}

/// Instructions in front of a request take the place of the session's.
#[tokio::test]
async fn instructions() {
    let server = Server::new(Protocol::Chat, whole(200, "", ANSWER)).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let turn = |system: Option<&str>| {
        let system = system.map(|text| json!({"role": "system", "content": text}));
        let user = json!({"role": "user", "content": "Hi"});
        let messages: Vec<_> = system.into_iter().chain([user]).collect();
        request(Protocol::Chat, false, &messages)
    };
    for (system, expected) in
        [(Some("A"), "A"), (Some("A"), "A"), (None, "A"), (Some("B"), "B"), (None, "B")]
    {
        send(to, Protocol::Chat, "s", &turn(system)).await;
        let sent = server.seen().last().unwrap().json();
        let messages = sent["messages"].as_array().unwrap();
        assert_eq!(messages[0], json!({"role": "system", "content": expected}));
        let systems = messages.iter().filter(|message| message["role"] == "system").count();
        assert_eq!(systems, 1, "{sent}");
    }
    let list = client::get(to, "/v1/sessions/s/messages?limit=100", &[]).await.json();
    let text = list.to_string();
    assert_eq!(text.matches("\"system\"").count(), 1, "{text}");
    // Those of Messages are a setting, which its request brings along.
    let mut body = request(Protocol::Messages, false, &[json!({"role": "user", "content": "Hi"})]);
    body["system"] = json!("C");
    send(to, Protocol::Messages, "s", &body).await;
    let sent = server.seen().last().unwrap().json();
    assert_eq!(sent["messages"][0]["content"], "C", "{sent}");
    assert!(!sent.to_string().contains("\"B\""), "{sent}");
}

/// What a session cannot be, is refused by name before a model is asked.
#[tokio::test]
async fn what_is_refused() {
    let server = caller(Protocol::Chat).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let user = [json!({"role": "user", "content": "Hi"})];
    let chat = request(Protocol::Chat, false, &user);
    let with = |key: &str, value: Value| {
        let mut body = chat.clone();
        body[key] = value;
        body
    };
    for (session, body, param) in [
        ("one", with("session_id", json!("another")), "session_id"),
        ("with space", chat.clone(), "session_id"),
        ("s", with("n", json!(2)), "n"),
    ] {
        let got = send(to, Protocol::Chat, session, &body).await;
        let error = got.json()["error"].clone();
        assert_eq!((got.status, &error["param"]), (400, &json!(param)), "{got:?}");
    }
    let body = with("session_id", json!(7)).to_string();
    assert_eq!(client::post(to, "/v1/chat/completions", &[], &body).await.status, 400);
    let body = json!({"model": "m", "input": "Hi"});
    let got = send(to, Protocol::Responses, "s", &body).await;
    assert_eq!(got.status, 400, "{got:?}");
    assert_eq!(server.seen_count(), 0);
    let off = start(config(vec![at(&server)])).await;
    let got = send(off.address(), Protocol::Chat, "s", &chat).await;
    assert_eq!((got.status, &got.json()["error"]["code"]), (400, &json!("store_disabled")));
    assert_eq!(client::get(off.address(), "/v1/sessions", &[]).await.status, 400);
    assert_eq!(client::get(off.address(), "/v1/sessions/s", &[]).await.status, 404);
    assert_eq!(server.seen_count(), 0);
}

/// An answer without content is not sent back, because no API takes it.
#[tokio::test]
async fn an_empty_answer() {
    let answer = json!({"id": "msg", "type": "message", "role": "assistant", "model": "m-1",
        "content": [], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1}});
    let server = Server::new(Protocol::Messages, whole(200, "", answer.to_string())).await;
    let gateway = gateway(&server, Options::memory()).await;
    let user = [json!({"role": "user", "content": "Hi"})];
    for _ in 0..2 {
        let body = request(Protocol::Messages, false, &user);
        assert_eq!(send(gateway.address(), Protocol::Messages, "s", &body).await.status, 200);
    }
    let sent = server.seen()[1].json();
    assert_eq!(sent["messages"].as_array().unwrap().len(), 2, "{sent}");
    assert_eq!(stored(gateway.address(), "s").await["stats"]["turns"], 2);
}

/// A message of a session is no item of Responses, whose protocol is another.
#[tokio::test]
async fn a_message_is_no_item() {
    let server = caller(Protocol::Chat).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let body = r#"{"id":"s","messages":[{"role":"user","content":"Hi"}]}"#;
    client::post(to, "/v1/sessions", &[], body).await;
    let list = client::get(to, "/v1/sessions/s/messages", &[]).await.json();
    let item = json!({"type": "item_reference", "id": list["data"][0]["id"]});
    let got = super::respond(to, &json!({"model": "m", "input": [item]})).await;
    assert_eq!((got.status, &got.json()["error"]["code"]), (404, &json!("item_not_found")));
    assert_eq!(server.seen_count(), 0);
}

/// What is kept of a stream until its end counts as memory, also where the bytes
/// pass.
#[tokio::test]
async fn a_long_answer_is_limited() {
    for protocol in CLIENTS {
        let server = Server::new(protocol, stream(&fixtures::events(protocol))).await;
        let mut config = config(vec![at(&server)]);
        config.store = StoreConfig::On(Options::memory());
        config.limits.response = 256;
        let gateway = start(config).await;
        let user = [json!({"role": "user", "content": "Hi"})];
        let body = request(protocol, true, &user);
        let got = send(gateway.address(), protocol, "s", &body).await;
        assert!(got.body.contains("longer than 256 bytes"), "{got:?}");
        let path = fixtures::path(protocol);
        let got = client::post(gateway.address(), path, &[], &body.to_string()).await;
        read(protocol, true, &got);
        assert_eq!(client::get(gateway.address(), "/v1/sessions/s", &[]).await.status, 404);
    }
}

/// Tokens are counted with the session in front.
#[tokio::test]
async fn tokens_of_a_session() {
    let server = caller(Protocol::Chat).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let long = "one two three four five six seven eight nine ten ".repeat(20);
    let body = json!({"id": "s", "messages": [{"role": "user", "content": long}]}).to_string();
    client::post(to, "/v1/sessions", &[], &body).await;
    let user = [json!({"role": "user", "content": "Hi"})];
    let body = request(Protocol::Messages, false, &user).to_string();
    let count = |headers: Vec<&'static str>| {
        let body = body.clone();
        async move {
            let got = client::post(to, "/v1/messages/count_tokens", &headers, &body).await;
            got.json()["input_tokens"].as_u64().unwrap()
        }
    };
    let (alone, with) = (count(vec![]).await, count(vec!["toolwire-session: s"]).await);
    assert!(with > alone + 150, "{alone} {with}");
}

const ANSWER: &str = r#"{"id":"c","object":"chat.completion","created":1,"model":"m-1",
    "choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}"#;
