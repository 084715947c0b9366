//! What models get wrong, and what parsers got wrong about what models write.

use serde_json::{Value, json};
use toolwire_laws::recover::{self as laws, Reading};

use super::dialects::tools;

/// Checks what a text is read as, however it arrives.
pub(super) fn check(text: &str, calls: Value, content: &str) {
    let tools = tools();
    let reading = Reading::of(&tools, text);
    let found: Vec<Value> = reading
        .calls
        .iter()
        .map(|call| {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
            json!([call.name, arguments])
        })
        .collect();
    assert_eq!((Value::Array(found), reading.text.trim()), (calls, content), "{text}");
    for size in 1..=16 {
        laws::any_pieces_read_the_same(&tools, text, size)
            .unwrap_or_else(|what| panic!("{what}\n{text}"));
    }
    laws::nothing_vanishes(text, &reading).unwrap_or_else(|what| panic!("{what}\n{text}"));
}

pub(super) fn booking() -> Value {
    json!([["book_table", {"restaurant": "Roma", "guests": 2}]])
}

pub(super) fn hermes(arguments: &str) -> String {
    format!("<tool_call>{{\"name\": \"book_table\", \"arguments\": {arguments}}}</tool_call>")
}

#[test]
fn trailing_comma() {
    check(&hermes(r#"{"restaurant": "Roma", "guests": 2,}"#), booking(), "");
}

#[test]
fn single_quotes() {
    check(&hermes("{'restaurant': 'Roma', 'guests': 2}"), booking(), "");
}

#[test]
fn bare_keys_and_comments() {
    check(
        &hermes("{restaurant: \"Roma\", // the good one\n guests: 2 /* of us */}"),
        booking(),
        "",
    );
}

#[test]
fn python_literals() {
    let calls = json!([["book_table", {"restaurant": "Roma", "guests": 2, "outdoors": true}]]);
    check(&hermes(r#"{"restaurant": "Roma", "guests": 2, "outdoors": True}"#), calls, "");
}

#[test]
fn raw_line_break_in_a_string() {
    let calls = json!([["book_table", {"restaurant": "Ro\nma", "guests": 2}]]);
    check(&hermes("{\"restaurant\": \"Ro\nma\", \"guests\": 2}"), calls, "");
}

#[test]
fn fence_inside_the_tag() {
    let text = "<tool_call>\n```json\n{\"name\": \"book_table\", \"arguments\": {\"restaurant\": \"Roma\", \"guests\": 2}}\n```\n</tool_call>";
    check(text, booking(), "");
}

#[test]
fn missing_brackets_behind_a_complete_value() {
    check(
        r#"<tool_call>{"name": "book_table", "arguments": {"restaurant": "Roma", "guests": 2}"#,
        booking(),
        "",
    );
    let nested = r#"<tool_call>{"name": "store-record", "arguments": {"record": {"a": [1, "b"]"#;
    check(nested, json!([["store-record", {"record": {"a": [1, "b"]}}]]), "");
}

#[test]
fn cut_inside_a_number_a_word_or_a_string() {
    for cut in [
        r#"{"restaurant": "Roma", "guests": 2"#,
        r#"{"restaurant": "Roma", "guests": 2, "outdoors": tr"#,
        r#"{"restaurant": "Ro"#,
        r#"{"restaurant": "Roma", "guests": 2, "#,
        "{",
    ] {
        let text = format!("<tool_call>{{\"name\": \"book_table\", \"arguments\": {cut}");
        let reading = Reading::of(&tools(), &text);
        assert!(reading.calls.is_empty(), "{text}: {:?}", reading.calls);
        assert_eq!(reading.incomplete.len(), 1, "{text}");
    }
}

#[test]
fn arguments_as_a_string() {
    check(&hermes(r#""{\"restaurant\": \"Roma\", \"guests\": 2}""#), booking(), "");
}

#[test]
fn numbers_as_strings() {
    check(&hermes(r#"{"restaurant": "Roma", "guests": "2"}"#), booking(), "");
}

#[test]
fn closing_tag_in_a_string() {
    let calls =
        json!([["write_note", {"title": "</tool_call>", "body": "}]} </function> \"quoted\""}]]);
    check(
        "<tool_call>{\"name\": \"write_note\", \"arguments\": {\"title\": \"</tool_call>\", \"body\": \"}]} </function> \\\"quoted\\\"\"}}</tool_call>",
        calls,
        "",
    );
}

#[test]
fn list_right_behind_reasoning() {
    check(
        r#"<think>They want a table.</think>[{"name": "book_table", "arguments": {"restaurant": "Roma", "guests": 2}}]"#,
        booking(),
        "",
    );
}

#[test]
fn text_behind_a_call() {
    check(
        &format!("Booking now. {} All done.", hermes(r#"{"restaurant": "Roma", "guests": 2}"#)),
        booking(),
        "Booking now.  All done.",
    );
}

#[test]
fn list_in_pieces_of_one_byte() {
    check(
        r#"[{"name": "book_table", "arguments": {"restaurant": "Roma", "guests": 2}}]"#,
        booking(),
        "",
    );
}

#[test]
fn closing_fence_of_an_action() {
    check(
        "Action:\n```json\n[{\"tool_name\": \"book_table\", \"parameters\": {\"restaurant\": \"Roma\", \"guests\": 2}}]\n```\nDone.",
        booking(),
        "Done.",
    );
}

#[test]
fn another_tag_in_the_arguments() {
    let calls = json!([["write_note", {"title": "<invoke name=\"x\">"}]]);
    check(r#"<function=write_note>{"title": "<invoke name=\"x\">"}</function>"#, calls, "");
}

#[test]
fn markdown_is_text() {
    for text in [
        "See [this](https://example.com) and [that][1].\n\n[1]: x\n",
        "- [ ] open\n- [x] done\n",
        "a < b && c > d, x[0] = {1, 2}",
        "{\"a\": 1}\n",
        "[1, 2, 3]\n",
        "book_table(2) is a function.",
        "Action: none\n",
        "[book_table] is a tool",
        ">>> print(1)\n1\n",
        "<tool_call",
        "<",
        "```",
        "[TOOL_",
        "",
        "\n",
        "]<]mini",
    ] {
        check(text, json!([]), text.trim());
        assert_eq!(Reading::of(&tools(), text).text, text);
    }
}

/// Text about other things passes at once: at most this much of it waits.
#[test]
fn ordinary_text_is_not_held_back() {
    let text = "The list [one](two), a < b, `code` and \"quotes\" – naïve ideas: {x} [y]. Action without function. \
        Then A, f, > and ] follow.\nAnother line, with functions and Actions.\n\n- item [x]\n> quote\n1. {n}\n";
    let mut detector = toolwire::recover::Detector::new(tools());
    let (mut sent, mut passed) = (0, 0);
    for piece in laws::pieces(text, 1) {
        sent += piece.len();
        detector.push(piece, &mut |event: toolwire::recover::Event<'_>| {
            if let toolwire::recover::Event::Text(text) = event {
                passed += text.len();
            }
        });
        assert!(sent - passed <= 40, "{} bytes wait behind {:?}", sent - passed, &text[..sent]);
    }
}
