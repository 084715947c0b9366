//! OpenAI's error body: model to wire.

use crate::model::{ApiError, ErrorKind, Retry};
use crate::wire::Object;

/// Writes an error body and says which status belongs to it.
pub(crate) fn encode(error: &ApiError, out: &mut Vec<u8>) -> u16 {
    let mut object = Object::new(out);
    detail(error, object.object("error"));
    // OpenAI sends it as a header, which a body from elsewhere does not have.
    object.maybe("request_id", error.request_id.as_ref());
    http_status(error.kind, error.status)
}

/// Writes what an error body says about its error.
pub(crate) fn detail(error: &ApiError, mut detail: Object<'_>) {
    let ApiError {
        kind,
        blame: _,
        retry,
        message,
        status: _,
        vendor_type,
        code: _,
        param,
        request_id: _,
        extra,
    } = error;
    match retry {
        // Codex reads the time to wait from the message.
        Retry::After(seconds)
            if *kind == ErrorKind::RateLimit && !message.contains("try again in") =>
        {
            let sentence = format!("{} Please try again in {seconds}s.", message.trim_end());
            detail.put("message", sentence.trim_start());
        }
        Retry::Never | Retry::Later | Retry::After(_) => detail.put("message", message),
    }
    match vendor_type {
        Some(own) if is_openai_type(own) => detail.put("type", own),
        Some(_) | None => detail.put("type", openai_error(*kind).vendor_type),
    }
    detail.put("param", &param.as_ref());
    let code = body_code(error);
    detail.put("code", &code);
    detail.extra_beside(extra, &["message", "type", "param", "code"]);
}

/// The code of the error inside a failed answer, which must have one.
pub(crate) fn code(error: &ApiError) -> &str {
    // Clients only know the published codes, so the message says which side
    // failed.
    let published = body_code(error).filter(|code| !is_own_code(code));
    let is_refused = matches!(error.kind, ErrorKind::InvalidRequest | ErrorKind::Unsupported);
    let usual_code = openai_error(error.kind).code.unwrap_or("server_error");
    published.unwrap_or(if is_refused { "invalid_prompt" } else { usual_code })
}

/// Whether a code is toolwire's. No vendor says these.
pub(crate) fn is_own_code(code: &str) -> bool {
    code.starts_with("upstream_")
}

/// Whether a type is one of OpenAI's rather than Anthropic's. Unknown types are
/// a vendor's own and are kept.
fn is_openai_type(kind: &str) -> bool {
    !matches!(
        kind,
        "authentication_error"
            | "billing_error"
            | "permission_error"
            | "not_found_error"
            | "conflict_error"
            | "request_too_large"
            | "rate_limit_error"
            | "overloaded_error"
            | "timeout_error"
            | "api_error"
    )
}

/// The code of an error. If its vendor has no codes, it is OpenAI's code for this
/// kind of error.
fn body_code(error: &ApiError) -> Option<&str> {
    let own = error.vendor_type.as_deref().is_some_and(is_openai_type);
    match &error.code {
        Some(code) => Some(code),
        // Clients act on these codes, and some vendors only say them in words.
        None if matches!(error.kind, ErrorKind::ContextLength | ErrorKind::InvalidToolSchema) => {
            openai_error(error.kind).code
        }
        None if own && error.vendor_type.as_deref() != Some("invalid_request_error") => None,
        // Both vendors have this type, so it does not tell them apart.
        None if own && error.kind == ErrorKind::InvalidRequest => None,
        None => openai_error(error.kind).code,
    }
}

fn http_status(kind: ErrorKind, status: Option<u16>) -> u16 {
    match (kind, status) {
        // A status that says more than the kind of error is kept.
        (ErrorKind::InvalidRequest, Some(own)) if CLIENT_FAULTS.contains(&own) => own,
        (ErrorKind::Server, Some(own)) if own >= 500 && own != 529 => own,
        (_kind, _status) => openai_error(kind).status,
    }
}

/// How OpenAI's API reports a kind of error.
struct OpenAiError {
    status: u16,
    vendor_type: &'static str,
    code: Option<&'static str>,
}

fn openai_error(kind: ErrorKind) -> OpenAiError {
    let (invalid, failed) = ("invalid_request_error", "server_error");
    let (status, vendor_type, code) = match kind {
        ErrorKind::InvalidRequest => (400, invalid, None),
        ErrorKind::Unsupported => (400, invalid, Some("unsupported_parameter")),
        ErrorKind::InvalidToolSchema => (400, invalid, Some("invalid_function_parameters")),
        ErrorKind::ContextLength => (400, invalid, Some("context_length_exceeded")),
        ErrorKind::ContentFilter => (400, invalid, Some("content_filter")),
        ErrorKind::Auth => (401, invalid, Some("invalid_api_key")),
        ErrorKind::Permission => (403, invalid, Some("permission_denied")),
        ErrorKind::NotFound => (404, invalid, Some("not_found")),
        ErrorKind::Conflict => (409, invalid, None),
        ErrorKind::TooLarge => (413, invalid, Some("request_too_large")),
        ErrorKind::Quota => (429, "insufficient_quota", Some("insufficient_quota")),
        ErrorKind::RateLimit => (429, "requests", Some("rate_limit_exceeded")),
        ErrorKind::Server => (500, failed, Some("server_error")),
        ErrorKind::Truncated | ErrorKind::UnusableAnswer => (502, failed, Some("server_error")),
        ErrorKind::Overloaded => (503, failed, Some("server_is_overloaded")),
        ErrorKind::Timeout => (504, failed, Some("timeout")),
    };
    OpenAiError { status, vendor_type, code }
}

const CLIENT_FAULTS: std::ops::RangeInclusive<u16> = std::ops::RangeInclusive::new(400, 499);
