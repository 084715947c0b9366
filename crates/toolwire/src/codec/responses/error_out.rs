//! Errors: model to wire. OpenAI's protocols share the shape.

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

/// The code of the error inside a failed answer. Unlike that of an error body it
/// is one of a published list, and clients refuse any other.
pub(super) fn failure_code(error: &ApiError) -> &str {
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
