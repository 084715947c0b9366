//! HTTP in, HTTP out: unmodified clients of any tool-calling protocol, in front
//! of models that speak any of them.
//!
//! The gateway never executes a tool; it does not depend on anything that
//! could.

mod active_config;
pub mod config;
pub mod count;
pub mod demo;
mod endpoints;
mod guard;
mod health;
mod models;
mod observe;
mod relay;
mod response_body;
mod retry;
mod route;
mod server;
mod upstream;

pub use active_config::{Source, StartError};
pub use server::{Gateway, Handle, Setup, serve};
