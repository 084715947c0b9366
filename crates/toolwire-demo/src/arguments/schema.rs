//! Reading a JSON Schema.

use serde_json::Value;

/// The elements of an array. Anything else has none.
pub(super) fn elements(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The branch of a union to fill in: the first that is not `null`.
pub(super) fn first_branch(union: Option<&Value>) -> Option<&Value> {
    elements(union).iter().find(|branch| schema_type(branch) != "null")
}

/// A schema's type. Of several, it is the first that is not `null`. A schema
/// without a type has the one that its keywords suggest.
pub(super) fn schema_type(schema: &Value) -> &str {
    let declared = schema.get("type");
    let list = elements(declared);
    let single = declared.and_then(Value::as_str);
    let mut types = single.into_iter().chain(list.iter().filter_map(Value::as_str));
    if let Some(found) = types.find(|name| *name != "null").or(single) {
        return found;
    }
    let has = |key| schema.get(key).is_some();
    if has("properties") || has("allOf") {
        "object"
    } else if has("items") {
        "array"
    } else if has("minimum") || has("maximum") {
        "number"
    } else {
        ""
    }
}
