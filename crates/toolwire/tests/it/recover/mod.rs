//! Calls that a model wrote as text.

mod dialects;
mod laws;
mod quoted;
mod random;
mod shapes;
