//! Errors: reading OpenAI's one shape.

pub(super) use crate::codec::openai::error_in::decode;
