//! The model that is built in: no key, no network, the same answer every time.
//!
//! It calls the tool that fits the user's words best, with arguments made from
//! the tool's schema and those words, and quotes the results it gets back. So a
//! complete tool loop can be seen before any account exists.
//!
//! What a user writes never becomes a command, nor the name of a file that a
//! tool could change: see `fill`.

mod arguments;
mod chat_response;
mod json;
mod prompt;
mod reply;
mod tool_choice;

use toolwire::codec::codec;
use toolwire::model::{ApiError, ErrorKind, Protocol, Request};

use self::reply::decide;

/// What the demo model sends back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// The body, in the pieces in which it is sent.
    pub chunks: Vec<Vec<u8>>,
}

/// Estimates tokens. The caller provides the functions, so that the demo model
/// reports the same usage as the rest of the program.
#[derive(Clone, Copy, Debug)]
pub struct TokenEstimator {
    /// The tokens of a whole request.
    pub request: fn(&Request<'_>) -> u64,
    /// The tokens of a text.
    pub text: fn(&str) -> u64,
}

/// Answers a request of the Chat protocol. The other protocols come here
/// translated, as to any upstream; `protocol` is what the caller speaks, and a
/// request that does not speak Chat is refused.
pub fn answer(protocol: Protocol, body: &[u8], estimator: TokenEstimator) -> Answer {
    if protocol != Protocol::Chat {
        return refuse(protocol, format!("The demo model speaks chat, not {protocol}."));
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return refuse(protocol, "The request is not UTF-8.".to_owned());
    };
    let request = match codec(Protocol::Chat).decode_request(text) {
        Ok(request) => request,
        Err(error) => return refuse(protocol, format!("The request cannot be read: {error}.")),
    };
    if request.output.n.is_some_and(|n| n.value > 1) {
        return refuse(protocol, "The demo model gives one answer; remove `n`.".to_owned());
    }
    let said = match decide(&request, estimator.text) {
        Ok(said) => said,
        Err(message) => return refuse(protocol, message),
    };
    let reply = chat_response::Reply {
        seed: text,
        model: model(&request),
        legacy: request.legacy_functions,
        input: (estimator.request)(&request),
        tokens: estimator.text,
        said,
    };
    if request.stream.on.is_some_and(|on| on.value) {
        let usage = request.stream.usage.is_some_and(|usage| usage.value);
        return Answer {
            status: 200,
            content_type: "text/event-stream",
            chunks: reply.events(usage),
        };
    }
    Answer { status: 200, content_type: JSON, chunks: vec![reply.document()] }
}

fn model(request: &Request<'_>) -> String {
    let name = request.model.as_ref().map(|model| model.decode().into_owned());
    name.unwrap_or_else(|| "demo".to_owned())
}

fn refuse(protocol: Protocol, message: String) -> Answer {
    let mut body = Vec::new();
    let error = ApiError::new(ErrorKind::InvalidRequest, message);
    let status = codec(protocol).encode_error(&error, &mut body);
    Answer { status, content_type: JSON, chunks: vec![body] }
}

const JSON: &str = "application/json";

#[cfg(test)]
mod tests;
