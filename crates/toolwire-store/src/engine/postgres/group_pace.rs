//! How far groups of responses are apart.
//!
//! The fuller a group is, the less each response of it costs. So a moment passes between two
//! groups while several clients write at a time. A client that is alone never waits.

use std::time::Duration;

use tokio::time::Instant;

pub(super) struct GroupPace {
    /// When the last group began.
    last: Instant,
    /// Whether it had more than one response.
    had_several: bool,
}

impl GroupPace {
    pub(super) fn new() -> Self {
        Self { last: Instant::now(), had_several: false }
    }

    /// Lets a moment pass since the last group began, if several clients write at a time. They
    /// do if that group is still under way, because one client would wait for it.
    pub(super) async fn wait(&self, is_under_way: bool) {
        let next = self.last + WHILE_CROWDED;
        if (is_under_way || self.had_several) && Instant::now() < next {
            tokio::time::sleep_until(next).await;
        }
    }

    /// Notes that a group begins, and how many responses it has.
    pub(super) fn begin(&mut self, responses: usize) {
        *self = Self { last: Instant::now(), had_several: responses > 1 };
    }
}

/// How far two groups are apart at least while several clients write. It is added to what
/// they wait, so it is short.
const WHILE_CROWDED: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests;
