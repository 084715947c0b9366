//! HAR: what a browser or a debugging proxy saves.

use serde_json::Value;

use super::body::{decompressed, from_base64};
use super::{Exchange, address};

/// The exchanges of a HAR file. `None` if it is none.
pub(super) fn exchanges(har: &Value) -> Option<Vec<Exchange>> {
    let entries = har.pointer("/log/entries")?.as_array()?;
    Some(entries.iter().enumerate().map(|(at, entry)| exchange(at, entry)).collect())
}

fn exchange(at: usize, entry: &Value) -> Exchange {
    let text = |pointer| entry.pointer(pointer).and_then(Value::as_str);
    let sent = text("/request/postData/text").map(|text| text.as_bytes().to_vec());
    let answer = text("/response/content/text").and_then(|content| {
        match text("/response/content/encoding") {
            Some("base64") => from_base64(content),
            Some(_) | None => Some(content.as_bytes().to_vec()),
        }
    });
    let status = entry.pointer("/response/status").and_then(Value::as_u64);
    Exchange {
        entry: at.to_string(),
        url: text("/request/url").and_then(address),
        status: status.and_then(|status| u16::try_from(status).ok()),
        request: sent.filter(|body| !body.is_empty()),
        answer: answer.map(|body| decompressed(&body).into_owned()).filter(|body| !body.is_empty()),
        document: None,
    }
}
