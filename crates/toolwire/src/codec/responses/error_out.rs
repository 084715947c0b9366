//! Errors: model to wire. OpenAI's protocols share the shape.

use crate::codec::openai::error_out::is_own_code;
pub(super) use crate::codec::openai::error_out::{code, detail, encode};
use crate::model::{ApiError, ErrorKind};
use crate::wire::Object;

/// The members of the event that says why a stream fails. The API reference has the first
/// three. OpenAI itself nests them, and the SDKs and Open Responses expect them nested.
pub(super) fn write_event(error: &ApiError, event: &mut Object<'_>) {
    event.put("code", &code(error));
    event.put("message", &error.message);
    event.put("param", &error.param);
    detail(error, event.object("error"));
}

/// Writes why an answer failed: a code, a message and what else the vendor says about it.
pub(super) fn write_failure(error: &ApiError, mut detail: Object<'_>) {
    detail.put("code", failure_code(error));
    detail.put("message", &error.message);
    detail.extra_beside(&error.extra, &["code", "message"]);
}

/// Whether an answer that failed has no place for something that is known of its error.
pub(super) fn failure_loses(error: &ApiError) -> bool {
    let ApiError {
        kind: _,
        blame: _,
        retry: _,
        message: _,
        status,
        vendor_type,
        code,
        param,
        request_id,
        extra: _,
    } = error;
    let vendors = code.as_deref().filter(|code| !is_own_code(code));
    let is_other_code = vendors.is_some_and(|code| code != failure_code(error));
    is_other_code
        || status.is_some()
        || vendor_type.is_some()
        || param.is_some()
        || request_id.is_some()
}

/// The code of the error inside a failed answer. Unlike that of an error body it
/// is one of a published list, and clients refuse any other.
fn failure_code(error: &ApiError) -> &str {
    let own = code(error);
    if PUBLISHED.contains(&own) || OBSERVED.contains(&own) {
        return own;
    }
    match error.kind {
        ErrorKind::RateLimit | ErrorKind::Quota => "rate_limit_exceeded",
        ErrorKind::InvalidRequest
        | ErrorKind::Unsupported
        | ErrorKind::InvalidToolSchema
        | ErrorKind::ContextLength
        | ErrorKind::TooLarge
        | ErrorKind::ContentFilter => "invalid_prompt",
        ErrorKind::Auth
        | ErrorKind::Permission
        | ErrorKind::NotFound
        | ErrorKind::Conflict
        | ErrorKind::Overloaded
        | ErrorKind::Timeout
        | ErrorKind::Server
        | ErrorKind::Truncated
        | ErrorKind::UnusableAnswer => "server_error",
    }
}

/// The codes of the published type.
const PUBLISHED: [&str; 21] = [
    "server_error",
    "rate_limit_exceeded",
    "invalid_prompt",
    "data_residency_mismatch",
    "bio_policy",
    "misalignment_policy_violation",
    "vector_store_timeout",
    "invalid_image",
    "invalid_image_format",
    "invalid_base64_image",
    "invalid_image_url",
    "image_too_large",
    "image_too_small",
    "image_parse_error",
    "image_content_policy_violation",
    "invalid_image_mode",
    "image_file_too_large",
    "unsupported_image_media_type",
    "empty_image_file",
    "failed_to_download_image",
    "image_file_not_found",
];

/// Codes that the API sends although its type does not list them. Codex acts on
/// each of them: it shortens the conversation, asks for credit or waits.
const OBSERVED: [&str; 6] = [
    "context_length_exceeded",
    "insufficient_quota",
    "usage_not_included",
    "cyber_policy",
    "server_is_overloaded",
    "slow_down",
];
