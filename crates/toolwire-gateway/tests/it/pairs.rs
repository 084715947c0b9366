//! Every client with every upstream.

use serde_json::Value;
use toolwire::Protocol;

use crate::upstream::{Server, stream, whole};
use crate::{at, client, config, fixtures, pairs, start};

#[tokio::test]
async fn whole_answers() {
    for (to, from) in pairs() {
        let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
        let gateway = start(config(vec![at(&server)])).await;
        let got = client::ask(&gateway, to).await;
        assert_eq!(got.status, 200, "{to} {from} {got:?}");
        assert_eq!(got.header("content-type"), Some("application/json"));
        let answer = got.json();
        let call = match to {
            Protocol::Chat => {
                let call = &answer["choices"][0]["message"]["tool_calls"][0];
                (call["id"].clone(), call["function"]["arguments"].clone())
            }
            Protocol::Responses => {
                let call = &answer["output"][1];
                (call["call_id"].clone(), call["arguments"].clone())
            }
            Protocol::Messages => {
                let call = &answer["content"][1];
                (call["id"].clone(), call["input"].to_string().into())
            }
            other => panic!("not a built-in protocol: {other:?}"),
        };
        assert_eq!(call, ("call_abc".into(), r#"{"city":"Paris"}"#.into()), "{to} {from}");
        let seen = server.only();
        assert_eq!(seen.path, fixtures::path(from));
        assert!(seen.body.contains("get_weather"));
        if from == to {
            assert_eq!(got.body, fixtures::answer(from), "bytes pass as they are");
            assert_eq!(seen.body, fixtures::question(to, false), "bytes pass as they are");
        }
    }
}

#[tokio::test]
async fn streams() {
    for (to, from) in pairs() {
        let server = Server::new(from, stream(&fixtures::events(from))).await;
        let gateway = start(config(vec![at(&server)])).await;
        let got = client::ask_for_stream(&gateway, to).await;
        assert_eq!(got.status, 200, "{to} {from} {got:?}");
        assert!(got.header("content-type").unwrap().starts_with("text/event-stream"));
        assert!(got.whole);
        assert!(got.body.contains("Let me look."), "{to} {from} {got:?}");
        assert!(got.body.contains("call_abc"), "{to} {from} {got:?}");
        assert!(got.body.contains(fixtures::end_mark(to)), "{to} {from} {got:?}");
        if from == to {
            assert_eq!(got.body, fixtures::events(from).concat());
        }
        assert_eq!(server.only().json()["stream"], true);
    }
}

/// A Messages stream starts with a token count. If the upstream has none yet, it
/// is an estimate, and the upstream's own count comes at the end.
#[tokio::test]
async fn a_count_before_the_upstream_has_counted() {
    let to = Protocol::Messages;
    for from in Protocol::ALL {
        let server = Server::new(from, stream(&fixtures::events(from))).await;
        let gateway = start(config(vec![at(&server)])).await;
        let got = client::ask_for_stream(&gateway, to).await;
        let data = got.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let events: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
        let start = &events[0]["message"]["usage"]["input_tokens"];
        let end = events.iter().find(|event| event["type"] == "message_delta").unwrap();
        if from == to {
            assert_eq!(start, 11, "bytes pass as they are");
            continue;
        }
        // The question has a tool, for which Anthropic adds instructions.
        assert!((350..600).contains(&start.as_u64().unwrap()), "{from} {got:?}");
        assert_eq!(end["usage"]["input_tokens"], 11, "{from} {got:?}");
    }
}

/// Some servers ignore the request for a stream. The client still gets one.
#[tokio::test]
async fn a_whole_answer_to_a_request_for_a_stream() {
    for (to, from) in pairs() {
        let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
        let gateway = start(config(vec![at(&server)])).await;
        let got = client::ask_for_stream(&gateway, to).await;
        assert_eq!(got.status, 200, "{to} {from} {got:?}");
        assert!(got.header("content-type").unwrap().starts_with("text/event-stream"));
        for said in ["Let me look.", "call_abc", "get_weather", fixtures::end_mark(to)] {
            assert!(got.body.contains(said), "{said} {to} {from} {got:?}");
        }
        assert!(got.whole);
    }
}

/// An incomplete answer does not become a complete stream.
#[tokio::test]
async fn an_incomplete_answer_to_a_request_for_a_stream() {
    let bodies = [
        (Protocol::Chat, r#"{"id":"1","model":"m","choices":[]}"#),
        (
            Protocol::Responses,
            r#"{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}"#,
        ),
    ];
    for (from, body) in bodies {
        for to in Protocol::ALL {
            let server = Server::new(from, whole(200, "", body)).await;
            let gateway = start(config(vec![at(&server)])).await;
            let question = fixtures::question(to, true);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert!(got.status >= 500, "{to} {from} {got:?}");
        }
    }
}
