//! Errors: wire to model. OpenAI's protocols share the shape.

pub(super) use crate::codec::openai::error_in::{decode, of_detail, unexplained};
