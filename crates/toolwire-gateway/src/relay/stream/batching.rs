//! Events that arrive in a burst are written to the client together.
//!
//! One write for each event costs far more than everything else that is done
//! with it. An upstream's chunks reach this task one at a time, even if many
//! have arrived: the task that reads the connection fills the next one only
//! when it gets its turn. During a burst, this task therefore yields to that one
//! before it writes. An event that arrives alone is never delayed.

use std::time::Duration;

/// Whether more data may arrive in a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Batching {
    /// Each chunk is written as soon as it arrives.
    #[default]
    Off,
    /// The last chunk arrived so quickly that another may be ready.
    On,
    /// This task has yielded so many times since then.
    Yielded(u8),
}

impl Batching {
    /// Records a chunk, which arrived `gap` after the one before.
    pub(super) fn record_chunk(&mut self, gap: Duration) {
        *self = if gap < BURST_GAP { Self::On } else { Self::Off };
    }

    pub(super) fn is_on(self) -> bool {
        self != Self::Off
    }

    /// Decides what to do if no chunk is ready: whether to yield and look once
    /// more. If not, the burst is over.
    pub(super) fn should_yield(&mut self) -> bool {
        *self = match *self {
            Self::On => Self::Yielded(1),
            Self::Yielded(times) if times < MAX_YIELDS => Self::Yielded(times + 1),
            Self::Off | Self::Yielded(_) => Self::Off,
        };
        self.is_on()
    }
}

/// Chunks that are closer together than this were sent together.
const BURST_GAP: Duration = Duration::from_micros(500);

/// hyper polls a body twice in one turn, so one yield is not enough.
const MAX_YIELDS: u8 = 2;

/// The most bytes that are collected before they are written.
pub(super) const MAX_BATCH: usize = 16 * 1024;
