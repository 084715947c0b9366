//! What can be known of the gateway from outside: a line per request, and
//! counters.
//!
//! Nothing here ever holds what was said. The labels of the counters come from
//! closed sets, so no client can make them many.

mod access;
mod log;
mod metrics;

pub(crate) use access::{Access, Ending};
pub(crate) use log::Log;
pub(crate) use metrics::{Meters, Metrics};
