//! The toolwire gateway: clients of any tool-calling protocol on one side,
//! models that speak any of them on the other.
//!
//! The gateway never runs a tool, and it depends on nothing that could.

mod active_config;
pub mod config;
mod connect_check;
mod cors;
mod endpoints;
#[cfg(test)]
mod growth;
mod guard;
mod health;
mod heavy_work;
pub mod identity;
mod memory;
mod models;
mod observe;
mod offline;
mod random;
mod relay;
mod response_body;
mod retry;
mod route;
mod secret_mask;
mod server;
mod state;
mod stored;
mod upstream;
mod wake_timer;

pub use active_config::StartError;
pub use connect_check::{ConnectReport, check_upstreams};
pub use endpoints::{passed_routes, routes};
pub use models::{ModelReport, Report, UpstreamReport, report};
pub use offline::OfflineGateway;
pub use server::{Gateway, Handle, Setup, serve};
pub use state::ConfigLoader;
