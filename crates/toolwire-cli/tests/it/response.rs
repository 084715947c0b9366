//! `--request`: what went up wrapped or renamed comes down as it was declared.

use std::fs;

use serde_json::json;

use crate::command::toolwire;

#[test]
fn tools_come_back_as_the_client_declared_them() {
    let request = r#"{"model":"m","input":"hi","tools":[
        {"type":"custom","name":"run"},
        {"type":"namespace","name":"crm","description":"d","tools":[
            {"type":"function","name":"get","parameters":{"type":"object","properties":{}}}]}]}"#;
    let answer = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude",
        "content":[
            {"type":"tool_use","id":"toolu_1","name":"run","input":{"input":"ls\n"}},
            {"type":"tool_use","id":"toolu_2","name":"crm__get","input":{"id":1.0}}],
        "stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":5}}"#;
    let path = std::env::temp_dir().join(format!("toolwire-request-{}.json", std::process::id()));
    fs::write(&path, request).unwrap();
    let flags = "translate --from messages --to responses --kind response";
    let with = toolwire(&format!("{flags} --request {}", path.display()), answer).document();
    fs::remove_file(&path).unwrap();
    let without = toolwire(flags, answer).document();

    let kinds = |document: &serde_json::Value| {
        let items = document["output"].as_array().unwrap().clone();
        let told = |item: &serde_json::Value| {
            json!([item["type"], item["call_id"], item["namespace"], item["name"]])
        };
        items.iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(
        kinds(&with),
        [
            json!(["custom_tool_call", "toolu_1", null, "run"]),
            json!(["function_call", "toolu_2", "crm", "get"]),
        ]
    );
    assert_eq!(with["output"][0]["input"], "ls\n");
    assert_eq!(with["output"][1]["arguments"], r#"{"id":1.0}"#);
    assert_eq!(
        kinds(&without),
        [
            json!(["function_call", "toolu_1", null, "run"]),
            json!(["function_call", "toolu_2", null, "crm__get"]),
        ]
    );
}
