//! The ledger on standard error, and the policies.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::command::toolwire;

/// A loss (`seed`), a minor one (`verbosity`) and an exact emulation (the
/// freeform tool).
const REQUEST: &str = r#"{
    "model":"m","max_completion_tokens":100,"seed":7,"verbosity":"low",
    "tools":[{"type":"custom","custom":{"name":"run"}}],
    "messages":[{"role":"user","content":"hi"}]}"#;

#[test]
fn the_document_and_the_ledger() {
    let ran = toolwire("translate --to messages", REQUEST);
    let document = ran.document();
    assert_eq!(document["model"], "m");
    assert_eq!(document["max_tokens"], 100);
    assert_eq!(document["tools"][0]["name"], "run");
    assert_eq!(document["tools"][0]["input_schema"]["required"], json!(["input"]));
    let mut ledger = ran.ledger();
    ledger.sort();
    assert_eq!(
        ledger,
        [
            "/seed sampling dropped",
            "/tools/0 freeform emulated",
            "/verbosity verbosity dropped info",
        ]
    );
}

#[test]
fn nothing_lost_nothing_said() {
    let input = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    let ran = toolwire("translate --to responses", input);
    ran.document();
    assert_eq!(ran.err, "");
}

#[test]
fn ignore_says_nothing() {
    let ran = toolwire("translate --to messages --on-loss ignore", REQUEST);
    ran.document();
    assert_eq!(ran.err, "");
    // An explanation that was asked for says it all the same.
    let ran = toolwire("translate --to messages --on-loss ignore --explain", REQUEST);
    assert!(ran.err.contains("/seed"), "{}", ran.err);
}

#[test]
fn refuse_names_what_would_be_lost() {
    let ran = toolwire("translate --to messages --on-loss refuse", REQUEST);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(
        ran.err.starts_with(
            "error: this chat request cannot be translated to messages without loss:\n"
        ),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("/seed"), "{}", ran.err);
    assert!(ran.err.contains("--on-loss report"), "{}", ran.err);
    for harmless in ["/verbosity", "/tools/0"] {
        assert!(!ran.err.contains(harmless), "{}", ran.err);
    }
}

#[test]
fn what_means_nothing_without_is_refused_under_every_policy() {
    let input = r#"{"input":"hi","tools":[{"type":"file_search","vector_store_ids":["v"]}],
        "tool_choice":{"type":"file_search"}}"#;
    for policy in ["report", "refuse", "ignore"] {
        let ran = toolwire(&format!("translate --to chat --on-loss {policy}"), input);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{policy}");
        assert!(ran.err.contains("/tool_choice"), "{}", ran.err);
        assert!(ran.err.contains("Remove or change these fields. "), "{}", ran.err);
    }
}

#[test]
fn an_answer_that_never_came_is_no_answer() {
    let input = r#"{"id":"resp_1","object":"response","status":"failed","model":"m","output":[],
        "error":{"code":"server_error","message":"no"}}"#;
    let ran = toolwire("translate --to chat", input);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(
        ran.err.ends_with("The response is not complete. Send the request again.\n"),
        "{}",
        ran.err
    );
}

#[test]
fn the_same_protocol_passes_every_byte() {
    let input = "{ \"model\" : \"a\", \"messages\" : [ ], \"n\": 1.0, \"x\": \"\\u00e9\" }";
    for end in ["", "\n", "\r\n\n"] {
        let ran = toolwire("translate --to chat", format!("{input}{end}"));
        assert_eq!((ran.out, ran.err), (format!("{input}\n"), String::new()));
    }
    let ran = toolwire("translate --to chat --model b", input);
    assert_eq!(ran.out, format!("{}\n", input.replace("\"a\"", "\"b\"")));
}

#[test]
fn the_model_can_be_named() {
    let ran = toolwire("translate --to messages --model claude", REQUEST);
    assert_eq!(ran.document()["model"], "claude");
}

#[test]
fn tools_are_a_bare_array() {
    let input = r#"[{"type":"function","function":{"name":"f","parameters":
            {"type":"object","properties":{}}}},
        {"type":"function","function":{"name":"g","strict":true,"parameters":
            {"type":"object","properties":{},"required":[],"additionalProperties":false}}}]"#;
    let ran = toolwire("translate --from chat --to responses --kind tools", input);
    let document = ran.document();
    assert_eq!(document[0]["strict"], false);
    assert_eq!(document[1]["strict"], true);
    assert_eq!(document.as_array().unwrap().len(), 2);
    assert_eq!(ran.ledger(), [""; 0]);
}

#[test]
fn errors_keep_their_message() {
    let input = r#"{"type":"error","error":{"type":"overloaded_error","message":"too much"}}"#;
    let ran = toolwire("translate --to chat --status 529", input);
    assert_eq!(ran.document()["error"]["message"], "too much");
    assert_eq!(ran.err, "");
    let ran = toolwire("translate --to chat --status 529 --explain", input);
    assert!(ran.err.ends_with("The HTTP status is 503.\n"), "{}", ran.err);
}

#[test]
fn nobody_reads_the_output() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["translate", "--to", "messages"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command writes nothing before it has read everything.
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(REQUEST.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    // The ledger is printed all the same.
    assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 3);
}
