//! The laws of translation, over every vector and every pair of protocols.

use serde_json::Value;
use toolwire::{CODECS, Codec, Ledger, Profile, codec};

use crate::json::without_nulls;
use crate::meaning;
use crate::vectors::inputs;

/// Decoding and encoding within one protocol changes nothing and loses nothing.
#[test]
fn identity_of_requests() {
    let mut wrong = Vec::new();
    for (folder, protocol, body) in inputs("requests") {
        let text = std::str::from_utf8(&body).unwrap();
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

/// The completeness law: whatever a request says is said by its translation, or
/// the ledger has a line for it.
#[test]
fn nothing_is_lost_in_silence() {
    let mut wrong = Vec::new();
    for (folder, from, body) in inputs("requests") {
        let text = std::str::from_utf8(&body).unwrap();
        let request = codec(from).decode_request(text).unwrap();
        let before = meaning::request(&request);
        for to in others(from) {
            let (out, ledger) = encode(to, &request);
            let entries = ledger.entries(text);
            let translated = std::str::from_utf8(&out).unwrap();
            let back = to
                .decode_request(translated)
                .unwrap_or_else(|error| panic!("{translated}: {error}"));
            for (atom, path) in meaning::lost(&before, &meaning::request(&back), text, &entries) {
                wrong.push(format!(
                    "{} to {}: {} {:?} at {path}",
                    folder.display(),
                    to.protocol(),
                    atom.class,
                    atom.value
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} silent losses\n{}", wrong.len(), wrong.join("\n"));
}

/// The same input gives the same bytes.
#[test]
fn the_same_bytes_every_time() {
    for (_, from, body) in inputs("requests") {
        let text = std::str::from_utf8(&body).unwrap();
        for to in others(from) {
            let once = encode(to, &codec(from).decode_request(text).unwrap());
            let again = encode(to, &codec(from).decode_request(text).unwrap());
            assert_eq!(once.0, again.0);
            assert_eq!(once.1.entries(text), again.1.entries(text));
        }
    }
}

fn others(from: toolwire::Protocol) -> impl Iterator<Item = &'static dyn Codec> {
    CODECS.into_iter().filter(move |codec| codec.protocol() != from)
}

fn encode(to: &dyn Codec, request: &toolwire::model::Request<'_>) -> (Vec<u8>, Ledger) {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    to.encode_request(request, &Profile::of(to.protocol()), &mut out, &mut ledger);
    (out, ledger)
}

/// The document as a tree, with explicit nulls gone and content that is one
/// bare text as a string: each says the same as the other.
fn usual_form(text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    bare_text(without_nulls(&value))
}

fn bare_text(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: serde_json::Map<String, Value> =
                members.into_iter().map(|(key, value)| (key, bare_text(value))).collect();
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
