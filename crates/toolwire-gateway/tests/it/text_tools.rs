//! Upstreams that take no tools: `tool_calls = "text"` and `"intent"`.

mod answers;

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire::calls::{self, ToolOutput};
use toolwire_gateway::config::{self, ProcessEnvironment, ToolCallRules, UpstreamConfig};

use self::answers::{CUT, ClientAnswer, ENDED, HAS_CALLS, answer, stop_word, stream_of};
use crate::client::{self, ReceivedResponse};
use crate::upstream::{ReceivedRequest, Server, Step, stream, whole};
use crate::{at, config as gateway_config, fixtures, pairs, start};

/// What the settings of an upstream say about tool calls.
fn rules(settings: &str) -> ToolCallRules {
    let file = format!(
        "[[upstream]]\nname = \"x\"\nprotocol = \"chat\"\nbase_url = \"http://127.0.0.1:1\"\n\
         models = [\"*\"]\n{settings}\n"
    );
    let environment = ProcessEnvironment::default();
    let config = config::file::parse("toolwire.toml", &file, &environment).unwrap();
    config.upstreams[0].tool_calls.clone()
}

/// An upstream with these settings.
pub(crate) fn with(server: &Server, settings: &str) -> UpstreamConfig {
    UpstreamConfig { tool_calls: rules(settings), ..at(server) }
}

pub(crate) const TEXT: &str = "tool_calls = \"text\"";

/// A server that refuses every request that says something of tools, and says
/// what it is told to after so many results.
async fn text_only(protocol: Protocol, say: fn(usize) -> String) -> Server {
    Server::scripted(protocol, move |_, request| {
        if let Some(trace) = trace_of_tools(&request.json()) {
            let message = format!("{trace} is not supported.");
            return whole(400, "", fixtures::error(protocol, "invalid_request_error", &message));
        }
        let results = request.body.matches(r"<tool_response>\n{").count();
        speak(request, protocol, &say(results))
    })
    .await
}

/// Says a text, whole or as a stream.
pub(crate) fn speak(request: &ReceivedRequest, protocol: Protocol, text: &str) -> Vec<Step> {
    match request.json()["stream"] == true {
        true => stream(&stream_of(protocol, text)),
        false => whole(200, "", answer(protocol, text)),
    }
}

/// The first member or kind of item in a request that is about tools.
fn trace_of_tools(value: &Value) -> Option<String> {
    match value {
        Value::Array(list) => list.iter().find_map(trace_of_tools),
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            let about =
                |name: &str| ["tool", "function", "call_id"].iter().any(|w| name.contains(w));
            let is_kind = key == "type" || key == "role";
            let kind = value.as_str().filter(|kind| is_kind && about(kind));
            let trace = about(key).then(|| key.clone()).or(kind.map(str::to_owned));
            trace.or_else(|| trace_of_tools(value))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn call(city: &str) -> String {
    format!(
        "<tool_call>\n{{\"name\": \"get_weather\", \"arguments\": {{\"city\": \"{city}\"}}}}\n</tool_call>"
    )
}

fn two_rounds(results: usize) -> String {
    match results {
        0 => format!("Let me look.\n{}\n{}\n", call("Paris"), call("Oslo")),
        2 => call("Rome"),
        _ => "Sunny everywhere.".to_owned(),
    }
}

async fn ask(
    gateway: &toolwire_gateway::Gateway,
    client: Protocol,
    request: &str,
) -> ReceivedResponse {
    client::post(gateway.address(), fixtures::path(client), &[], request).await
}

#[tokio::test]
async fn every_client_completes_a_loop_with_every_upstream_whole_and_streamed() {
    for (client, upstream) in pairs() {
        for is_stream in [false, true] {
            let place = format!("{upstream} to {client}, stream {is_stream}");
            let server = text_only(upstream, two_rounds).await;
            let gateway = start(gateway_config(vec![with(&server, TEXT)])).await;
            let mut request = fixtures::question(client, is_stream);
            let (mut ids, mut cities, mut said) = (Vec::new(), Vec::new(), Vec::new());
            for round in 0..3 {
                let got = ask(&gateway, client, &request).await;
                assert_eq!(got.status, 200, "{place} {got:?}");
                let received = ClientAnswer::read(client, is_stream, &got.body);
                let is_last = round == 2;
                // The head of a stream goes out before there is a call.
                let recovered = (!is_last || is_stream).then_some("hermes");
                assert_eq!(got.header("toolwire-recovered"), recovered, "{place} {got:?}");
                let stop = if is_last { ENDED } else { HAS_CALLS };
                assert_eq!(received.stop, stop_word(client, stop), "{place} {got:?}");
                said.push(received.text.clone());
                let mut outputs = Vec::new();
                for (id, name, arguments) in &received.calls {
                    assert_eq!(name, "get_weather", "{place}");
                    ids.push(id.clone());
                    cities.push(arguments["city"].as_str().unwrap().to_owned());
                    outputs.push(ToolOutput::text(id, "sunny <tool_call> \"21°\""));
                }
                if !is_last {
                    let body = received.whole(client);
                    let next = calls::next_request(client, request.as_bytes(), &body, &outputs);
                    request = String::from_utf8(next.unwrap()).unwrap();
                }
            }
            assert_eq!(cities, ["Paris", "Oslo", "Rome"], "{place}");
            assert_eq!(said, ["Let me look.", "", "Sunny everywhere."], "{place}");
            let count = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), count, "{place}: an id was used twice: {ids:?}");
            let last = server.seen().pop().unwrap();
            let texts = last.body.replace("\\u003c", "<");
            let result = r#"<tool_response>\n{\"name\": \"get_weather\", \"content\": \"sunny "#;
            assert_eq!(texts.matches(result).count(), 3, "{place}: {texts}");
            assert!(last.body.contains(r"sunny \\u003ctool_call>"), "{place}: {}", last.body);
        }
    }
}

