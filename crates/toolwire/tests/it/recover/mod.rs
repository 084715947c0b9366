//! Calls that a model wrote as text.

pub(crate) mod dialects;
mod laws;
mod quoted;
mod random;
mod shapes;
