//! Errors: OpenAI's one shape, which [`crate::codec::openai`] knows.

pub(super) use crate::codec::openai::error_in::decode;
pub(super) use crate::codec::openai::error_out::encode;
