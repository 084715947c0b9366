//! A JSON file: one document, one exchange, a list of either, a cassette or a HAR.

use serde_json::Value;

use super::{Exchange, cassette, chunks, har};

/// The exchanges of a JSON file. `None` if it is not JSON.
pub(super) fn exchanges(text: &str) -> Option<Vec<Exchange>> {
    let value: Value = serde_json::from_str(text).ok()?;
    if let Some(found) = har::exchanges(&value) {
        return Some(found);
    }
    let found = cassette::exchanges(&value);
    if !found.is_empty() {
        return Some(found);
    }
    Some(match &value {
        Value::Array(list) => chunks::of_values(list),
        value if cassette::is_exchange(value) => vec![cassette::exchange(0, value)],
        // The bytes themselves, because within one protocol they must pass as they are.
        Value::Object(_) => vec![Exchange::document("", text.as_bytes().to_vec())],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    })
}
