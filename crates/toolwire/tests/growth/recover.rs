//! Finding calls in text is linear, whatever the text repeats.

use toolwire::recover::{Detector, Tools};
use toolwire_laws::growth::Growth;

#[test]
fn text_full_of_markers_is_linear() {
    let mut tools = Tools::default();
    let schema = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array"}}}"#;
    tools.add("f", "", Some(schema));
    let mut over = Vec::new();
    for (before, repeated) in TEXTS {
        let make = |size: usize| {
            let mut text = before.to_owned();
            while text.len() < size {
                text.push_str(repeated);
            }
            text.into_bytes()
        };
        let growth = Growth::of(4 << 10, make, |bytes| read(&tools, bytes));
        if growth.is_over() {
            over.push(format!("{before:?} and {repeated:?}: {growth}"));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

fn read(tools: &Tools, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut detector = Detector::new(tools.clone());
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if at + c.len_utf8() - start >= 7 {
            detector
                .push(&text[start..at + c.len_utf8()], &mut |_: toolwire::recover::Event<'_>| {});
            start = at + c.len_utf8();
        }
    }
    detector.push(&text[start..], &mut |_: toolwire::recover::Event<'_>| {});
    detector.finish(&mut |_: toolwire::recover::Event<'_>| {});
}

/// What a text begins with, and what it repeats.
const TEXTS: [(&str, &str); 46] = [
    ("", "word "),
    ("", "\n"),
    ("", " "),
    ("", "`"),
    ("", "```"),
    ("", "```json\n"),
    ("", "~~~\n"),
    ("", "<tool_call>"),
    ("", "<tool_call>{"),
    ("", "<tool_call>\n"),
    ("", "</tool_call>"),
    ("", "<tool_calls>"),
    ("", "<function=f>"),
    ("", "<function=f"),
    ("", "<invoke name=\"f\">"),
    ("", "<|tool_call_begin|>"),
    ("", "<｜tool▁calls▁begin｜>"),
    ("", "<｜DSML｜invoke name=\"f\">"),
    ("", "[TOOL_CALLS]"),
    ("", "[TOOL_CALLS]f[CALL_ID]"),
    ("[TOOL_CALLS]f[CALL_ID]", "x"),
    ("", "["),
    ("", "]"),
    ("", "]<]minimax[>["),
    ("", "{"),
    ("", "{\"name\": \"f\", "),
    ("", "[{"),
    ("", "[f("),
    ("", "functools["),
    ("", "Action: f\n"),
    ("Action: f\n", "\n"),
    ("", ">>>f\n"),
    ("", "<|channel|>"),
    ("", "<|open|>"),
    ("", "<think>"),
    ("<think>", "</thin"),
    ("", "<"),
    ("", "> "),
    ("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"", "line \\\"x\\\"\\n"),
    ("<tool_call>{\"name\": \"f\", \"arguments\": {\"b\": [", "1, "),
    ("<tool_call>{\"name\": \"f\", \"arguments\": {'a': '", "it's "),
    ("<tool_call>{\"name\": \"f\", \"arguments\": {'a': 'x'", " "),
    ("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x\"", "/* "),
    ("<function=f><parameter=a>", "</parameter> x"),
    ("<function=f><parameter=b>", "[1, <2"),
    ("<tool_call>f<arg_key>", "k"),
];
