//! Calls that a model wrote as text.

pub(crate) mod dialects;
mod engines;
mod held;
mod laws;
mod quoted;
mod random;
mod shapes;
mod smuggled;
