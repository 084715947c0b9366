//! What can be known of the gateway from outside: a line per request, and
//! counters.
//!
//! Nothing here ever holds what was said. The labels of the counters come from
//! closed sets, so no client can make them many.

mod log;
mod metrics;
mod request_log;

pub(crate) use log::Log;
pub(crate) use metrics::{Meters, Metrics};
pub(crate) use request_log::{Access, Ending};
