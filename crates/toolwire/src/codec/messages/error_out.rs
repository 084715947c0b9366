//! Errors: from the model to Messages.

use crate::model::{ApiError, ErrorKind};
use crate::wire::Object;

/// Writes an error body and says which HTTP status belongs to it.
pub(super) fn encode(error: &ApiError, out: &mut Vec<u8>) -> u16 {
    let ApiError {
        kind,
        blame: _,
        retry: _,
        message,
        status: _,
        vendor_type,
        code,
        param,
        request_id,
        extra,
    } = error;
    let (status, name) = match kind {
        ErrorKind::InvalidRequest
        | ErrorKind::Unsupported
        | ErrorKind::InvalidToolSchema
        | ErrorKind::ContextLength
        | ErrorKind::ContentFilter => (400, "invalid_request_error"),
        ErrorKind::Auth => (401, "authentication_error"),
        ErrorKind::Quota => (402, "billing_error"),
        ErrorKind::Permission => (403, "permission_error"),
        ErrorKind::NotFound => (404, "not_found_error"),
        ErrorKind::Conflict => (409, "conflict_error"),
        ErrorKind::TooLarge => (413, "request_too_large"),
        ErrorKind::RateLimit => (429, "rate_limit_error"),
        ErrorKind::Overloaded => (529, "overloaded_error"),
        ErrorKind::Timeout => (504, "timeout_error"),
        ErrorKind::Server => (500, "api_error"),
        ErrorKind::Truncated | ErrorKind::UnusableAnswer => (502, "api_error"),
    };
    let mut text = message.clone();
    // The API has no member for the field at fault, so the message names it.
    if let Some(param) = param
        && !text.contains(param.as_str())
    {
        text = format!("{param}: {text}");
    }
    // Clients look for these words, and shorten the conversation.
    if *kind == ErrorKind::ContextLength && !text.starts_with(TOO_LONG) {
        text = format!("{TOO_LONG}: {text}");
    }
    let mut body = Object::new(out);
    body.put("type", "error");
    {
        let mut object = body.object("error");
        object.put("type", name);
        object.put("message", &text);
        let own_type = vendor_type.as_ref().filter(|own| !is_known_type(own));
        if code.is_some() || own_type.is_some() || !extra.is_empty() {
            let mut details = object.object("details");
            details.maybe("error_code", code.as_ref());
            details.maybe("error_type", own_type);
            details.extra_beside(extra, &["error_code", "error_type"]);
        }
    }
    body.maybe("request_id", request_id.as_ref());
    status
}

/// Whether a type of another vendor says no more than the kind of the error, which
/// the API's own type says.
fn is_known_type(kind: &str) -> bool {
    matches!(
        kind,
        "invalid_request_error"
            | "authentication_error"
            | "billing_error"
            | "permission_error"
            | "not_found_error"
            | "conflict_error"
            | "request_too_large"
            | "rate_limit_error"
            | "overloaded_error"
            | "timeout_error"
            | "api_error"
            | "server_error"
            | "insufficient_quota"
            | "requests"
            | "tokens"
    )
}

const TOO_LONG: &str = "prompt is too long";
