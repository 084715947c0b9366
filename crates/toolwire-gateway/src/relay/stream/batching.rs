//! Events that come all at once go on together.
//!
//! A write for each costs far more than everything else that is done with it.
//! But an upstream's chunks arrive here one by one, however many have come:
//! taking one makes room for the next, and a turn of the task that reads the
//! connection fills it. So while they come in a rush, that task is let go first.
//! An event that stands alone is never held.

use std::time::Duration;

/// Whether more may be there in a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rush {
    /// A piece goes on as soon as it is there.
    #[default]
    Off,
    /// The last piece came so soon that another may be there already.
    On,
    /// The other task was let go first, so many times.
    Aside(u8),
}

impl Rush {
    /// A piece came, so long after the one before.
    pub(super) fn came(&mut self, after: Duration) {
        *self = if after < SOON { Self::On } else { Self::Off };
    }

    pub(super) fn is_on(self) -> bool {
        self != Self::Off
    }

    /// Nothing more is there. Whether to look again after the other task's
    /// turn; if not, the rush is over.
    pub(super) fn steps_aside(&mut self) -> bool {
        *self = match *self {
            Self::On => Self::Aside(1),
            Self::Aside(times) if times < TIMES => Self::Aside(times + 1),
            Self::Off | Self::Aside(_) => Self::Off,
        };
        self.is_on()
    }
}

/// Pieces that follow each other this closely were sent together.
const SOON: Duration = Duration::from_micros(500);

/// hyper asks a body for its next piece twice in one turn.
const TIMES: u8 = 2;

/// What is gathered at most before it goes to the client.
pub(super) const ENOUGH: usize = 16 * 1024;
