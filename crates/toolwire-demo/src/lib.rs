//! The demo model: a deterministic stand-in for a real model. It needs no key
//! and no network, and gives the same answer every time.
//!
//! It calls the tool that best matches the user's words, with arguments built
//! from the tool's schema and those words, and then quotes the results. A
//! complete tool loop works before any account exists.
//!
//! What a user writes never becomes a command, nor the name of a file that a
//! tool could change: see `arguments`.

#![deny(missing_docs)]

mod arguments;
mod chat_response;
mod prompt;
mod reply;
mod text;
mod tool_choice;

use toolwire::codec::codec;
use toolwire::model::{ApiError, ErrorKind, Protocol, Request};

use crate::chat_response::ChatResponse;
use crate::reply::Reply;

/// The protocol that the demo model speaks. A request in another protocol has
/// to be translated first, as for any upstream.
pub const PROTOCOL: Protocol = Protocol::Chat;

/// The demo model's HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The content type of the body.
    pub content_type: &'static str,
    /// The body, in the chunks in which it is sent.
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

/// Answers a request whose body is in `protocol`. Anything but [`PROTOCOL`] is
/// refused with an error in the caller's protocol.
pub fn respond(protocol: Protocol, body: &[u8], estimator: TokenEstimator) -> Response {
    match chat_response(protocol, body, estimator) {
        Ok(response) => response,
        Err(message) => refusal(protocol, message),
    }
}

/// Answers a request. An error is a sentence for the client.
fn chat_response(
    protocol: Protocol,
    body: &[u8],
    estimator: TokenEstimator,
) -> Result<Response, String> {
    if protocol != PROTOCOL {
        return Err(format!("The demo model speaks {PROTOCOL}, not {protocol}."));
    }
    let text = std::str::from_utf8(body).map_err(|_| "The request is not UTF-8.".to_owned())?;
    let request = codec(PROTOCOL)
        .decode_request(text)
        .map_err(|error| format!("The request cannot be read: {error}."))?;
    if request.output.n.is_some_and(|n| n.value > 1) {
        return Err("The demo model gives one answer; remove `n`.".to_owned());
    }
    let reply = Reply::to(&request, estimator.text)?;
    let response = ChatResponse {
        id_seed: text,
        model: model_name(&request),
        legacy_functions: request.legacy_functions,
        input_tokens: (estimator.request)(&request),
        output_tokens: reply.tokens(estimator.text),
        reply,
    };
    if request.stream.on.is_some_and(|on| on.value) {
        let include_usage = request.stream.usage.is_some_and(|usage| usage.value);
        let chunks = response.stream(include_usage);
        return Ok(Response { status: 200, content_type: "text/event-stream", chunks });
    }
    Ok(Response { status: 200, content_type: JSON, chunks: vec![response.completion()] })
}

fn model_name(request: &Request<'_>) -> String {
    let name = request.model.as_ref().map(|model| model.decode().into_owned());
    name.unwrap_or_else(|| "demo".to_owned())
}

fn refusal(protocol: Protocol, message: String) -> Response {
    let mut body = Vec::new();
    let error = ApiError::new(ErrorKind::InvalidRequest, message);
    let status = (codec(protocol).encode_error)(&error, &mut body);
    Response { status, content_type: JSON, chunks: vec![body] }
}

const JSON: &str = "application/json";

#[cfg(test)]
mod tests;
