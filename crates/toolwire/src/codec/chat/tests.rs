use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::CODEC;
use crate::model::Protocol;

mod foreign;
mod foreign_reasoning;
mod stream;
mod stream_in;
mod stream_out;

/// Every input of Chat under `vectors/<kind>`, with its name.
fn vectors(kind: &str) -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(kind);
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let folder = entry.unwrap().path();
        if let Ok(text) = fs::read_to_string(folder.join("in.chat.json")) {
            found.push((folder.file_name().unwrap().to_str().unwrap().to_owned(), text));
        }
    }
    found.sort();
    found
}

/// What two documents are compared by: explicit nulls say nothing, nor does
/// the empty list of annotations that OpenAI sends with every answer, nor one
/// of reasoning.
fn bare(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(key, value)| !says_nothing(key, value))
            .map(|(key, value)| (key, bare(value)))
            .collect(),
        Value::Array(list) => list.into_iter().map(bare).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn says_nothing(key: &str, value: &Value) -> bool {
    let list = matches!(key, "annotations" | "reasoning_details");
    value.is_null() || (list && *value == Value::Array(Vec::new()))
}

fn parse(text: &str) -> Value {
    bare(serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

fn same(name: &str, input: &str, output: &[u8]) {
    let output = std::str::from_utf8(output).unwrap();
    let (input, output) = (parse(input), parse(output));
    assert_eq!(output, input, "{name}\n{output:#}\n is not\n{input:#}");
}

#[test]
fn errors_come_back_as_they_were() {
    for (name, input) in vectors("errors") {
        let error = (CODEC.decode_error)(None, &input).unwrap();
        let mut out = Vec::new();
        (CODEC.encode_error)(&error, &mut out);
        if !name.starts_with("chat-vendor-") {
            same(&name, &input, &out);
        }
    }
}

#[test]
fn errors_have_their_status() {
    let check = |name: &str, status: u16| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/errors");
        let input = fs::read_to_string(folder.join(name).join("in.chat.json")).unwrap();
        let error = (CODEC.decode_error)(Some(status), &input).unwrap();
        assert_eq!((CODEC.encode_error)(&error, &mut Vec::new()), status, "{name}");
    };
    check("chat-invalid-request", 400);
    check("chat-unsupported-parameter", 400);
    check("chat-tool-schema", 400);
    check("chat-context-length", 400);
    check("chat-bad-key", 401);
    check("chat-quota", 429);
    check("chat-permission", 403);
    check("chat-model-not-found", 404);
    check("chat-too-large", 413);
    check("chat-rate-limit", 429);
    check("chat-overloaded", 503);
    check("chat-timeout", 504);
    check("chat-server", 500);
    check("chat-content-filter", 400);
    check("chat-vendor-status-code", 429);
    check("chat-vendor-bare-text", 503);
    check("chat-vendor-context-length", 400);
}

#[test]
fn bad_input_says_where() {
    let check = |input: &str, pointer: &str, message: &str| {
        let error = crate::translate::request(
            Protocol::Chat,
            Protocol::Messages,
            input.as_bytes(),
            &crate::Options::default(),
        )
        .unwrap_err();
        let crate::Error::Invalid { pointer: found, message: said, offset: _ } = error else {
            panic!("{error}")
        };
        assert_eq!((found.as_str(), said.as_str()), (pointer, message));
    };
    check("{}", "", "required field `messages` is missing");
    check(r#"{"model":7}"#, "/model", "expected a string, found a number");
    check(r#"{"messages":[{"content":"x"}]}"#, "/messages/0", "required field `role` is missing");
    check(
        r#"{"messages":[{"role":"assistant","tool_calls":[{"function":{}}]}]}"#,
        "/messages/0/tool_calls/0/function",
        "required field `name` is missing",
    );
    check(
        r#"{"messages":[{"role":"user","#,
        "/messages/0",
        "the JSON ends in the middle of a value",
    );
}
