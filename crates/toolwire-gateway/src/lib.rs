//! HTTP in, HTTP out: unmodified clients of any tool-calling protocol, in front
//! of models that speak any of them.
//!
//! The gateway never executes a tool; it does not depend on anything that
//! could.

mod body;
pub mod config;
pub mod count;
mod endpoints;
mod guard;
mod health;
mod live;
mod models;
mod observe;
mod relay;
mod retry;
mod route;
mod server;
mod upstream;

pub use live::{Source, StartError};
pub use server::{Gateway, Handle, Setup, serve};
