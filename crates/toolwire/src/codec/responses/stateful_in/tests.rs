//! What is passed over without a check is what a check would have passed.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// Every document of the vectors that this protocol has.
fn documents() -> Vec<(PathBuf, String)> {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let mut found = Vec::new();
    for kind in ["requests", "responses"] {
        for vector in fs::read_dir(vectors.join(kind)).unwrap() {
            for file in fs::read_dir(vector.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                if path.to_string_lossy().ends_with(".responses.json") {
                    let text = fs::read_to_string(&path).unwrap();
                    found.push((path, text));
                }
            }
        }
    }
    found
}

/// A member of a document, by a reader that checks everything.
fn member<'a>(text: &'a str, name: &str) -> Option<Raw<'a>> {
    let [found] = Reader::new(text).pick([name]).ok()?;
    found
}

fn list<'a>(value: &Raw<'a>) -> Option<Vec<StatefulItem<'a>>> {
    let mut reader = value.source_reader().filter(|_| value.kind() == Kind::Array)?;
    items(&mut reader).ok()
}

#[test]
fn items_of_requests_are_those_that_a_check_finds() {
    let mut compared = 0;
    for (path, text) in documents() {
        let input = member(&text, "input");
        let Some(checked) = input.as_ref().and_then(list) else { continue };
        let read = request(Reader::new(&text)).unwrap();
        assert_eq!(read.input, checked, "{}", path.display());
        let input = request_input(Reader::new(&text)).unwrap();
        assert_eq!(input, checked, "{}", path.display());
        for Extra { key, value } in &read.others {
            let checked = member(&text, &key.decode());
            let text = checked.as_ref().map_or("null", Raw::text);
            assert_eq!(value.text(), text, "{}", path.display());
        }
        compared += checked.len();
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn items_of_answers_are_those_that_a_check_finds() {
    let mut compared = 0;
    for (path, text) in documents() {
        let output = member(&text, "output");
        let Some(checked) = output.as_ref().and_then(list) else { continue };
        let read = answer(&text).unwrap();
        let checked: Vec<_> = checked.into_iter().map(|item| (item.id, item.text)).collect();
        let output: Vec<_> = read.output.into_iter().map(|item| (item.id, item.text)).collect();
        assert_eq!(output, checked, "{}", path.display());
        let word = |name| member(&text, name).and_then(|value| string(&value).ok());
        assert_eq!(Some(read.id), word("id"), "{}", path.display());
        assert_eq!(read.status, word("status").unwrap_or_default(), "{}", path.display());
        compared += checked.len();
    }
    assert!(compared > 100, "{compared}");
}

/// Proves that an answer that this codec wrote and one in another order have the same
/// items, and that what repeats the request is found in the first.
#[test]
fn the_order_of_an_answer_does_not_matter() {
    let echo = r#""be brief","max_output_tokens":null,"tools":[{"a":"],\"tool_choice\":"}]"#;
    let output = r#"[{"type":"message","id":"msg_1","content":[{"id":"x"}]},{"id":7},3]"#;
    let own = format!(
        r#"{{"id":"resp_1","status":"completed","output":{output},"instructions":{echo},"tool_choice":"auto"}}"#
    );
    let other = format!(
        r#"{{"instructions":{echo},"tool_choice":"auto","status":"completed","output":{output},"id":"resp_1"}}"#
    );
    for text in [&own, &other] {
        let read = answer(text).unwrap();
        assert_eq!((read.id.as_str(), read.status.as_str()), ("resp_1", "completed"));
        let ids: Vec<_> = read.output.iter().map(|item| item.id.as_deref()).collect();
        assert_eq!(ids, [Some("msg_1"), None, None]);
        assert_eq!(&text[read.repeats.unwrap()], echo);
    }
}

/// Proves that what follows the tools may be long.
#[test]
fn a_long_ending_hides_no_tools() {
    let labels = "x".repeat(2 * BEHIND_ECHO);
    let text = format!(
        r#"{{"id":"r","status":"completed","output":[],"instructions":null,"tools":[1],"tool_choice":"{labels}"}}"#
    );
    assert_eq!(&text[answer(&text).unwrap().repeats.unwrap()], r#"null,"tools":[1]"#);
}
