use super::{DocumentKind, Guess, guess};
use crate::model::Protocol;

/// `expected` is the protocol and the document, `?` where neither can be told.
fn check(body: &str, expected: &str) {
    let Guess { document, protocol } = guess(body.as_bytes()).unwrap();
    let found = format!(
        "{} {}",
        protocol.map_or("?", Protocol::as_str),
        document.map_or("?", DocumentKind::as_str)
    );
    assert_eq!(found, expected, "{body}");
}

#[test]
fn requests() {
    for (body, expected) in [
        (r#"{"model":"m","input":"hi"}"#, "responses request"),
        (r#"{"model":"m","previous_response_id":"resp_1"}"#, "responses request"),
        (r#"{"prompt":{"id":"pmpt_1"}}"#, "responses request"),
        (r#"{"tools":[{"type":"function","name":"f"}],"input":[]}"#, "responses request"),
        (r#"{"messages":[{"role":"user","content":"hi"}]}"#, "chat request"),
        (r#"{"messages":[{"role":"user","content":"hi"}],"max_tokens":9}"#, "messages request"),
        (r#"{"messages":[],"max_tokens":9,"stop":"x"}"#, "chat request"),
        (r#"{"messages":[],"max_tokens":9,"stop_sequences":["x"]}"#, "messages request"),
        (r#"{"messages":[],"system":"s","user":"u","seed":1}"#, "messages request"),
    ] {
        check(body, expected);
    }
}

#[test]
fn the_conversation_tells_more_than_borrowed_names() {
    for (message, expected) in [
        (r#"{"role":"system","content":"s"}"#, "chat request"),
        (r#"{"role":"developer","content":"s"}"#, "chat request"),
        (r#"{"role":"tool","tool_call_id":"c","content":"r"}"#, "chat request"),
        (r#"{"role":"assistant","tool_calls":[]}"#, "chat request"),
        (r#"{"role":"user","content":[{"type":"image_url"}]}"#, "chat request"),
        (r#"{"role":"user","content":[{"type":"text"},{"type":"image"}]}"#, "messages request"),
        (r#"{"role":"user","content":[{"type":"tool_result"}]}"#, "messages request"),
        (r#"{"role":"user","content":"a"},{"role":"system","content":"s"}"#, "messages request"),
    ] {
        check(&format!(r#"{{"thinking":{{}},"top_k":5,"messages":[{message}]}}"#), expected);
    }
}

#[test]
fn tools_and_choice_tell_chat_from_messages() {
    for (fields, expected) in [
        (r#""tools":[{"type":"function","function":{"name":"f"}}]"#, "chat request"),
        (r#""tools":[{"type":"web_search"}],"max_tokens":1"#, "messages request"),
        (r#""tools":[{"name":"f","input_schema":{}}]"#, "messages request"),
        (r#""tool_choice":"auto","max_tokens":1"#, "chat request"),
        (r#""tool_choice":{"type":"any"}"#, "messages request"),
        (r#""tool_choice":{"type":"function","function":{"name":"f"}},"top_k":1"#, "chat request"),
    ] {
        check(&format!(r#"{{{fields},"messages":[{{"role":"user","content":"hi"}}]}}"#), expected);
    }
}

#[test]
fn responses() {
    for (body, expected) in [
        (r#"{"object":"chat.completion","choices":[]}"#, "chat response"),
        (r#"{"choices":[{"index":0}]}"#, "chat response"),
        (r#"{"id":"resp_1","object":"response","error":null,"output":[]}"#, "responses response"),
        (r#"{"error":{"code":"server_error"},"output":[],"input":[]}"#, "responses response"),
        (r#"{"type":"message","role":"assistant","content":[]}"#, "messages response"),
        (r#"{"role":"assistant","content":[],"stop_reason":"end_turn"}"#, "messages response"),
    ] {
        check(body, expected);
    }
}

#[test]
fn errors() {
    for (body, expected) in [
        (r#"{"error":{"message":"no"}}"#, "chat error"),
        (r#"{"error":"no"}"#, "chat error"),
        (r#"{"object":"error","message":"no"}"#, "chat error"),
        (r#"{"detail":"Not Found"}"#, "chat error"),
        (r#"{"type":"error","error":{"type":"api_error"}}"#, "messages error"),
        (r#"{"error":{"type":"api_error"},"type":"error"}"#, "messages error"),
    ] {
        check(body, expected);
    }
}

#[test]
fn tools() {
    for (body, expected) in [
        (r#"[{"type":"function","function":{"name":"f"}}]"#, "chat tools"),
        (r#"[{"type":"custom","custom":{"name":"f"}}]"#, "chat tools"),
        (r#"[{"type":"web_search"},{"type":"function","function":{}}]"#, "chat tools"),
        (r#"[{"type":"function","name":"f","parameters":{}}]"#, "responses tools"),
        (r#"[{"type":"custom","name":"f"}]"#, "responses tools"),
        (r#"[{"type":"web_search_preview_2025_03_11"}]"#, "responses tools"),
        (r#"[{"name":"f","input_schema":{}}]"#, "messages tools"),
        (r#"[{"type":"custom","name":"f","input_schema":{}}]"#, "messages tools"),
        (r#"[{"type":"bash_20250124","name":"bash"}]"#, "messages tools"),
        (r#"[{"name":"f"},{"name":"g","input_schema":{}}]"#, "messages tools"),
        (r#"[{"name":"f"}]"#, "? tools"),
        ("[]", "? tools"),
        ("[1]", "? tools"),
    ] {
        check(body, expected);
    }
}

#[test]
fn what_tells_nothing() {
    for body in ["{}", "1", r#""text""#, r#"{"model":"m"}"#, r#"{"error":null}"#] {
        check(body, "? ?");
    }
}

#[test]
fn what_is_not_json() {
    for (body, expected) in [
        (&b""[..], "the JSON ends in the middle of a value (byte 0)"),
        (br#"{"messages":[{"role":1,}]}"#, "/messages/0: expected a field name in double quotes"),
        (b"{} x", "unexpected text behind the JSON value"),
        (b"\xff", "invalid UTF-8"),
    ] {
        let error = guess(body).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
