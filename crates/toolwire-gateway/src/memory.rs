//! How much memory requests and responses may take in all.
//!
//! Whoever keeps bytes holds a [`Reservation`] for them. It gives the bytes back
//! when it is dropped, so that what is counted is what is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;

/// What is kept for one purpose, over all connections.
#[derive(Debug, Default)]
pub(crate) struct MemoryBudget {
    used: AtomicUsize,
    refusals: AtomicU64,
}

/// There is no room left.
#[derive(Debug)]
pub(crate) struct Exhausted;

impl MemoryBudget {
    /// A reservation of nothing yet.
    pub(crate) fn reservation(self: &Arc<Self>) -> Reservation {
        Reservation { budget: Arc::clone(self), bytes: 0 }
    }

    /// Whether so many more bytes would fit. Nothing is reserved.
    pub(crate) fn has_room(&self, bytes: usize, limit: usize) -> Result<(), Exhausted> {
        if self.used().saturating_add(bytes) <= limit {
            return Ok(());
        }
        self.refusals.fetch_add(1, Ordering::Relaxed);
        Err(Exhausted)
    }

    /// How many bytes are reserved.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// How often there was no room.
    pub(crate) fn refusals(&self) -> &AtomicU64 {
        &self.refusals
    }
}

/// Bytes that are counted for as long as this lives.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Arc<MemoryBudget>,
    bytes: usize,
}

impl Reservation {
    /// Reserves more, unless that would be more than `limit` in all.
    pub(crate) fn grow(&mut self, more: usize, limit: usize) -> Result<(), Exhausted> {
        let used = &self.budget.used;
        let fits = |used: usize| used.checked_add(more).filter(|total| *total <= limit);
        if used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok() {
            self.bytes += more;
            return Ok(());
        }
        self.budget.refusals.fetch_add(1, Ordering::Relaxed);
        Err(Exhausted)
    }

    /// Reserves up to `total`. It never gives bytes back.
    pub(crate) fn grow_to(&mut self, total: usize, limit: usize) -> Result<(), Exhausted> {
        match total.checked_sub(self.bytes) {
            None | Some(0) => Ok(()),
            Some(more) => self.grow(more, limit),
        }
    }

    /// Counts what is kept already, whether or not there is room for it.
    pub(crate) fn set(&mut self, bytes: usize) {
        self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
    }

    /// Bytes that stay reserved until the last part of them is dropped.
    pub(crate) fn hold(self, bytes: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        Bytes::from_owner(HeldBytes { bytes, _reservation: self })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

struct HeldBytes<B> {
    bytes: B,
    _reservation: Reservation,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for HeldBytes<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

#[cfg(test)]
mod tests;
