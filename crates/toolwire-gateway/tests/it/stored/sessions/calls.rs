//! Calls whose ids repeat, and results that come late.

use serde_json::{Value, json};
use toolwire::{Protocol, codec};
use toolwire_gateway::config::{Pattern, StoreConfig, UpstreamConfig};
use toolwire_store::Options;

use super::{CLIENTS, read, request, results, send, stored};
use crate::client::ReceivedResponse;
use crate::upstream::{ReceivedRequest, Server, Step, stream, whole};
use crate::{at, config, start};

/// An upstream that calls `look` so many times in its first answers, each time
/// under the same ids, and then says something.
async fn repeater(protocol: Protocol, calls: usize, rounds: usize) -> Server {
    Server::scripted(protocol, move |turn, seen: &ReceivedRequest| {
        let calls = if turn < rounds { calls } else { 0 };
        answer(protocol, calls, seen)
    })
    .await
}

fn answer(protocol: Protocol, calls: usize, seen: &ReceivedRequest) -> Vec<Step> {
    let calls: Vec<String> = (0..calls).map(|n| format!("call_{n}")).collect();
    let stop = |calling: &'static str, done: &'static str| match calls.is_empty() {
        true => done,
        false => calling,
    };
    let text = calls.is_empty().then_some("Done");
    let answer = if protocol == Protocol::Chat {
        let tool_calls: Vec<Value> = calls
            .iter()
            .map(|id| {
                json!({"id": id, "type": "function",
                        "function": {"name": "look", "arguments": "{}"}})
            })
            .collect();
        let mut message = json!({"role": "assistant", "content": text});
        if !calls.is_empty() {
            message["tool_calls"] = tool_calls.into();
        }
        json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m-1",
                "choices": [{"index": 0, "finish_reason": stop("tool_calls", "stop"),
                "message": message}]})
    } else {
        let mut content: Vec<Value> = calls
            .iter()
            .map(|id| json!({"type": "tool_use", "id": id, "name": "look", "input": {}}))
            .collect();
        content.extend(text.map(|text| json!({"type": "text", "text": text})));
        json!({"id": "msg", "type": "message", "role": "assistant", "model": "m-1",
                "content": content, "stop_reason": stop("tool_use", "end_turn"),
                "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}})
    };
    let answer = answer.to_string();
    if seen.json()["stream"] != true {
        return whole(200, "", answer);
    }
    let events = (codec(protocol).stream_from_response)(&answer).unwrap();
    stream(&[String::from_utf8(events).unwrap()])
}

fn for_model(server: &Server, model: &str) -> UpstreamConfig {
    UpstreamConfig { models: vec![Pattern(model.to_owned())], ..at(server) }
}

async fn ask(
    to: std::net::SocketAddr,
    client: Protocol,
    model: &str,
    streamed: bool,
    messages: &[Value],
) -> ReceivedResponse {
    let mut body = request(client, streamed, messages);
    body["model"] = json!(model);
    send(to, client, "s", &body).await
}

/// Many local servers number their calls anew in each answer, and Messages takes
/// an id once. A session that comes from such a server goes on all the same.
#[tokio::test]
async fn ids_that_repeat() {
    for client in CLIENTS {
        for streamed in [false, true] {
            let local = repeater(Protocol::Chat, 1, 9).await;
            let strict = repeater(Protocol::Messages, 1, 0).await;
            let mut config =
                config(vec![for_model(&local, "local"), for_model(&strict, "claude-x")]);
            config.store = StoreConfig::On(Options::memory());
            let gateway = start(config).await;
            let to = gateway.address();
            let mut messages = vec![json!({"role": "user", "content": "Look."})];
            for _ in 0..2 {
                let got = ask(to, client, "local", streamed, &messages).await;
                let (_, calls) = read(client, streamed, &got);
                messages = results(client, &calls);
            }
            for _ in 0..2 {
                let got = ask(to, client, "claude-x", streamed, &messages).await;
                read(client, streamed, &got);
                messages = vec![json!({"role": "user", "content": "More"})];
                let sent = strict.seen().last().unwrap().json();
                let place = format!("{client} {streamed}: {sent}");
                let ids = |kind: &str, id: &str| {
                    let messages = sent["messages"].as_array().unwrap().iter();
                    let blocks = messages.filter_map(|message| message["content"].as_array());
                    let blocks = blocks.flatten().filter(|block| block["type"] == kind);
                    blocks.map(|block| block[id].as_str().unwrap().to_owned()).collect::<Vec<_>>()
                };
                let calls = ids("tool_use", "id");
                assert_eq!(calls.len(), 2, "{place}");
                assert_ne!(calls[0], calls[1], "{place}");
                assert_eq!(ids("tool_result", "tool_use_id"), calls, "{place}");
            }
            assert_eq!(stored(to, "s").await["stats"]["calls"]["completed"], 2);
        }
    }
}

/// Results that come one by one go to their calls. A model that goes on from no
/// begun answer is asked again, however many answers stood in between, and where
/// one may go on from its own, the client is told.
#[tokio::test]
async fn results_that_come_one_by_one() {
    for client in CLIENTS {
        for (upstream, model) in [
            (Protocol::Messages, "claude-opus-4-6"),
            (Protocol::Messages, "claude-3-5-haiku-20241022"),
            (Protocol::Chat, "local"),
        ] {
            let server = repeater(upstream, 3, 1).await;
            let mut config = config(vec![at(&server)]);
            config.store = StoreConfig::On(Options::memory());
            let gateway = start(config).await;
            let to = gateway.address();
            let user = [json!({"role": "user", "content": "Look."})];
            let (_, calls) = read(client, false, &ask(to, client, model, false, &user).await);
            for (nth, call) in calls.iter().enumerate() {
                let late = results(client, std::slice::from_ref(call));
                let got = ask(to, client, model, false, &late).await;
                read(client, false, &got);
                let sent = server.seen().last().unwrap().json();
                let place = format!("{client} {model} {nth}: {got:?} {sent}");
                let roles: Vec<&str> = sent["messages"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|message| message["role"].as_str().unwrap())
                    .collect();
                assert!(sent.to_string().contains(&format!("saw {call}")), "{place}");
                let losses = got.header("toolwire-loss").unwrap_or_default();
                let is_told = |code: &str| {
                    let is_told = |loss: &str| loss.contains(code) && !loss.contains("level=info");
                    losses.split(", ").any(is_told)
                };
                if nth == 0 {
                    assert_ne!(roles.last(), Some(&"assistant"), "{place}");
                } else if model == "claude-opus-4-6" {
                    assert_eq!(roles, ["user", "assistant", "user"], "{place}");
                    assert!(is_told("prefill"), "{place}");
                } else {
                    assert!(is_told("result_moved"), "{place}");
                }
            }
            assert_eq!(stored(to, "s").await["stats"]["calls"]["completed"], 3);
        }
    }
}
