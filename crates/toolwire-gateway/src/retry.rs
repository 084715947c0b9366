//! How often a request may be sent a second time.
//!
//! Clients try again by themselves, so a gateway that does the same multiplies
//! the load on an upstream that is already failing. The budget keeps what the
//! gateway adds to a fifth of the requests.

use std::sync::atomic::{AtomicI64, Ordering};

/// Second attempts that are still allowed, in fifths of one.
#[derive(Debug)]
pub(crate) struct Budget(AtomicI64);

impl Default for Budget {
    fn default() -> Self {
        Self(AtomicI64::new(RESERVE))
    }
}

impl Budget {
    /// A request came in, and with it the right to a fifth of an attempt.
    pub(crate) fn earn(&self) {
        if self.0.load(Ordering::Relaxed) < RESERVE {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes one more attempt out of the budget, if it is there.
    pub(crate) fn spend(&self) -> bool {
        let left = |left: i64| (left >= ATTEMPT).then_some(left - ATTEMPT);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
    }
}

/// What one more attempt costs; a request earns one.
const ATTEMPT: i64 = 5;

/// What a quiet gateway has saved up, so that the first failure of the day
/// finds another upstream too.
const RESERVE: i64 = 10 * ATTEMPT;

/// How long an upstream may ask not to be tried, at most. Whatever it says
/// beyond that is for the client to read.
pub(crate) const LONGEST_PAUSE: std::time::Duration = std::time::Duration::from_secs(60);

#[cfg(test)]
mod tests;