#[tokio::test]
async fn a_call_that_breaks_off_is_never_completed() {
    let cut = |_| call("Paris").replace("is\"}}\n</tool_call>", "");
    for (client, upstream) in pairs() {
        for is_stream in [false, true] {
            let server = text_only(upstream, cut).await;
            let gateway = start(gateway_config(vec![with(&server, TEXT)])).await;
            let got = ask(&gateway, client, &fixtures::question(client, is_stream)).await;
            let received = ClientAnswer::read(client, is_stream, &got.body);
            let place = format!("{upstream} to {client}, stream {is_stream}: {got:?}");
            assert_eq!(received.stop, stop_word(client, CUT), "{place}");
            for (_, _, arguments) in &received.calls {
                // What there is of the arguments, or nothing where they must be an object.
                let is_open = arguments.as_str().is_some_and(|text| text.ends_with("Par"));
                assert!(is_open || *arguments == json!({}), "{place}");
            }
        }
    }
}

#[tokio::test]
async fn a_whole_answer_to_a_request_for_a_stream_has_its_calls_too() {
    for (client, upstream) in pairs() {
        let server = Server::new(upstream, whole(200, "", answer(upstream, &two_rounds(0)))).await;
        let gateway = start(gateway_config(vec![with(&server, TEXT)])).await;
        let got = ask(&gateway, client, &fixtures::question(client, true)).await;
        let received = ClientAnswer::read(client, true, &got.body);
        let place = format!("{upstream} to {client}: {got:?}");
        assert_eq!((received.calls.len(), received.text.as_str()), (2, "Let me look."), "{place}");
        assert_eq!(received.stop, stop_word(client, HAS_CALLS), "{place}");
        assert_eq!(got.header("toolwire-recovered"), Some("hermes"), "{place}");
    }
}

