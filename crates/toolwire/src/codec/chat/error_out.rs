//! Errors: writing OpenAI's one shape.

pub(super) use crate::codec::openai::error_out::encode;
