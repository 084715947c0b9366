//! The checks find what is wrong: each test breaks a right translation in one way.

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire::ledger::{Action, Code, Entry};

use super::{
    Failure, Output, answer, check, document, passed, request, shape_of, stream, translate, valid,
};
use crate::traffic::case::{Case, Kind};

fn protocol(name: &str) -> Protocol {
    Protocol::parse(name).unwrap()
}

fn case(kind: Kind, from: &str, body: &Value) -> Case {
    Case {
        project: ".".to_owned(),
        place: "made up".to_owned(),
        kind,
        protocol: protocol(from),
        body: body.to_string().into_bytes(),
        status: None,
    }
}

fn classes(failures: Vec<Failure>) -> Vec<String> {
    failures.into_iter().map(|failure| failure.class).collect()
}

/// The classes of what is wrong with an answer of Messages for a client of Chat.
fn toward_chat(before: &Value, after: &Value, ledger: Vec<Entry>) -> Vec<String> {
    let case = case(Kind::Response, "messages", before);
    let output = Output { body: after.to_string().into_bytes(), ledger, status: None };
    classes(document(&case, protocol("chat"), &output, answer::check))
}

fn before() -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "some-model", "content": [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}},
    ], "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 6, "output_tokens": 5}})
}

fn after() -> Value {
    json!({"id": "x", "object": "chat.completion", "created": 0, "model": "some-model", "choices": [{"index": 0,
        "finish_reason": "tool_calls", "logprobs": null, "message": {"role": "assistant",
        "content": "Let me see.", "refusal": null, "tool_calls": [{"id": "c1", "type": "function",
        "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}}]}}],
        "usage": {"prompt_tokens": 6, "completion_tokens": 5, "total_tokens": 11}})
}

/// Breaks the right answer at one place.
#[track_caller]
fn breaking(pointer: &str, value: Value, expected: &[&str]) {
    let mut after = after();
    *after.pointer_mut(pointer).unwrap() = value;
    assert_eq!(toward_chat(&before(), &after, Vec::new()), expected, "{pointer}");
}

#[test]
fn a_right_translation_passes() {
    assert_eq!(toward_chat(&before(), &after(), Vec::new()), Vec::<String>::new());
}

#[test]
fn each_defect_is_found() {
    let text = "/choices/0/message/content";
    breaking(text, json!("Let me"), &["the text differs", "lost in silence: /content/*/text"]);
    breaking(text, json!("Let me see. Let me see."), &["the text is said twice"]);
    let call = "/choices/0/message/tool_calls/0";
    breaking(
        &format!("{call}/function/arguments"),
        json!("{\"city\":\"Rome\"}"),
        &["a call has other arguments", "lost in silence: /content/*/input/city"],
    );
    breaking(&format!("{call}/id"), json!("c2"), &["a call has another id"]);
    breaking(
        "/choices/0/finish_reason",
        json!("length"),
        &["the stop reason differs: calls became length"],
    );
    breaking(
        "/choices/0/finish_reason",
        json!("tool_use"),
        &[
            "the stop reason differs: calls became another",
            "not valid: /choices/*/finish_reason should be =stop|length|tool_calls|content_filter|function_call",
        ],
    );
    breaking("/usage/completion_tokens", json!(6), &["usage: input or output differs"]);
    breaking("/model", json!("other"), &["lost in silence: /model"]);
}

#[test]
fn what_the_ledger_names_is_not_lost_in_silence() {
    let mut before = before();
    before["container"] = json!({"id": "k", "expires": "soon"});
    let entry =
        |path: &str| vec![Entry::new(path, Code::Only("container".to_owned()), Action::Dropped)];
    let expected = ["lost in silence: /container/expires"];
    assert_eq!(toward_chat(&before, &after(), Vec::new()), expected);
    assert_eq!(toward_chat(&before, &after(), entry("/other")), expected);
    assert_eq!(toward_chat(&before, &after(), entry("")), expected);
    assert_eq!(toward_chat(&before, &after(), entry("/container")), Vec::<String>::new());
}

#[test]
fn a_setting_of_a_request_that_vanishes_is_found() {
    let before = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "seed": 7});
    let after =
        json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]});
    let case = case(Kind::Request, "chat", &before);
    let output = Output { body: after.to_string().into_bytes(), ledger: Vec::new(), status: None };
    let found = classes(document(&case, protocol("messages"), &output, request::check));
    assert_eq!(found, ["lost in silence: /seed"]);
}

#[test]
fn a_stream_that_looks_finished_but_was_cut_is_found() {
    let mut case = case(Kind::Stream, "chat", &Value::Null);
    case.body = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"He\"}}]}\n\n".to_vec();
    let output = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\
                  \"stop_sequence\":null},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let output = Output { body: output.as_bytes().to_vec(), ledger: Vec::new(), status: None };
    let found = classes(stream(&case, protocol("messages"), &output));
    assert_eq!(found, ["a stream that was cut off looks finished"]);
}

#[test]
fn a_changed_byte_within_one_protocol_is_found() {
    let case = case(Kind::Response, "chat", &json!({"a": 1.0}));
    let output = |body: &str| Output { body: body.into(), ledger: Vec::new(), status: None };
    assert_eq!(passed(&case, &output(r#"{"a":1.0}"#)), None);
    assert!(passed(&case, &output(r#"{"a":1}"#)).is_some());
}

#[test]
fn a_document_that_cannot_be_read_is_a_failure_unless_the_vendor_refused_it_too() {
    let mut case = case(Kind::Request, "chat", &json!({"messages": 1}));
    let found = classes(check(translate, &case, protocol("messages")));
    assert_eq!(found, ["cannot be read: /messages: expected an array, found a number (byte *)"]);
    case.status = Some(400);
    assert_eq!(check(translate, &case, protocol("messages")), []);
}

#[test]
fn gaps_and_wrong_names_of_events_are_found() {
    let wrong = |stream: &str| {
        valid::stream(protocol("responses"), stream.as_bytes()).map(|failure| failure.class)
    };
    let event = |name: &str, number: u64| {
        format!(
            "event: {name}\ndata: {{\"type\":\"error\",\"sequence_number\":{number},\"code\":null,\"message\":\"\",\"param\":null}}\n\n"
        )
    };
    assert_eq!(wrong(&event("error", 0)), None);
    assert_eq!(wrong(&event("error", 1)).as_deref(), Some("sequence numbers have a gap"));
    assert_eq!(wrong(&event("oops", 0)).as_deref(), Some("the name of an event is not its type"));
}

#[test]
fn a_class_has_no_numbers_and_no_content() {
    assert_eq!(shape_of("/a/12/b: found \"secret\" (byte 345)"), "/a/*/b: found \"\" (byte *)");
}