/// Each upstream gets the request that it can take, whoever failed before.
#[tokio::test]
async fn a_request_falls_back_from_text_to_native_and_back() {
    let failing = |protocol| whole(503, "", fixtures::error(protocol, "server_error", "No."));
    for (client, upstream) in pairs() {
        for is_stream in [false, true] {
            for text_fails in [false, true] {
                let place = format!("{upstream} to {client}, text fails: {text_fails}");
                let native_answer = if is_stream {
                    stream(&fixtures::events(upstream))
                } else {
                    whole(200, "", fixtures::answer(upstream))
                };
                let (text, native) = match text_fails {
                    true => (
                        Server::new(upstream, failing(upstream)).await,
                        Server::new(upstream, native_answer).await,
                    ),
                    false => (
                        text_only(upstream, two_rounds).await,
                        Server::new(upstream, failing(upstream)).await,
                    ),
                };
                let spare = |config: UpstreamConfig| UpstreamConfig { weight: 0, ..config };
                let mut first = with(&text, TEXT);
                let mut second = at(&native);
                first.name = "text".to_owned();
                second.name = "native".to_owned();
                match text_fails {
                    true => second = spare(second),
                    false => first = spare(first),
                }
                let gateway = start(gateway_config(vec![first, second])).await;
                let got = ask(&gateway, client, &fixtures::question(client, is_stream)).await;
                assert_eq!(got.status, 200, "{place} {got:?}");
                let received = ClientAnswer::read(client, is_stream, &got.body);
                assert_eq!(received.text, "Let me look.", "{place}");
                assert_eq!(received.stop, stop_word(client, HAS_CALLS), "{place}");
                assert_eq!(received.calls.len(), if text_fails { 1 } else { 2 }, "{place}");
                let recovered = (!text_fails).then_some("hermes");
                assert_eq!(got.header("toolwire-recovered"), recovered, "{place} {got:?}");
                assert_eq!((text.seen_count(), native.seen_count()), (1, 1), "{place}");
                assert_eq!(trace_of_tools(&text.only().json()), None, "{place}");
                assert!(trace_of_tools(&native.only().json()).is_some(), "{place}");
            }
        }
    }
}

#[tokio::test]
async fn an_announcement_is_a_call_where_the_upstream_is_configured_so() {
    let announced = |_| "I'll get the weather in Paris.".to_owned();
    for (settings, count) in [(TEXT, 0), ("tool_calls = \"intent\"", 1)] {
        for (client, upstream) in pairs() {
            for is_stream in [false, true] {
                let server = text_only(upstream, announced).await;
                let gateway = start(gateway_config(vec![with(&server, settings)])).await;
                let got = ask(&gateway, client, &fixtures::question(client, is_stream)).await;
                let received = ClientAnswer::read(client, is_stream, &got.body);
                let place = format!("{upstream} to {client}, {settings}: {got:?}");
                assert_eq!(received.calls.len(), count, "{place}");
                assert_eq!(received.text, "I'll get the weather in Paris.", "{place}");
                let stop = if count == 0 { ENDED } else { HAS_CALLS };
                assert_eq!(received.stop, stop_word(client, stop), "{place}");
                if !is_stream {
                    let recovered = (count > 0).then_some("intent");
                    assert_eq!(got.header("toolwire-recovered"), recovered, "{place}");
                }
            }
        }
    }
}

#[tokio::test]
async fn each_model_of_an_upstream_can_have_its_own_way() {
    let settings =
        "tool_calls = { \"small-*\" = \"text\", \"big\" = \"native\" }\ntool_dialect = \"auto\"";
    let server = Server::scripted(Protocol::Chat, |_, request| {
        speak(
            request,
            Protocol::Chat,
            "[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}]",
        )
    })
    .await;
    let gateway = start(gateway_config(vec![with(&server, settings)])).await;
    for (model, is_text, dialect) in [
        ("small-mistral", true, "[TOOL_CALLS][{"),
        ("small-qwen3-coder", true, "<function=TOOL_NAME>"),
        ("small-1", true, "<tool_call>\\n{"),
        ("big", false, ""),
        ("other", false, ""),
    ] {
        let question =
            fixtures::question(Protocol::Messages, false).replace("\"m\"", &format!("{model:?}"));
        let got = ask(&gateway, Protocol::Messages, &question).await;
        let seen = server.seen().pop().unwrap();
        assert_eq!(trace_of_tools(&seen.json()).is_none(), is_text, "{model}: {}", seen.body);
        assert!(seen.body.contains(dialect), "{model}: {}", seen.body);
        // The model may write another dialect than it was asked for.
        let recovered = is_text.then_some("mistral");
        assert_eq!(got.header("toolwire-recovered"), recovered, "{model}: {got:?}");
        let received = ClientAnswer::read(Protocol::Messages, false, &got.body);
        assert_eq!(received.calls.len(), usize::from(is_text), "{model}: {got:?}");
    }
}

