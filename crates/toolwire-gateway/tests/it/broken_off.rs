//! Answers of Chat upstreams whose `finish_reason` says that the vendor broke them off.

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::Gateway;
use toolwire_gateway::config::LogFormat;
use toolwire_store::Options;

use crate::log::{Lines, logging};
use crate::upstream::{
    ReceivedRequest, Server, Step, chunk, stream, stream_end, stream_head, whole,
};
use crate::{at, client, config, fixtures, ms, start, stored};

/// The events of a stream that says something and ends with this word.
fn events(word: &str, has_end_mark: bool) -> Vec<String> {
    let of = |choice: Value| {
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1,
            "model": "m-1", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let mut events = vec![
        of(json!({"index": 0, "delta": {"role": "assistant", "content": "I will"},
            "finish_reason": null})),
        of(json!({"index": 0, "delta": {}, "finish_reason": word})),
    ];
    if has_end_mark {
        events.push("data: [DONE]\n\n".to_owned());
    }
    events
}

/// A whole answer with this text that ends with this word.
fn answer(word: &str, text: &str) -> String {
    json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "finish_reason": word,
            "message": {"role": "assistant", "content": text}}]})
    .to_string()
}

async fn logged(server: &Server) -> (Gateway, Lines) {
    logging(config(vec![at(server)]), LogFormat::Json).await
}

async fn line(lines: &Lines) -> Value {
    serde_json::from_str(&lines.wait(1).await[0]).unwrap()
}

/// However the bytes are cut: the client gets what the model has said, and the log says that
/// it was broken off.
#[tokio::test]
async fn within_chat_the_bytes_pass_and_the_log_says_that_the_answer_failed() {
    for has_end_mark in [true, false] {
        let events = events("network_error", has_end_mark);
        let at_once = vec![stream_head(""), chunk(events.concat()), stream_end()];
        let slowly = vec![
            stream_head(""),
            chunk(&events[0]),
            Step::Wait(ms(50)),
            chunk(events[1..].concat()),
            stream_end(),
        ];
        for steps in [at_once, slowly, stream(&events)] {
            let server = Server::new(Protocol::Chat, steps).await;
            let (gateway, lines) = logged(&server).await;
            let got = client::ask_for_stream(&gateway, Protocol::Chat).await;
            assert_eq!((got.status, got.whole), (200, true), "{got:?}");
            assert_eq!(got.body, events.concat());
            assert_eq!(line(&lines).await["ending"], "broken");
        }
    }
    let body = answer("network_error", "I will");
    let server = Server::new(Protocol::Chat, whole(200, "", &body)).await;
    let (gateway, lines) = logged(&server).await;
    let got = client::ask(&gateway, Protocol::Chat).await;
    assert_eq!((got.status, &got.body), (200, &body));
    assert_eq!(line(&lines).await["ending"], "broken");
    // The same for a client that wants a stream which the upstream does not make.
    let got = client::ask_for_stream(&gateway, Protocol::Chat).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert!(got.body.contains("I will") && got.body.contains("network_error"), "{got:?}");
}

/// What the vendor says about it reaches clients of other protocols, wherever it stands.
#[tokio::test]
async fn the_vendors_explanation_arrives() {
    let error = json!({"code": 429, "message": "Slow down."});
    let mut in_choice: Value = serde_json::from_str(&answer("error", "I will")).unwrap();
    let mut beside = in_choice.clone();
    in_choice["choices"][0]["error"] = error.clone();
    beside["error"] = error;
    for body in [in_choice, beside] {
        let server = Server::new(Protocol::Chat, whole(200, "", body.to_string())).await;
        let gateway = start(config(vec![at(&server)])).await;
        for to in [Protocol::Responses, Protocol::Messages] {
            for got in [client::ask(&gateway, to).await, client::ask_for_stream(&gateway, to).await]
            {
                assert_eq!(got.status, 429, "{to} {got:?}");
                let message = got.json()["error"]["message"].as_str().unwrap().to_owned();
                assert!(message.starts_with("Slow down."), "{to} {message}");
            }
        }
    }
}

/// The word is named however much the model had said before.
#[tokio::test]
async fn a_long_answer_is_an_error_that_names_the_word() {
    let body = answer("insufficient_system_resource", &"word ".repeat(100_000));
    let server = Server::new(Protocol::Chat, whole(200, "", body)).await;
    let gateway = start(config(vec![at(&server)])).await;
    for to in [Protocol::Responses, Protocol::Messages] {
        let got = client::ask(&gateway, to).await;
        assert!(got.status >= 500, "{to} {got:?}");
        assert!(got.body.contains("insufficient_system_resource"), "{to} {got:?}");
    }
}

/// An upstream is ejected for answers that it breaks off, and not for what a model writes or
/// for what a request lacks.
#[tokio::test]
async fn only_the_upstreams_own_failures_eject_it() {
    for (word, ejections) in [
        ("network_error", 1),
        ("malformed_function_call", 0),
        ("too_many_tool_calls", 0),
        ("missing_thought_signature", 0),
    ] {
        for to in [Protocol::Chat, Protocol::Messages] {
            for streamed in [false, true] {
                let steps = if streamed {
                    stream(&events(word, true))
                } else {
                    whole(200, "", answer(word, "I will"))
                };
                let server = Server::new(Protocol::Chat, steps).await;
                let gateway = start(config(vec![at(&server)])).await;
                let question = fixtures::question(to, streamed);
                for _ in 0..5 {
                    client::post(gateway.address(), fixtures::path(to), &[], &question).await;
                }
                let page = client::get(gateway.address(), "/metrics", &[]).await.body;
                let counts = page.lines().filter_map(|line| {
                    let rest = line.strip_prefix("toolwire_ejections_total{")?;
                    rest.rsplit(' ').next()?.parse::<u64>().ok()
                });
                assert_eq!(counts.sum::<u64>(), ejections, "{word} {to} {streamed}: {page}");
            }
        }
    }
}

/// A session goes on from its last good answer, whatever the broken one looked like.
#[tokio::test]
async fn a_session_keeps_no_broken_answer() {
    let steps = |number: usize, streamed: bool| match (number, streamed) {
        (0, true) => stream(&events("stop", true)),
        (0, false) => whole(200, "", answer("stop", "I will")),
        (1, true) => stream(&events("network_error", true)),
        (2, true) => stream(&events("network_error", false)),
        (_, true) => stream(&events("stop", false)),
        (1 | 2, false) => whole(200, "", answer("network_error", "I will")),
        (_, false) => whole(200, "", answer("stop", "I will")),
    };
    for streamed in [false, true] {
        let script = move |number: usize, _: &ReceivedRequest| steps(number, streamed);
        let server = Server::scripted(Protocol::Chat, script).await;
        let gateway = stored::gateway(&server, Options::memory()).await;
        let to = gateway.address();
        for turns in [1, 1, 1, 2] {
            let question = fixtures::question(Protocol::Chat, streamed);
            let headers = ["toolwire-session: s"];
            let got = client::post(to, "/v1/chat/completions", &headers, &question).await;
            assert_eq!((got.status, got.whole), (200, true), "{got:?}");
            assert!(got.body.contains("finish_reason\":\""), "{got:?}");
            let session = client::get(to, "/v1/sessions/s", &[]).await.json();
            assert_eq!(session["stats"]["turns"], turns, "{streamed}: {session}");
        }
    }
}
