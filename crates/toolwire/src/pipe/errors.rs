//! Errors of an upstream whose stream cannot be read.

use crate::model::{ApiError, ErrorKind};
use crate::translate::Error;
use crate::wire::ReadError;
use crate::wire::sse::FrameError;

/// It ended in the middle.
pub(crate) fn truncated() -> ApiError {
    let mut error = ApiError::new(
        ErrorKind::Truncated,
        "The upstream's stream ended before its answer did. What came so far is not complete.",
    );
    error.code = Some("upstream_truncated".to_owned());
    error
}

/// It cannot be cut into events.
pub(crate) fn unframed(error: FrameError) -> ApiError {
    wrong(format!("The upstream's stream is not valid: {error}."))
}

/// One of its events cannot be read.
pub(crate) fn unreadable(error: &ReadError, number: usize) -> ApiError {
    wrong(format!("The upstream's event {number} is not valid: {error}."))
}

/// It is a whole answer, which cannot be read.
pub(super) fn unusable(error: &Error) -> ApiError {
    wrong(format!("The upstream's answer is not valid: {error}."))
}

fn wrong(message: String) -> ApiError {
    let mut error = ApiError::new(ErrorKind::Server, message);
    error.code = Some("upstream_invalid".to_owned());
    error
}
