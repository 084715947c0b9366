//! Every dialect keeps the laws of recovering calls.

use serde_json::{Value, json};
use toolwire_laws::recover::{self as laws, Reading};

use super::dialects::{Call, Dialect, TOOLS, all, call, tools};

/// Calls that are hard to read.
fn calls() -> Vec<Call> {
    vec![
        call("book_table", json!({"restaurant": "Chez Léon", "guests": 4, "outdoors": true})),
        call(
            "write_note",
            json!({"title": "a {b} [c] \"d\"", "body": "line 1\nline 2", "tags": ["x", "y"]}),
        ),
        call("ping_server", json!({})),
        call("convert_units", json!({"amount": -2.5, "unit": "km"})),
        call(
            "store-record",
            json!({"record": {"名前": "值", "list": [1, {"deep": [null, false]}]}, "note": "日本語 🎉"}),
        ),
        call("write_note", json!({"title": "0012", "body": "it's <b>bold</b> & 5 > 3"})),
        call("book_table", json!({"restaurant": "", "guests": 0, "budget": 12.75})),
    ]
}

/// Whether a dialect can write a call.
fn writes(dialect: &Dialect, call: &Call) -> bool {
    // Empty arguments look like a bare name; Python has no dashes in names; a
    // parameter without a type is read by its looks.
    let python = ["pythonic", "llama4-pythonic", "lfm2", "olmo3", "tool-code"];
    !(call.name.contains('-')
        && (python.contains(&dialect.name) || dialect.name == "functionary32"))
}

/// Texts with calls: each call alone, with prose around it, and several at once.
pub(crate) fn cases() -> Vec<(String, String, Vec<Call>, String)> {
    let mut cases = Vec::new();
    for dialect in all() {
        let usable: Vec<Call> = calls().into_iter().filter(|call| writes(dialect, call)).collect();
        for (index, call) in usable.iter().enumerate() {
            let text = dialect.render(std::slice::from_ref(call));
            let name = format!("{} {index}", dialect.name);
            cases.push((name.clone(), text.clone(), vec![call.clone()], String::new()));
            let around = format!("Sure, one moment.\n\n{text}");
            cases.push((
                format!("{name} behind text"),
                around,
                vec![call.clone()],
                "Sure, one moment.".to_owned(),
            ));
            let thought = format!("<think>Which tool? {{}} [x](y)</think>\n\n{text}");
            cases.push((
                format!("{name} behind reasoning"),
                thought,
                vec![call.clone()],
                String::new(),
            ));
        }
        if dialect.several {
            let text = dialect.render(&usable[..3]);
            cases.push((
                format!("{} parallel", dialect.name),
                text,
                usable[..3].to_vec(),
                String::new(),
            ));
        }
    }
    cases
}

fn found(reading: &Reading) -> Vec<(String, Value)> {
    let read =
        |call: &laws::Call| (call.name.clone(), serde_json::from_str(&call.arguments).unwrap());
    reading.calls.iter().map(read).collect()
}

