//! HTTP in, HTTP out: unmodified clients of any tool-calling protocol, in front
//! of models that speak any of them.
//!
//! The gateway never executes a tool; it does not depend on anything that
//! could.

pub mod config;
pub mod count;
pub mod demo;
mod stand_in;

pub use stand_in::{Gateway, Handle, Setup, Source, StartError, serve};
