//! Documents as values give what documents as bytes give.

use serde_json::{Value, json};
use toolwire::calls::{self, Input, ToolCall, ToolOutput};
use toolwire::{Options, Protocol, Registry, translate};

use crate::vectors::inputs;

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

/// Every vector of a kind that serde_json reads, as it is after serde_json.
fn values(kind: &str) -> Vec<(String, Protocol, Value)> {
    let read = inputs(kind).into_iter().filter_map(|(folder, protocol, body)| {
        let value = serde_json::from_slice(&body).ok()?;
        Some((folder.display().to_string(), protocol, value))
    });
    read.collect()
}

#[test]
fn requests_answers_and_tools() {
    let bytes = [translate::request, translate::response, translate::tools];
    let conveniences = [toolwire::json::request, toolwire::json::response, toolwire::json::tools];
    for (kind, (by_bytes, by_value)) in
        ["requests", "responses", "tools"].into_iter().zip(bytes.into_iter().zip(conveniences))
    {
        for (folder, from, document) in values(kind) {
            for to in Protocol::ALL {
                let options = Options::new();
                let source = document.to_string();
                let expected = by_bytes(from, to, source.as_bytes(), &options);
                let expected =
                    expected.map(|translated| (value(&translated.body), translated.ledger));
                let found = by_value(from, to, &document, &options);
                let found = found.map(|translated| (translated.body, translated.ledger));
                assert_eq!(found, expected, "{folder} to {to}");
            }
        }
    }
}

#[test]
fn errors() {
    for (folder, from, document) in values("errors") {
        for to in Protocol::ALL {
            let options = Options::new().status(429);
            let expected = translate::error(from, to, document.to_string().as_bytes(), &options);
            let found = toolwire::json::error(from, to, &document, &options);
            match (found, expected) {
                (Ok(found), Ok(expected)) => {
                    assert_eq!(found.body, value(&expected.body), "{folder} to {to}");
                    assert_eq!(found.status, expected.status, "{folder} to {to}");
                }
                (found, expected) => assert_eq!(found.err(), expected.err(), "{folder} to {to}"),
            }
        }
    }
}

#[test]
fn a_registry_of_values() {
    let list = json!([{"type": "function", "name": "f", "parameters": {"type": "object"}}]);
    let mut registry = Registry::from_value(&list).unwrap();
    registry.add_value(&json!([{"type": "web_search"}])).unwrap();
    assert!(registry.add_value(&json!([null])).is_err());
    let tools = registry.render_value(Protocol::Messages, &Options::new()).unwrap();
    let expected = registry.render(Protocol::Messages, &Options::new()).unwrap();
    assert_eq!((tools.body, tools.ledger), (value(&expected.body), expected.ledger));
}

#[test]
fn calls_and_the_next_request() {
    let request = json!({"model": "m", "input": [{"role": "user", "content": "Weather?"}]});
    let answer = json!({"output": [{"type": "function_call", "id": "fc_1", "call_id": "call_1",
        "name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}]});
    let calls = toolwire::json::parse(Protocol::Responses, &answer).unwrap();
    assert_eq!(calls[0].arguments_value().unwrap(), json!({"city": "Paris"}));

    let outputs = [ToolOutput::value(&calls[0].id, &json!({"sky": "blue"}))];
    let next =
        toolwire::json::next_request(Protocol::Responses, &request, &answer, &outputs).unwrap();
    let output = json!({"type": "function_call_output", "call_id": "call_1",
        "output": "{\"sky\":\"blue\"}"});
    let input = json!([{"role": "user", "content": "Weather?"}, answer["output"][0], output]);
    assert_eq!(next, json!({"model": "m", "input": input}));

    let missing = toolwire::json::next_request(Protocol::Responses, &request, &answer, &[]);
    assert!(matches!(missing, Err(calls::Error::Missing { .. })));
}

#[test]
fn arguments_as_a_value() {
    let call = |input| ToolCall::new("call_1", "f", input);
    let arguments = |text: &str| call(Input::Arguments(text.to_owned())).arguments_value();
    assert_eq!(arguments(r#"{"n":1}"#).unwrap(), json!({"n": 1}));
    assert_eq!(arguments("").unwrap(), json!({}));
    assert!(arguments(r#"{"n":"#).is_err());
    let freeform = call(Input::Freeform("SELECT 1".to_owned()));
    assert_eq!(freeform.arguments_value().unwrap(), json!("SELECT 1"));
}
