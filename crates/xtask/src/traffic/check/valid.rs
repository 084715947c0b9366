//! Whether an output is what its protocol's published types say: members that must be there, their
//! types, and the values of enumerations.
//!
//! The types are in `types/`, one file for each protocol, in a notation that reads like the
//! documents themselves. A text is a type: `string`, `integer`, `number`, `boolean`, `object`,
//! `any`, `=a|b` for an enumeration, each with a `?` if it may be null, and `#name` for a type with
//! a name. A member whose name ends in `?` may be absent. `{"@type": {…}}` is told apart by that
//! member; `{"@any": […]}` is any of the list. Efforts of OpenAI are any text: its two protocols
//! share the words, models bring new ones, and they pass as they are.

use std::sync::LazyLock;

use serde_json::Value;
use toolwire::Protocol;

use super::Failure;
use crate::traffic::sse;

/// What is wrong with a document of the kind `name`.
pub(super) fn document(protocol: Protocol, name: &str, document: &Value) -> Option<Failure> {
    let types = types(protocol);
    let wanted = types.get(name)?;
    let wrong = fits(types, wanted, document, "").err()?;
    Some(Failure::new(format!("not valid: {}", wrong.what), wrong.found))
}

/// What is wrong with the events of a stream.
pub(super) fn stream(protocol: Protocol, body: &[u8]) -> Option<Failure> {
    let mut expected = 0_u64;
    for event in sse::events(body) {
        if event.data.trim() == "[DONE]" {
            continue;
        }
        let Ok(document) = serde_json::from_str::<Value>(&event.data) else {
            return Some(Failure::new("an event is not JSON", event.data));
        };
        if let Some(failure) = self::document(protocol, "event", &document) {
            return Some(failure);
        }
        if let Some(kind) = document.get("type").and_then(Value::as_str)
            && event.name.as_deref() != Some(kind)
        {
            return Some(Failure::new("the name of an event is not its type", event.data));
        }
        if let Some(number) = document.get("sequence_number").and_then(Value::as_u64) {
            if number != expected {
                return Some(Failure::new("sequence numbers have a gap", event.data));
            }
            expected += 1;
        }
    }
    None
}

/// The published types of a protocol.
fn types(protocol: Protocol) -> &'static Value {
    static CHAT: LazyLock<Value> = LazyLock::new(|| parsed(include_str!("../types/chat.json")));
    static RESPONSES: LazyLock<Value> =
        LazyLock::new(|| parsed(include_str!("../types/responses.json")));
    static MESSAGES: LazyLock<Value> =
        LazyLock::new(|| parsed(include_str!("../types/messages.json")));
    match protocol.as_str() {
        "chat" => &CHAT,
        "responses" => &RESPONSES,
        _ => &MESSAGES,
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

struct Wrong {
    /// The place and what is wanted there.
    what: String,
    found: String,
}

fn fits(types: &Value, wanted: &Value, value: &Value, at: &str) -> Result<(), Wrong> {
    let wrong = |wanted: &str| {
        let found: String = value.to_string().chars().take(120).collect();
        Err(Wrong { what: format!("{at} should be {wanted}"), found })
    };
    match wanted {
        Value::String(name) => match name.strip_prefix('#') {
            Some(name) => match types.get(name) {
                Some(wanted) => fits(types, wanted, value, at),
                None => wrong(&format!("a type {name}, which is not written down")),
            },
            None if is(name, value) => Ok(()),
            None => wrong(name),
        },
        Value::Array(wanted) => {
            let (Some(wanted), Some(list)) = (wanted.first(), value.as_array()) else {
                return wrong("a list");
            };
            list.iter().try_for_each(|element| fits(types, wanted, element, &format!("{at}/*")))
        }
        Value::Object(wanted) => {
            if let Some(Value::Array(any)) = wanted.get("@any") {
                let fitting = any.iter().any(|one| fits(types, one, value, at).is_ok());
                return if fitting { Ok(()) } else { wrong("one of several types") };
            }
            let Some(members) = value.as_object() else { return wrong("an object") };
            for (name, wanted) in wanted {
                if let Some(tag) = name.strip_prefix('@') {
                    let word = members.get(tag).and_then(Value::as_str).unwrap_or_default();
                    let Some(wanted) = wanted.get(word) else {
                        return wrong(&format!("of a known {tag}, not {word:?}"));
                    };
                    fits(types, wanted, value, &format!("{at}({word})"))?;
                    continue;
                }
                let optional = name.strip_suffix('?');
                match (members.get(optional.unwrap_or(name)), optional) {
                    (Some(member), _) => {
                        let at = format!("{at}/{}", optional.unwrap_or(name));
                        fits(types, wanted, member, &at)?;
                    }
                    (None, Some(_)) => {}
                    (None, None) => return wrong(&format!("with a member {name}")),
                }
            }
            Ok(())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Whether a value is of a plain type.
fn is(wanted: &str, value: &Value) -> bool {
    let (wanted, nullable) = match wanted.strip_suffix('?') {
        Some(wanted) => (wanted, true),
        None => (wanted, false),
    };
    if nullable && value.is_null() {
        return true;
    }
    if let Some(words) = wanted.strip_prefix('=') {
        return value.as_str().is_some_and(|word| words.split('|').any(|known| known == word));
    }
    match wanted {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "list" => value.is_array(),
        _ => true,
    }
}
