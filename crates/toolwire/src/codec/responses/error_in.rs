//! Errors: wire to model. OpenAI's protocols share the shape.

use super::response_in;
use crate::codec::openai::error_in;
pub(super) use crate::codec::openai::error_in::{of_detail, unexplained};
use crate::model::{ApiError, Stop};
use crate::wire::{ReadError, Reader};

/// Reads an error body, or an answer that failed.
pub(super) fn decode(status: Option<u16>, body: &str) -> Result<ApiError, ReadError> {
    match failed_answer(body) {
        Some(failure) => Ok(failure),
        None => error_in::decode(status, body),
    }
}

/// How an answer failed, if it is one.
fn failed_answer(body: &str) -> Option<ApiError> {
    let object = Reader::new(body).tag("object").ok()??;
    let response = (object == "response").then(|| response_in::decode(body).ok())??;
    let stop = response.candidates.into_iter().next()?.stop.value;
    if let Stop::Failed(failure) = stop { Some(*failure) } else { None }
}
