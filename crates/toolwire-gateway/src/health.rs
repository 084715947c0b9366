//! Whether an upstream is worth trying, judged by what came of the requests it
//! got anyway.
//!
//! What a client did wrong says nothing about the upstream: refused requests
//! and clients that went away do not count. Broken connections, timeouts,
//! server errors and cut streams do.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// What is known of one upstream.
#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Failures since the last success.
    failures: u32,
    /// How often it was taken out since the last success.
    ejections: u32,
    /// When it may be tried again.
    out_until: Option<Instant>,
    /// Until when it asked not to be tried.
    paused_until: Option<Instant>,
}

/// Whether to try an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It is well.
    Well,
    /// It asked for a pause.
    Paused,
    /// It failed too often.
    Out,
}

impl Health {
    /// Whether to try it. An upstream whose time is over is tried with one
    /// request; the others wait for what comes of it.
    pub(crate) fn standing(&self, now: Instant) -> Standing {
        let mut state = self.lock();
        if let Some(until) = state.out_until {
            if now < until {
                return Standing::Out;
            }
            state.out_until = Some(now + PROBE);
            return Standing::Well;
        }
        match state.paused_until {
            Some(until) if now < until => Standing::Paused,
            Some(_) | None => Standing::Well,
        }
    }

    /// It answered.
    pub(crate) fn succeeded(&self) {
        let mut state = self.lock();
        state.failures = 0;
        state.ejections = 0;
        state.out_until = None;
    }

    /// It failed. Whether it was taken out by that.
    pub(crate) fn failed(&self, now: Instant) -> bool {
        let mut state = self.lock();
        state.failures = state.failures.saturating_add(1);
        let probed = state.out_until.is_some();
        if state.failures < TOLERATED && !probed {
            return false;
        }
        let pause = FIRST_EJECTION.saturating_mul(1 << state.ejections.min(8)).min(LAST_EJECTION);
        state.ejections = state.ejections.saturating_add(1);
        state.out_until = Some(now + pause);
        true
    }

    /// It asked for a pause.
    pub(crate) fn paused(&self, until: Instant) {
        self.lock().paused_until = Some(until);
    }

    /// Whether it is out, without trying it.
    pub(crate) fn is_out(&self) -> bool {
        self.lock().out_until.is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A panic while it was held cannot leave it half written.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Failures in a row that are put down to bad luck.
const TOLERATED: u32 = 5;
const FIRST_EJECTION: Duration = Duration::from_secs(5);
const LAST_EJECTION: Duration = Duration::from_secs(300);
/// How long the result of one attempt is waited for.
const PROBE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
