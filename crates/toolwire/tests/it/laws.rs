//! The laws of translation, over every vector and every pair of protocols.

use serde_json::Value;
use toolwire::laws::{self, diff, meaning};
use toolwire::{Code, Ledger, Profile, Protocol, codec};

use crate::PROTOCOLS;
use crate::documents::documents;
use crate::json::without_nulls;
use crate::vectors::inputs;

/// Decoding and encoding within one protocol changes nothing and loses nothing.
#[test]
fn identity_of_requests() {
    let mut wrong = Vec::new();
    for (folder, protocol, body) in inputs("requests") {
        let text = std::str::from_utf8(&body).unwrap();
        // Reasoning that another vendor sealed is taken out, and a shape of
        // another protocol is read but never written.
        if text.contains("\"tw1.") || folder.ends_with("tool-result-of-messages-in-responses") {
            continue;
        }
        let request = codec(protocol).decode_request(text).unwrap();
        let (mut out, mut ledger) = (Vec::new(), Ledger::default());
        codec(protocol).encode_request(&request, &Profile::of(protocol), &mut out, &mut ledger);
        let (before, after) = (usual_form(text), usual_form(std::str::from_utf8(&out).unwrap()));
        if before != after || !ledger.is_empty() {
            wrong.push(format!(
                "{} {protocol}\n  {before}\n  {after}\n  {:?}",
                folder.display(),
                ledger.entries(text)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_lost_in_silence() {
    check_pairs("requests", laws::nothing_is_lost_between);
}

#[test]
fn the_same_bytes_every_time() {
    check_pairs("requests", laws::the_same_bytes_between);
}

#[test]
fn identity_of_meaning() {
    check("requests", laws::identity);
}

/// The deprecated spelling of a choice beside `tools` comes back in the other
/// one, and what else stood in it must find a place there.
#[test]
fn a_deprecated_choice_beside_tools_keeps_its_fields() {
    let request = r#"{"model":"m","messages":[],
        "tools":[{"type":"function","function":{"name":"f"}}],
        "function_call":{"name":"f","type":"function","function":1,"allowed_tools":{}}}"#;
    assert_eq!(laws::identity(Protocol::Chat, request), Ok(()));
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
