//! `--from` and `--kind` left out.

use crate::command::toolwire;

/// The heading of the explanation says what the document was taken for.
fn check(input: &str, expected: &str) {
    let to = if expected.starts_with("Messages") { "chat" } else { "messages" };
    let ran = toolwire(&format!("translate --to {to} --explain"), input);
    assert_eq!(ran.code, Some(0), "{input}: {}", ran.err);
    assert!(ran.err.starts_with(&format!("{expected} to ")), "{input}: {}", ran.err);
}

#[test]
fn requests() {
    check(r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#, "Chat request");
    check(r#"{"model":"m","input":"hi"}"#, "Responses request");
    check(
        r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#,
        "Messages request",
    );
}

#[test]
fn responses() {
    check(
        r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[
            {"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}"#,
        "Chat response",
    );
    check(
        r#"{"id":"r","object":"response","created_at":1,"model":"m","status":"completed",
            "error":null,"output":[]}"#,
        "Responses response",
    );
    check(
        r#"{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"end_turn",
            "content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":1,"output_tokens":1}}"#,
        "Messages response",
    );
}

#[test]
fn errors() {
    check(r#"{"error":{"message":"no","type":"server_error"}}"#, "Chat error");
    check(
        r#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#,
        "Messages error",
    );
}

#[test]
fn tools() {
    check(r#"[{"type":"function","function":{"name":"f"}}]"#, "Chat tools");
    check(r#"[{"type":"function","name":"f","parameters":{"type":"object"}}]"#, "Responses tools");
    check(r#"[{"name":"f","input_schema":{"type":"object"}}]"#, "Messages tools");
}

#[test]
fn a_flag_settles_what_fields_leave_open() {
    let input = r#"[{"name":"f"}]"#;
    let ran = toolwire("translate --from messages --to chat --explain", input);
    assert!(ran.err.starts_with("Messages tools to Chat: "), "{}", ran.err);
}
