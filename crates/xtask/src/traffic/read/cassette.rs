//! Cassettes: requests and responses in YAML or JSON, as VCR and its descendants keep them.

use serde_json::Value;

use super::body::of_message;
use super::{Exchange, address, member};

/// The exchanges of a cassette. Python's VCR lists `interactions`, Ruby's `http_interactions`;
/// langchain lists `requests` and `responses` apart.
pub(super) fn exchanges(cassette: &Value) -> Vec<Exchange> {
    let lists = ["interactions", "http_interactions"];
    if let Some(list) = lists.iter().find_map(|name| cassette.get(*name)?.as_array()) {
        return list.iter().enumerate().map(|(at, both)| exchange(at, both)).collect();
    }
    let list = |name| cassette.get(name).and_then(Value::as_array);
    if let (Some(requests), Some(responses)) = (list("requests"), list("responses")) {
        let pairs = requests.iter().zip(responses).enumerate();
        return pairs.map(|(at, (request, response))| pair(at, request, response)).collect();
    }
    Vec::new()
}

/// One exchange: `{request, response}`, or a line of a batch file, `{url, body}`.
pub(super) fn exchange(at: usize, both: &Value) -> Exchange {
    match (member(both, "request"), member(both, "response")) {
        (None, Some(response)) => pair(at, both, response),
        (Some(request), response) => pair(at, request, response.unwrap_or(&Value::Null)),
        (None, None) => pair(at, both, &Value::Null),
    }
}

/// Whether an object looks like one exchange.
pub(super) fn is_exchange(value: &Value) -> bool {
    let message = |name| member(value, name).is_some_and(Value::is_object);
    let is_batch = member(value, "url").is_some() && message("body");
    (message("request") && message("response"))
        || is_batch
        || (message("response") && member(value, "custom_id").is_some())
}

fn pair(at: usize, request: &Value, response: &Value) -> Exchange {
    let url = member(request, "uri").or_else(|| member(request, "url")).and_then(Value::as_str);
    Exchange {
        entry: at.to_string(),
        url: url.and_then(address),
        status: status(response),
        request: of_message(request),
        answer: of_message(response),
        document: None,
    }
}

/// `status: {code: 200}`, `status: 200`, `status_code: 200` or `code: 200`.
fn status(response: &Value) -> Option<u16> {
    let status =
        ["status", "status_code", "code"].iter().find_map(|name| member(response, name))?;
    let number = status.get("code").unwrap_or(status);
    number.as_u64().and_then(|number| u16::try_from(number).ok())
}
