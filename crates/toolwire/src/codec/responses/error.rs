//! Errors: OpenAI's one shape, which [`openai_error`] knows.

pub(super) use crate::codec::openai_error::{code, decode, detail, encode, of_detail, unexplained};
