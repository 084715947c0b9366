//! Errors: OpenAI's one shape, which [`openai::error`] knows.

pub(super) use crate::codec::openai::error::{
    code, decode, detail, encode, of_detail, unexplained,
};
