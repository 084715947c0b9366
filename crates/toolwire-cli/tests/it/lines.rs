//! `toolwire translate --lines`: many documents in one run.

use serde_json::{Value, json};

use crate::command::{Ran, toolwire};

fn answers(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn each_line_is_answered_in_its_place() {
    let ran = toolwire(
        "translate --from messages --to chat --kind request --lines",
        concat!(
            r#"{"model":"a","max_tokens":9,"messages":[{"role":"user","content":"x"}]}"#,
            "\r\n",
            "no JSON\n",
            "\n",
            r#"{"model":"b","max_tokens":9,"messages":[{"role":"user","content":"y"}],"top_k":4}"#,
        ),
    );
    let answers = answers(&ran);
    let models: Vec<_> = answers.iter().map(|answer| answer["body"]["model"].clone()).collect();
    assert_eq!(models, [json!("a"), Value::Null, Value::Null, json!("b")]);
    let failed: Vec<_> = answers.iter().map(|answer| answer["error"].is_string()).collect();
    assert_eq!(failed, [false, true, true, false]);
    assert_eq!(answers[0]["ledger"], json!([]));
    assert_eq!(answers[3]["ledger"][0]["path"], "/top_k");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("2 of 4 documents were not translated"), "{}", ran.err);
}

#[test]
fn all_is_well_when_every_line_is() {
    let line = r#"{"model":"a","max_tokens":9,"messages":[{"role":"user","content":"x"}]}"#;
    let ran = toolwire("translate --to chat --lines", format!("{line}\n{line}\n"));
    assert_eq!((ran.code, ran.err.as_str(), answers(&ran).len()), (Some(0), "", 2));
    assert_eq!(toolwire("translate --to chat --lines", "").code, Some(0));
}

#[test]
fn a_refusal_names_the_fields() {
    let line = r#"{"model":"a","messages":[{"role":"user","content":"x"}],"n":2,"seed":1}"#;
    let ran = toolwire("translate --to messages --lines --on-loss refuse", line);
    let answers = answers(&ran);
    let named: Vec<_> =
        answers[0]["ledger"].as_array().unwrap().iter().map(|entry| &entry["path"]).collect();
    assert_eq!(answers[0]["body"], Value::Null);
    assert!(named.contains(&&json!("/n")) && named.contains(&&json!("/seed")), "{named:?}");
    assert_eq!(ran.code, Some(1));
}

#[test]
fn an_error_keeps_its_status() {
    let line = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    let ran =
        toolwire("translate --from messages --to chat --kind error --status 529 --lines", line);
    assert_eq!(answers(&ran)[0]["status"], 503);
}

#[test]
fn a_line_is_a_stream() {
    let event = |data: &str| format!("data: {data}\n\n");
    let stream = [
        event(
            r#"{"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"}}]}"#,
        ),
        event(
            r#"{"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x":1}"#,
        ),
        event("[DONE]"),
    ];
    let (whole, cut) = (stream.concat(), stream[0].clone());
    let input = format!("{}\n{}\n{{}}\n", json!(whole), json!(cut));
    // The first event tells the protocol.
    let ran = toolwire("translate --to messages --kind stream --lines", input);
    let lines = answers(&ran);
    assert!(lines[0]["body"].as_str().unwrap().contains("event: message_stop"), "{}", lines[0]);
    assert_eq!(lines[0]["ledger"][0]["path"], "/1/x");
    assert_eq!(lines[0]["error"], json!(null));
    // A stream that ends with an error has both.
    assert!(lines[1]["body"].as_str().unwrap().contains("event: error"), "{}", lines[1]);
    assert!(lines[1]["error"].as_str().is_some());
    assert_eq!(lines[2]["body"], json!(null));
    assert_eq!(lines[2]["error"], "the line is not a JSON string that contains a stream");
    assert_eq!(ran.code, Some(1));
}

#[test]
fn the_request_of_all_lines_is_one() {
    let path = std::env::temp_dir().join(format!("toolwire-lines-{}.json", std::process::id()));
    let request = json!({"model": "m", "messages": [], "tools": [
        {"type": "custom", "custom": {"name": "run"}},
    ]});
    std::fs::write(&path, request.to_string()).unwrap();
    let call =
        json!({"type": "tool_use", "id": "toolu_1", "name": "run", "input": {"input": "ls"}});
    let answer = json!({"type": "message", "role": "assistant", "content": [call]});
    let flags = "translate --from messages --to chat --kind response --lines --request";
    let ran = toolwire(&format!("{flags} {}", path.display()), format!("{answer}\n{answer}\n"));
    std::fs::remove_file(path).unwrap();
    for line in answers(&ran) {
        let restored = &line["body"]["choices"][0]["message"]["tool_calls"][0];
        assert_eq!(restored["custom"]["input"], "ls", "{line}");
    }
}

#[test]
fn what_is_for_one_document_is_refused() {
    assert_eq!(toolwire("translate --to chat --lines --explain", "{}").code, Some(2));
    for flag in ["--pace", "--record x", "--model m"] {
        let ran = toolwire(&format!("translate --to chat --kind stream --lines {flag}"), "\"\"");
        assert_eq!(ran.code, Some(2), "{flag}");
    }
}
