//! Input that cannot be read: exit code 1, nothing on standard output, and
//! which side failed, where, and what to do.

use std::fs;

use crate::command::toolwire;

fn check(flags: &str, input: impl AsRef<[u8]>, expected: &[&str]) {
    let ran = toolwire(&format!("translate {flags}"), input);
    assert_eq!(ran.code, Some(1), "{flags}: {}", ran.err);
    assert_eq!(ran.out, "", "{flags}");
    assert!(ran.err.starts_with("error: "), "{flags}: {}", ran.err);
    for part in expected {
        assert!(ran.err.contains(part), "{part} is not in: {}", ran.err);
    }
}

#[test]
fn nothing() {
    for input in ["", " \n"] {
        check("--to chat", input, &["standard input is empty", "< request.json"]);
    }
}

#[test]
fn not_json() {
    let cut = r#"{"messages":[{"role":"user","content":"h"#;
    check("--to messages", cut, &["as JSON", "/messages/0/content: the JSON ends", "(byte 40)"]);
    check("--to messages", b"{\"a\":\"\xff\"}", &["invalid UTF-8"]);
    check("--to messages", "{} {}", &["unexpected text behind the JSON value"]);
    check("--from chat --kind request --to messages", cut, &["as a chat request: /messages/0"]);
    let deep = "[".repeat(100_000);
    check("--to messages", deep, &["nested deeper than"]);
}

#[test]
fn wrong_shape() {
    for (from, input, pointer) in [
        ("chat", r#"{"messages":[{"role":"user","content":"a"},{"role":7}]}"#, "/messages/1/role"),
        ("responses", r#"{"input":[{"type":"function_call","name":1}]}"#, "/input/0/name"),
        ("messages", r#"{"max_tokens":"ten","messages":[]}"#, "/max_tokens"),
    ] {
        for to in ["chat", "responses", "messages"] {
            if from != to {
                let side = format!("cannot read standard input as a {from} request: {pointer}: ");
                let flags = format!("--from {from} --to {to} --kind request");
                check(&flags, input, &[&side, "expected", "--from and --kind"]);
            }
        }
    }
}

#[test]
fn field_names_cannot_move_the_cursor() {
    let ran = toolwire("translate --to messages", r#"{"messages":[{"\u001b[2J":tru}]}"#);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("/messages/0/\\u{1b}[2J: "), "{}", ran.err);
}

#[test]
fn the_request_of_a_response() {
    let answer = r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn"}"#;
    check("--to chat --request no-such-file.json", answer, &["cannot read no-such-file.json: "]);
    let path = std::env::temp_dir().join(format!("toolwire-{}.json", std::process::id()));
    fs::write(&path, r#"{"messages":[{"role":true}]}"#).unwrap();
    let flags = format!("--to chat --request {}", path.display());
    let name = format!("cannot read {} as a chat request: /messages/0/role: ", path.display());
    check(&flags, answer, &[&name, "protocol of --to"]);
    fs::remove_file(&path).unwrap();
}
