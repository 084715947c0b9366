//! What tells that an answer has failed.

use super::chunk::Chunk;
use super::members::is_meaningful;
use crate::codec::chat::wire::string;
use crate::codec::openai::base_resp_in::{self, BASE_RESP};
use crate::model::{ApiError, ErrorKind};

/// Whether the data of an event is an error. Servers that do not nest an error
/// name it as the kind of object, or send a message and no choices.
pub(super) fn is_error(chunk: &Chunk<'_>) -> bool {
    let has = |key: &str| chunk.extra.iter().any(|field| field.key == key);
    let bare = chunk.choices.is_none() && chunk.usage.is_none();
    let kind = chunk.object.as_ref().and_then(string);
    chunk.error.as_ref().is_some_and(is_meaningful)
        || kind.is_some_and(|kind| kind == "error")
        || (bare && (has("message") || has("detail")))
}

/// The error of MiniMax's that stands in place of the choices.
/// vectors/streams/chat-minimax-error-without-choices
pub(super) fn reported_error(chunk: &Chunk<'_>) -> Option<ApiError> {
    if chunk.choices.as_ref().is_some_and(|choices| !choices.is_empty()) {
        return None;
    }
    base_resp_in::error(&chunk.extra.iter().find(|field| field.key == BASE_RESP)?.value)
}

/// The error of an answer that was cut off.
pub(super) fn truncated(message: &str) -> ApiError {
    let mut error = ApiError::new(ErrorKind::Truncated, message);
    error.code = Some("upstream_truncated".to_owned());
    error
}

/// The error of an answer whose arguments belong to no call, or to any of several.
pub(super) fn unnamed_call() -> ApiError {
    let message = "The upstream sent the arguments of a call that names no tool.";
    ApiError::new(ErrorKind::Server, message)
}
