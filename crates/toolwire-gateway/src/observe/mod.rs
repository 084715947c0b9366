//! Logs and metrics: one line for each request, a few about the gateway itself, and
//! counters.
//!
//! Neither ever holds the content of a request or a response. The labels of the
//! counters come from closed sets, so no client can add to them.

mod event_line;
mod figures;
#[cfg(test)]
pub(crate) mod growth;
mod line;
mod log;
mod metrics;
mod notes;
mod reason;
mod request_log;

pub(crate) use event_line::write_event;
pub(crate) use log::Log;
pub(crate) use metrics::{Metrics, UpstreamMetrics};
pub(crate) use notes::{CLIENT_REQUEST_ID, client_request_id};
pub(crate) use reason::Reason;
pub(crate) use request_log::{Outcome, RequestLog};
