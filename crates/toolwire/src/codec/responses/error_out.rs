//! Errors: model to wire. OpenAI's protocols share the shape.

pub(super) use crate::codec::openai::error_out::{code, detail, encode};
