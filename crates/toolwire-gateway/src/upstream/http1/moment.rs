//! A time by two clocks.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// A time by the clock that timeouts use, which stands still while the machine
/// sleeps, and by the one that goes on, which can be set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) steady: Instant,
    pub(super) wall: SystemTime,
}

impl Moment {
    #[allow(clippy::disallowed_methods, reason = "whoever sets it can only end a time early")]
    pub(super) fn now() -> Self {
        Self { steady: Instant::now(), wall: SystemTime::now() }
    }

    /// Whether it is less than `time` after an earlier one, by both clocks. If the
    /// clock was set back, nobody knows.
    pub(super) fn is_within(self, time: Duration, earlier: Self) -> bool {
        let wall = self.wall.duration_since(earlier.wall);
        self.steady.duration_since(earlier.steady) < time && wall.is_ok_and(|age| age < time)
    }
}

#[cfg(test)]
impl std::ops::Add<Duration> for Moment {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self { steady: self.steady + time, wall: self.wall + time }
    }
}