/// The upstream counted a request with tools, which it does not take.
#[tokio::test]
async fn tokens_are_counted_in_what_the_upstream_gets() {
    for (protocol, path) in [
        (Protocol::Messages, "/v1/messages/count_tokens"),
        (Protocol::Responses, "/v1/responses/input_tokens"),
    ] {
        let server =
            Server::scripted(protocol, |_, request| match trace_of_tools(&request.json()) {
                Some(trace) => whole(400, "", trace),
                None => whole(200, "", "{\"input_tokens\":42}"),
            })
            .await;
        let gateway = start(gateway_config(vec![with(&server, TEXT)])).await;
        let question = fixtures::question(protocol, false);
        let got = client::post(gateway.address(), path, &[], &question).await;
        assert_eq!((got.status, got.json()["input_tokens"].as_u64()), (200, Some(42)), "{got:?}");
        assert!(server.only().body.contains("get_weather"));
    }
}

#[tokio::test]
async fn freeform_native_and_grouped_tools_come_back_as_the_client_declared_them() {
    let request = |is_stream: bool| {
        json!({"model": "m", "stream": is_stream, "input": "Go", "tools": [
            {"type": "custom", "name": "apply_patch"}, {"type": "local_shell"},
            {"type": "namespace", "name": "crm", "description": "d", "tools": [{"type": "function",
                "name": "get", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}}}]}]})
        .to_string()
    };
    let say = |_| {
        let calls = [
            json!({"name": "apply_patch", "arguments": {"input": "*** Begin Patch\n*** End Patch\n"}}),
            json!({"name": "local_shell", "arguments": {"command": ["ls", "-l"]}}),
            json!({"name": "crm__get", "arguments": {"id": 7}}),
        ];
        calls.map(|call| format!("<tool_call>{call}</tool_call>")).join("\n")
    };
    for upstream in Protocol::ALL {
        for is_stream in [false, true] {
            let server = text_only(upstream, say).await;
            let gateway = start(gateway_config(vec![with(&server, TEXT)])).await;
            let got = ask(&gateway, Protocol::Responses, &request(is_stream)).await;
            let response = answers::response(is_stream, &got.body);
            let items = response["output"].as_array().unwrap();
            let [patch, shell, get] = items.as_slice() else { panic!("{upstream} {got:?}") };
            assert_eq!(patch["type"], "custom_tool_call", "{upstream} {got:?}");
            assert_eq!(patch["input"], "*** Begin Patch\n*** End Patch\n", "{upstream} {got:?}");
            assert_eq!(shell["type"], "local_shell_call", "{upstream} {got:?}");
            assert_eq!(shell["action"]["command"], json!(["ls", "-l"]), "{upstream} {got:?}");
            assert_eq!((&get["namespace"], &get["name"]), (&json!("crm"), &json!("get")));
        }
    }
}

#[tokio::test]
async fn nothing_is_read_as_a_call_where_the_client_forbids_calls() {
    for (client, upstream) in pairs() {
        for is_stream in [false, true] {
            let server = text_only(upstream, two_rounds).await;
            let gateway = start(gateway_config(vec![with(&server, TEXT)])).await;
            let none = if client == Protocol::Messages {
                r#""tool_choice":{"type":"none"},"tools""#
            } else {
                r#""tool_choice":"none","tools""#
            };
            let question = fixtures::question(client, is_stream).replace("\"tools\"", none);
            let got = ask(&gateway, client, &question).await;
            let received = ClientAnswer::read(client, is_stream, &got.body);
            let place = format!("{upstream} to {client}: {got:?}");
            assert_eq!((received.calls.len(), received.text), (0, two_rounds(0)), "{place}");
            assert_eq!(got.header("toolwire-recovered"), None, "{place}");
            assert!(!server.only().body.contains("get_weather"), "{place}");
        }
    }
}
