//! How often a request may be sent again.
//!
//! Clients retry by themselves, so a gateway that does the same multiplies the
//! load on an upstream that is already failing. The budget limits what the
//! gateway adds to a fifth of the requests.

use std::sync::atomic::{AtomicI64, Ordering};

/// Attempts that are still allowed, in fifths of one.
#[derive(Debug)]
pub(crate) struct RetryBudget(AtomicI64);

impl Default for RetryBudget {
    fn default() -> Self {
        Self(AtomicI64::new(RESERVE))
    }
}

impl RetryBudget {
    /// Adds what a request earns: a fifth of an attempt.
    pub(crate) fn earn(&self) {
        if self.0.load(Ordering::Relaxed) < RESERVE {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes one attempt out of the budget. Returns whether there was one.
    pub(crate) fn spend(&self) -> bool {
        let left = |left: i64| (left >= ATTEMPT).then_some(left - ATTEMPT);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
    }
}

/// What an attempt costs. A request earns 1.
const ATTEMPT: i64 = 5;

/// What an idle gateway has saved, so that the first failures can be retried.
const RESERVE: i64 = 10 * ATTEMPT;

/// The longest pause that an upstream can ask for.
pub(crate) const LONGEST_PAUSE: std::time::Duration = std::time::Duration::from_secs(60);

#[cfg(test)]
mod tests;
