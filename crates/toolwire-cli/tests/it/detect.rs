//! `toolwire detect`: the calls that a model wrote as text.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::command::toolwire;

fn case(text: &str) -> String {
    json!({"id": "a", "unknown": 1, "tools": [{"type": "function", "function": {"name": "read_file"}}], "text": text, "options": {"intent": false}}).to_string()
}

#[test]
fn a_line_is_answered_with_what_was_found() {
    let text = "<think>Which?</think>Look: <tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"é.txt\"}}</tool_call>";
    let ran = toolwire("detect --jsonl", case(text));
    assert_eq!(
        ran.document(),
        json!({
            "id": "a",
            "calls": [{"name": "read_file", "arguments": {"path": "é.txt"}, "source": "format", "repaired": false}],
            "content": "Look: ",
            "reasoning": "Which?",
            "incomplete": [],
            "format": "hermes",
        })
    );
}

#[test]
fn pieces_of_any_size_give_the_same() {
    let text = "Ünï <tool_call>{'name': 'read_file', 'arguments': {'path': '日本'}}</tool_call> done [x](y)";
    let whole = toolwire("detect --jsonl", case(text)).document();
    assert_eq!(whole["calls"][0]["arguments"], json!({"path": "日本"}));
    for size in [1, 2, 3, 7, 64] {
        assert_eq!(
            toolwire(&format!("detect --jsonl --chunk {size}"), case(text)).document(),
            whole
        );
    }
}

#[test]
fn a_call_that_breaks_off_is_incomplete() {
    let found = toolwire(
        "detect --jsonl",
        case("<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a"),
    )
    .document();
    assert_eq!(
        (&found["calls"], &found["incomplete"][0]["name"]),
        (&json!([]), &json!("read_file"))
    );
}

#[test]
fn a_line_that_is_not_json_is_answered_in_its_place() {
    let ran = toolwire("detect --jsonl", format!("{}\nno JSON\n{}\n", case("x"), case("y")));
    let lines: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((ran.code, lines.len()), (Some(0), 3));
    assert_eq!((&lines[0]["content"], &lines[2]["content"]), (&json!("x"), &json!("y")));
    assert_eq!(lines[1]["id"], Value::Null);
    assert!(lines[1]["error"].is_string(), "{}", lines[1]);
}

#[test]
fn each_line_is_answered_before_the_next_is_read() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["detect", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for text in ["one", "two"] {
        writeln!(input, "{}", case(text)).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.contains(text), "{line}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// The example of the documentation.
#[test]
fn the_documented_example_is_right() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/detect.md"))
            .unwrap();
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("\n```").unwrap().0
    };
    let input = block("sh").strip_prefix("echo '").unwrap();
    let input = input.strip_suffix("' | toolwire detect --jsonl").unwrap();
    let wanted: Value = serde_json::from_str(block("json")).unwrap();
    assert_eq!(toolwire("detect --jsonl", input).document(), wanted);
}
