//! Broken documents give a clear error with a JSON Pointer: never a panic,
//! never a hang.

use std::time::{Duration, Instant};

use toolwire::Protocol;
use toolwire::translate::{self, Error, Options};

use crate::vectors::inputs;

#[test]
fn truncated_anywhere() {
    for (folder, from, body) in inputs("requests") {
        let step = body.len() / 200 + 1;
        for end in (0..body.trim_ascii_end().len()).step_by(step) {
            for to in Protocol::ALL {
                let result = translate::request(from, to, &body[..end], &Options::default());
                assert!(
                    matches!(result, Err(Error::Invalid { .. })),
                    "{} cut at {end}",
                    folder.display()
                );
            }
        }
    }
}

#[test]
fn any_byte_changed() {
    for kind in ["requests", "responses", "errors", "tools"] {
        for (_, from, body) in inputs(kind) {
            let step = body.len() / 40 + 1;
            for at in (0..body.len()).step_by(step) {
                for byte in [b'"', b'{', b']', b'0', 0xff, b'\\', 0] {
                    let mut broken = body.clone();
                    broken[at] = byte;
                    for to in Protocol::ALL {
                        run_every_kind(from, to, &broken);
                    }
                }
            }
        }
    }
}

#[test]
fn a_choice_without_a_name() {
    for (choice, place) in [
        (r#"{"type":"function","function":{}}"#, "/tool_choice/function"),
        (r#"{"type":"custom","custom":{}}"#, "/tool_choice/custom"),
        (
            r#"{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function"}]}}"#,
            "/tool_choice/allowed_tools/tools/0",
        ),
    ] {
        let tools = r#"[{"type":"function","function":{"name":"f"}}]"#;
        let body = format!(r#"{{"messages":[],"tools":{tools},"tool_choice":{choice}}}"#);
        for to in [Protocol::Responses, Protocol::Messages] {
            let result =
                translate::request(Protocol::Chat, to, body.as_bytes(), &Options::default());
            let Err(Error::Invalid { pointer, message, .. }) = result else {
                panic!("{choice} was translated: {result:?}")
            };
            assert_eq!(
                (pointer.as_str(), message.as_str()),
                (place, "required field `name` is missing")
            );
        }
    }
}

/// A document of another protocol, or of none, must not become an answer in which the
/// model said nothing.
#[test]
fn a_document_without_an_answer_is_not_an_empty_one() {
    let chat = r#"{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    for from in Protocol::ALL {
        let others = Protocol::ALL.into_iter().filter(|to| *to != from);
        let mut documents = vec!["{}", r#"{"detail":"x"}"#];
        documents.push(if from == Protocol::Chat { r#"{"choices":[]}"# } else { chat });
        for (to, body) in others.flat_map(|to| documents.iter().map(move |body| (to, body))) {
            let result = translate::response(from, to, body.as_bytes(), &Options::default());
            assert!(matches!(result, Err(Error::Invalid { .. })), "{from} to {to}: {body}");
        }
    }
}

#[test]
fn an_answer_that_has_not_begun_needs_no_output() {
    for body in [
        r#"{"object":"response","status":"queued"}"#,
        r#"{"object":"response","status":"failed","error":{"code":"server_error","message":"No."}}"#,
    ] {
        for to in [Protocol::Chat, Protocol::Messages] {
            let result =
                translate::response(Protocol::Responses, to, body.as_bytes(), &Options::default());
            assert!(matches!(result, Err(Error::Refused { .. })), "{to}: {result:?}");
        }
    }
}

#[test]
fn nested_too_deep() {
    for depth in [127, 128, 1_000, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nest =
                |inner: &str| format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            let body =
                format!("{{\"model\":\"m\",\"max_tokens\":1,\"messages\":[],\"x\":{}}}", nest("1"));
            for from in Protocol::ALL {
                for to in Protocol::ALL {
                    let start = Instant::now();
                    let error = translate::request(from, to, body.as_bytes(), &Options::default())
                        .unwrap_err();
                    let Error::Invalid { pointer, message, .. } = error else {
                        panic!("not an input error: {error}")
                    };
                    assert!(pointer.starts_with("/x"), "{pointer}");
                    assert!(message.contains("nested deeper"), "{message}");
                    assert!(start.elapsed() < Duration::from_secs(2));
                }
            }
        }
    }
}

#[test]
fn ten_megabytes_in_one_string() {
    let text = "héllo \\\"wörld\\\" ".repeat(700_000);
    let body = format!(
        "{{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}"
    );
    for (from, to) in
        [(Protocol::Chat, Protocol::Messages), (Protocol::Messages, Protocol::Responses)]
    {
        let translated =
            translate::request(from, to, body.as_bytes(), &Options::default()).unwrap();
        assert!(String::from_utf8(translated.body).unwrap().contains(&text));
    }
}

#[test]
fn wrong_types_are_named_by_pointer() {
    check(
        Protocol::Chat,
        r#"{"model":7,"messages":[]}"#,
        "/model",
        "expected a string, found a number",
    );
    check(
        Protocol::Chat,
        r#"{"model":"m","messages":{}}"#,
        "/messages",
        "expected an array, found an object",
    );
    check(
        Protocol::Chat,
        r#"{"model":"m","messages":[7]}"#,
        "/messages/0",
        "expected an object, found a number",
    );
    check(Protocol::Responses, r#"{"model":"m","input":7}"#, "/input", "found a number");
    check(
        Protocol::Messages,
        r#"{"model":"m","max_tokens":"x","messages":[]}"#,
        "/max_tokens",
        "expected a number",
    );
    check(
        Protocol::Messages,
        r#"{"model":"m","max_tokens":1,"max_tokens":2}"#,
        "/max_tokens",
        "appears twice",
    );
    check(Protocol::Messages, r#"{"model":"\ud800","max_tokens":1}"#, "/model", "lone surrogate");
    check(Protocol::Messages, r#"[]"#, "", "expected an object, found an array");
    check(Protocol::Messages, r#"{"model":"m"} x"#, "", "unexpected text behind");
    check(Protocol::Messages, "", "", "ends in the middle");
}

#[test]
fn invalid_utf8_is_an_error_and_never_a_replacement() {
    for from in Protocol::ALL {
        for to in Protocol::ALL {
            let body = b"{\"model\":\"a\xff\",\"messages\":[]}";
            let error = translate::request(from, to, body, &Options::default()).unwrap_err();
            let Error::Invalid { pointer, offset, message } = error else { panic!("{error}") };
            assert_eq!(
                (pointer.as_str(), offset, message.as_str()),
                ("/model", 11, "invalid UTF-8")
            );
        }
    }
}

fn check(from: Protocol, body: &str, wanted: &str, reason: &str) {
    for to in Protocol::ALL.into_iter().filter(|to| *to != from) {
        match translate::request(from, to, body.as_bytes(), &Options::default()) {
            Err(Error::Invalid { pointer, message, .. }) => {
                assert_eq!(pointer, wanted, "{body}: {message}");
                assert!(message.contains(reason), "{body}: {message}");
            }
            other => panic!("{body}: {other:?}"),
        }
    }
}

fn run_every_kind(from: Protocol, to: Protocol, body: &[u8]) {
    _ = translate::request(from, to, body, &Options::default());
    _ = translate::response(from, to, body, &Options::new());
    _ = translate::error(from, to, body, &Options::new());
    _ = translate::tools(from, to, body, &Options::default());
}
