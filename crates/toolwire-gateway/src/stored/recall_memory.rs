//! The memory for what a request refers to.

use std::sync::Arc;

use crate::memory::{MemoryBudget, Reservation};
use crate::relay::{Failure, out_of_memory};

/// The memory for bodies, which what was kept shares once it is read.
#[derive(Clone, Copy)]
pub(crate) struct RecallMemory<'m> {
    bodies: &'m Arc<MemoryBudget>,
    total: usize,
}

impl<'m> RecallMemory<'m> {
    /// The memory for all bodies, of which they may take so many bytes together.
    pub(crate) fn new(bodies: &'m Arc<MemoryBudget>, total: usize) -> Self {
        Self { bodies, total }
    }

    /// Room for what is read without knowing how long it is. It is enough for most, and leaves
    /// enough to others.
    pub(super) fn likely_room(self) -> u64 {
        u64::try_from(self.total / 16).unwrap_or(u64::MAX).clamp(LEAST_LIKELY, MOST_LIKELY)
    }

    /// Reserves room for bytes that are read or written next.
    pub(super) fn reserve(self, bytes: u64) -> Result<Reservation, Failure> {
        let mut reservation = self.bodies.reservation();
        self.grow_to(&mut reservation, bytes)?;
        Ok(reservation)
    }

    /// Reserves more room, if so many bytes need more.
    pub(super) fn grow_to(self, reservation: &mut Reservation, bytes: u64) -> Result<(), Failure> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        reservation.grow_to(bytes, self.total).map_err(|_| out_of_memory())
    }
}

/// The least and the most of it, in bytes.
const LEAST_LIKELY: u64 = 4 << 10;
const MOST_LIKELY: u64 = 2 << 20;
