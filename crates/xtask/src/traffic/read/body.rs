//! The body of a recorded message, in the many ways in which recorders write one down.

use std::borrow::Cow;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::member;

/// The body of a recorded request or response, as the bytes that were sent.
///
/// VCR for Python has `body` as text or as `{string}`, Ruby's as `{encoding, string}` or
/// `{encoding, base64_string}`; pydantic-ai has `parsed_body`, the JSON as YAML; others have the
/// JSON itself as `body` or `json`.
pub(super) fn of_message(message: &Value) -> Option<Vec<u8>> {
    let parsed = member(message, "parsed_body").or_else(|| member(message, "json"));
    if let Some(parsed) = parsed.filter(|parsed| parsed.is_object()) {
        return serde_json::to_vec(parsed).ok();
    }
    let body = match member(message, "body")? {
        Value::String(text) => bytes_of(text),
        body @ Value::Object(members) => {
            let inner = ["string", "text", "content", "data"];
            let text = inner.iter().find_map(|name| members.get(*name)?.as_str());
            if let Some(encoded) = members.get("base64_string").and_then(Value::as_str) {
                from_base64(encoded)?
            } else if let Some(nested) = members.get("string").filter(|inner| inner.is_object()) {
                from_base64(nested.get("base64_string")?.as_str()?)?
            } else if let Some(text) = text.filter(|_| members.len() <= 3 && !is_document(body)) {
                bytes_of(text)
            } else {
                serde_json::to_vec(body).ok()?
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    let body = decompressed(&body).into_owned();
    (!body.is_empty()).then_some(body)
}

/// What a gzip member holds; anything else as it is.
pub(super) fn decompressed(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Cow::Borrowed(bytes);
    }
    let mut content = Vec::new();
    // A recording that was cut off still shows what came before.
    let _ = flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut content);
    Cow::Owned(content)
}

/// Reads base64 with the line breaks that YAML and MIME put into it.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let packed: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(packed).ok()
}

/// A text is itself, unless it is how gzip looks in base64.
fn bytes_of(text: &str) -> Vec<u8> {
    let compressed = text.starts_with("H4sI").then(|| from_base64(text)).flatten();
    compressed.unwrap_or_else(|| text.as_bytes().to_vec())
}

/// Whether an object is a document of an API and not a box around one.
fn is_document(body: &Value) -> bool {
    ["model", "messages", "input", "choices", "output", "error", "role", "type"]
        .iter()
        .any(|name| body.get(name).is_some())
}
