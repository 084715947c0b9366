//! `--from` and `--kind` left out.

use std::fs;
use std::path::Path;

use toolwire::Protocol;
use toolwire::guess::{DocumentKind, guess};

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

/// The golden documents say in their path what they are.
#[test]
fn every_vector() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (folder, document) in [
        ("requests", DocumentKind::Request),
        ("responses", DocumentKind::Response),
        ("errors", DocumentKind::Error),
        ("tools", DocumentKind::Tools),
    ] {
        let Ok(cases) = fs::read_dir(vectors.join(folder)) else { continue };
        for case in cases {
            let case = case.unwrap().path();
            for protocol in Protocol::ALL {
                let path = case.join(format!("in.{protocol}.json"));
                let Ok(body) = fs::read(&path) else { continue };
                let Ok(found) = guess(&body) else { continue };
                let protocol = match (document, protocol) {
                    // The two have the same error bodies.
                    (DocumentKind::Error, Protocol::Responses) => Protocol::Chat,
                    (_, protocol) => protocol,
                };
                // No tools look the same everywhere.
                let protocol = (body.trim_ascii() != b"[]").then_some(protocol);
                if (found.document, found.protocol) != (Some(document), protocol) {
                    wrong.push(format!("{}: {found:?}", path.display()));
                }
                seen += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 0, "no vectors in {}", vectors.display());
}
