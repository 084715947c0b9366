//! Errors: OpenAI's one shape, which [`openai::error`] knows.

pub(super) use crate::codec::openai::error::{decode, encode};
