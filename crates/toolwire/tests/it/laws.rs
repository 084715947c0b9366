//! The laws of translation, over every vector and every pair of protocols.

use toolwire::laws::{self, diff, meaning};
use toolwire::{Code, Ledger, Protocol, codec};

use crate::PROTOCOLS;
use crate::documents::documents;
use crate::vectors::inputs;

#[test]
fn nothing_is_lost_in_silence() {
    check_pairs("requests", laws::nothing_is_lost_between);
}

#[test]
fn the_same_bytes_every_time() {
    check_pairs("requests", laws::the_same_bytes_between);
}

#[test]
fn only_foreign_reasoning_is_cut() {
    check("requests", laws::only_foreign_reasoning_is_cut);
}

#[test]
fn answers_are_readable() {
    for kind in ["responses", "errors", "tools"] {
        check_pairs(kind, laws::answers_are_readable_between);
    }
}

/// The diff can fail: a loss without a ledger line is found, and one with a
/// line is not.
#[test]
fn a_loss_without_a_ledger_line_is_found() {
    let source = r#"{"model":"m","seed":7,"messages":[{"role":"user","content":"hello"}]}"#;
    let before = meaning::request(&codec(Protocol::Chat).decode_request(source).unwrap());
    let after: Vec<_> = before.iter().filter(|atom| atom.class != "seed").cloned().collect();
    let gone = diff::lost(&before, &after, source, &[]);
    assert_eq!(
        gone.iter().map(|(atom, path)| (atom.class, path.as_str())).collect::<Vec<_>>(),
        [("seed", "/seed")]
    );

    let mut ledger = Ledger::default();
    let seed = before.iter().find(|atom| atom.class == "seed").unwrap();
    ledger.dropped(seed.pos, Code::Sampling);
    assert!(diff::lost(&before, &after, source, &ledger.entries(source)).is_empty());
}

fn check(kind: &str, law: fn(Protocol, &str) -> Result<(), String>) {
    let mut wrong = Vec::new();
    for (folder, from, body) in inputs(kind) {
        if let Err(what) = law(from, std::str::from_utf8(&body).unwrap()) {
            wrong.push(format!("{} {from} {what}", folder.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

fn check_pairs(kind: &str, law: fn(Protocol, Protocol, &str) -> Result<(), String>) {
    let mut wrong = Vec::new();
    for (folder, from, body) in documents(kind) {
        for to in PROTOCOLS.into_iter().filter(|to| *to != from) {
            if let Err(what) = law(from, to, std::str::from_utf8(&body).unwrap()) {
                wrong.push(format!("{} {from} {what}", folder.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// The document as a tree, with explicit nulls and empty lists of notes gone
/// and content that is one bare text as a string: each says the same as the
/// other.
fn usual_form(text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    bare_text(without_nulls(&value))
}

fn bare_text(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: serde_json::Map<String, Value> =
                members.into_iter().map(|(key, value)| (key, bare_text(value))).collect();
            for key in ["annotations", "reasoning_details"] {
                if members.get(key).and_then(Value::as_array).is_some_and(Vec::is_empty) {
                    members.shift_remove(key);
                }
            }
            for key in ["content", "output", "system", "input", "stop"] {
                if let Some(Value::Array(parts)) = members.get(key)
                    && let [only] = parts.as_slice()
                    && let Some(text) = bare(only)
                {
                    members.insert(key.to_owned(), text);
                }
            }
            Value::Object(members)
        }
        Value::Array(list) => Value::Array(list.into_iter().map(bare_text).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// The text of a part that is nothing but text.
fn bare(part: &Value) -> Option<Value> {
    if part.is_string() {
        return Some(part.clone());
    }
    let part = part.as_object()?;
    let known = ["type", "text", "annotations", "logprobs"];
    let empty =
        |key: &str| part.get(key).is_none_or(|list| list.as_array().is_some_and(Vec::is_empty));
    let plain = part.keys().all(|key| known.contains(&key.as_str()))
        && empty("annotations")
        && empty("logprobs");
    plain.then(|| part.get("text").cloned()).flatten()
}