#[test]
fn every_dialect_is_read() {
    let tools = tools();
    let mut wrong = Vec::new();
    for (name, text, calls, content) in cases() {
        let reading = Reading::of(&tools, &text);
        let wanted: Vec<(String, Value)> = calls
            .iter()
            .map(|call| (call.name.to_owned(), Value::Object(call.arguments.clone())))
            .collect();
        if found(&reading) != wanted || reading.text.trim() != content {
            wrong.push(format!(
                "{name}:\n{text}\n{:?}\n{:?} {:?}\n",
                found(&reading),
                reading.text,
                reading.incomplete
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn pieces_of_any_size_read_the_same() {
    let tools = tools();
    for (name, text, _, _) in cases() {
        for size in 1..=16 {
            laws::any_pieces_read_the_same(&tools, &text, size)
                .unwrap_or_else(|what| panic!("{name} {what}\n{text}"));
        }
    }
}

#[test]
fn every_byte_is_accounted_for() {
    let tools = tools();
    for (name, text, _, _) in cases() {
        let reading = Reading::of(&tools, &text);
        laws::calls_are_whole(&TOOLS, &reading)
            .unwrap_or_else(|what| panic!("{name}: {what}\n{text}"));
        laws::nothing_vanishes(&text, &reading)
            .unwrap_or_else(|what| panic!("{name}: {what}\n{text}"));
    }
}

#[test]
fn a_call_that_is_cut_off_is_never_completed() {
    let tools = tools();
    let mut wrong = Vec::new();
    for (name, text, _, _) in cases() {
        if name.contains("behind") {
            continue;
        }
        let whole = Reading::of(&tools, &text);
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let cut = Reading::of(&tools, &text[..at]);
            if let Err(what) = laws::cut_agrees(&whole, &cut) {
                wrong.push(format!("{name} cut at {at}: {what}\n{}\n", &text[..at]));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// A text that ends inside a marker, a tag or an escape ends inside the call, so none
/// of it is text.
#[test]
fn a_call_that_is_cut_off_leaves_no_half_marker_in_the_text() {
    let tools = tools();
    let mut wrong = Vec::new();
    let is_marked = |name: &str| all().any(|each| each.marked && name.starts_with(each.name));
    for (name, text, _, content) in cases() {
        // A header of Harmony's may begin anything.
        if !content.is_empty() || !is_marked(&name) || name.starts_with("harmony") {
            continue;
        }
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let cut = Reading::of(&tools, &text[..at]);
            let has_begun = !cut.calls.is_empty() || !cut.incomplete.is_empty();
            if has_begun && cut.text.contains(['<', '>', ']', '\\', '`']) {
                wrong.push(format!("{name} cut at {at}: {:?}\n{}\n", cut.text, &text[..at]));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_other_tool_is_called() {
    let mut other = toolwire::recover::Tools::default();
    other.add("unrelated", "", None);
    for (name, text, _, _) in cases() {
        let reading = Reading::of(&other, &text);
        assert!(reading.calls.is_empty(), "{name}: {:?}", reading.calls);
        laws::nothing_vanishes(&text, &reading)
            .unwrap_or_else(|what| panic!("{name}: {what}\n{text}"));
        let none = Reading::of(&toolwire::recover::Tools::default(), &text);
        assert_eq!(none.text, text);
    }
}

/// What is written around calls is text to the byte, white space and all. Between
/// calls of one block only white space is left out.
#[test]
fn text_around_calls_is_kept_to_the_byte() {
    let tools = tools();
    let around = ["Sure.\n", "\n\n  And then: naïve 🎉\n\n", " \t\n\nDone [1], a < b. \n "];
    for dialect in all() {
        let calls = calls();
        // The end of a call without markers is the end of its line.
        let (first, second) = (dialect.render(&calls[..1]), dialect.render(&calls[2..3]));
        let [before, between, behind] = around;
        let text = format!("{before}{first}{between}{second}{behind}");
        let reading = Reading::of(&tools, &text);
        let wanted = format!("{before}{between}{behind}");
        let found: Vec<&str> = reading.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(found, ["book_table", "ping_server"], "{}:\n{text}", dialect.name);
        assert_eq!(reading.text, wanted, "{}:\n{text}", dialect.name);
        // The calls of these are blocks of their own, with a line break between.
        let alone = dialect.name == "functionary32" || dialect.name.starts_with("fenced");
        if dialect.several && !alone {
            let both = dialect.render(&[calls[0].clone(), calls[2].clone()]);
            let text = format!("{before}{both}{behind}");
            let reading = Reading::of(&tools, &text);
            assert_eq!(reading.text, format!("{before}{behind}"), "{}:\n{text}", dialect.name);
            assert_eq!(reading.calls.len(), 2, "{}:\n{text}", dialect.name);
        }
    }
}
