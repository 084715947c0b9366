//! Errors: reading OpenAI's one shape, and answers that were broken off.

use super::response_in;
use crate::codec::openai;
use crate::model::ApiError;
use crate::wire::ReadError;

/// Reads an error body, or an answer that says in its `finish_reason` that the vendor
/// broke it off.
pub(super) fn decode(status: Option<u16>, body: &str) -> Result<ApiError, ReadError> {
    let is_answer = status.is_none_or(|status| status < 400);
    match is_answer.then(|| broken_off(body)).flatten() {
        Some(error) => Ok(error),
        None => openai::error_in::decode(status, body),
    }
}

fn broken_off(body: &str) -> Option<ApiError> {
    response_in::decode(body).ok()?.failure().cloned()
}
