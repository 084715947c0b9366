//! `toolwire tokens`: a table for people, and the same as JSON.

use crate::command::toolwire;

const REQUEST: &str = r#"{"model":"gpt-5.1","messages":[
    {"role":"system","content":"Be brief."},
    {"role":"user","content":"What's the weather in Paris?"},
    {"role":"assistant","tool_calls":[{"id":"call_1","type":"function",
        "function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}]},
    {"role":"tool","tool_call_id":"call_1","content":"sunny"}],
    "tools":[{"type":"function","function":{"name":"get_weather",
        "parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]}"#;

#[test]
fn a_request_item_by_item() {
    let ran = toolwire("tokens", REQUEST);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(
        ran.out,
        "\
Chat request, counted for gpt-5.1

system
  text                         11
user
  text                         14
assistant
  call get_weather             30
user
  result call_1                25
tools
  get_weather                  32
  instructions                350
request
  framing                       8

total                         470
context window            400,000
longest answer            128,000
"
    );
}

#[test]
fn the_same_as_json() {
    let counted = toolwire("tokens --json", REQUEST).document();
    assert_eq!(counted["protocol"], "chat");
    assert_eq!(counted["model"], "gpt-5.1");
    assert_eq!(counted["vocabulary"], "o200k_base");
    assert_eq!(counted["exact_text"], true);
    assert_eq!(counted["context_window"], 400_000);
    let parts = counted["parts"].as_array().unwrap();
    let sum: u64 = parts.iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
    assert_eq!(counted["tokens"], sum);
    assert_eq!(parts[2]["kind"], "call");
    assert_eq!(parts[2]["name"], "get_weather");
    assert_eq!(parts[2]["turn"], 2);
}

#[test]
fn another_model_and_protocol() {
    let request = r#"{"model":"gpt-5","input":"Hi"}"#;
    let counted = toolwire("tokens --json --model claude-opus-4-5", request).document();
    assert_eq!(counted["protocol"], "responses");
    assert_eq!(counted["exact_text"], false);
    assert_eq!(counted["max_output"], 64_000);
    let unknown = toolwire("tokens --model my-model --protocol responses", request);
    assert!(
        unknown.out.starts_with("Responses request, estimated for my-model\n"),
        "{}",
        unknown.out
    );
    assert!(!unknown.out.contains("context window"), "{}", unknown.out);
}

#[test]
fn what_is_not_counted() {
    for (flags, input, code, expected) in [
        ("tokens", "", 1, "standard input is empty"),
        ("tokens", "{", 1, "cannot read the request"),
        ("tokens", "{}", 2, "pass --protocol"),
        ("tokens", r#"{"type":"error","error":{"type":"x","message":"m"}}"#, 1, "an error"),
        ("tokens --protocol chat", r#"{"messages":7}"#, 1, "/messages"),
    ] {
        let ran = toolwire(flags, input);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{input}: {}", ran.err);
        assert!(ran.err.contains(expected), "{input}: {}", ran.err);
    }
}

/// Names come from the request, and a terminal obeys control characters.
#[test]
fn names_cannot_move_the_cursor() {
    let request = r#"{"model":"m\u001b[2J","messages":[{"role":"user","content":"x"}],
        "tools":[{"type":"function","function":{"name":"a\u001b[1m"}}]}"#;
    let ran = toolwire("tokens --protocol chat", request);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
}
