//! The memory that counts for what a stream keeps until it ends.

use std::sync::Arc;

use toolwire::model::{ApiError, ErrorKind};

use crate::config::Limits;
use crate::memory::{MemoryBudget, Reservation};

/// What one stream keeps, within its own limit and that of all streams.
pub(super) struct KeptMemory {
    reservation: Reservation,
    stream_limit: usize,
    total_limit: usize,
    is_exhausted: bool,
}

impl KeptMemory {
    pub(super) fn new(budget: &Arc<MemoryBudget>, limits: &Limits) -> Self {
        Self {
            reservation: budget.reservation(),
            stream_limit: limits.response,
            total_limit: limits.streams_total,
            is_exhausted: false,
        }
    }

    /// Counts what the stream keeps by now. If that is too much, returns the
    /// error that ends the stream.
    pub(super) fn count(&mut self, kept: usize) -> Option<ApiError> {
        let limit = self.stream_limit;
        if kept > limit {
            let message =
                format!("The response is longer than {limit} bytes, the limit of this gateway.");
            return Some(ApiError::new(ErrorKind::Server, message));
        }
        if self.reservation.grow_to(kept, self.total_limit).is_ok() {
            return None;
        }
        self.is_exhausted = true;
        let message = "The gateway is busy with other long responses. Try again in a moment.";
        Some(ApiError::new(ErrorKind::Overloaded, message))
    }

    /// Counts what is kept already, whether or not there is room for it.
    pub(super) fn set(&mut self, kept: usize) {
        self.reservation.set(kept);
    }

    /// Whether the stream ended because of all the others, which says nothing
    /// about its upstream.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}
