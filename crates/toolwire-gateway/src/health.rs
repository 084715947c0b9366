//! Whether an upstream is worth trying, judged by the results of its requests.
//!
//! A client's mistakes say nothing about the upstream: rejected requests and
//! clients that left do not count. Broken connections, timeouts, server errors
//! and broken streams do.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// The health of one upstream.
#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Failures since the last success.
    failures: u32,
    /// Ejections since the last success.
    ejections: u32,
    /// If it is ejected, when it may be tried again.
    ejected_until: Option<Instant>,
    /// Until when it asked for a pause.
    paused_until: Option<Instant>,
}

/// Whether to try an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Availability {
    /// It works, as far as is known.
    Healthy,
    /// It asked for a pause.
    Paused,
    /// It failed too often.
    Ejected,
}

impl Health {
    /// Whether to try it. If an ejection is over, one caller gets `Healthy` and
    /// sends the probe; the others wait for its result.
    pub(crate) fn check(&self, now: Instant) -> Availability {
        let mut state = self.lock();
        if let Some(until) = state.ejected_until {
            if now < until {
                return Availability::Ejected;
            }
            state.ejected_until = Some(now + PROBE_TIMEOUT);
            return Availability::Healthy;
        }
        match state.paused_until {
            Some(until) if now < until => Availability::Paused,
            Some(_) | None => Availability::Healthy,
        }
    }

    /// Records a success.
    pub(crate) fn succeeded(&self) {
        let mut state = self.lock();
        state.failures = 0;
        state.ejections = 0;
        state.ejected_until = None;
    }

    /// Records a failure. Returns whether it ejected the upstream.
    pub(crate) fn failed(&self, now: Instant) -> bool {
        let mut state = self.lock();
        state.failures = state.failures.saturating_add(1);
        let was_probe = state.ejected_until.is_some();
        if state.failures < FAILURES && !was_probe {
            return false;
        }
        let pause = FIRST_EJECTION.saturating_mul(1 << state.ejections.min(8)).min(MAX_EJECTION);
        state.ejections = state.ejections.saturating_add(1);
        state.ejected_until = Some(now + pause);
        true
    }

    /// Records that it asked for a pause.
    pub(crate) fn pause_until(&self, until: Instant) {
        self.lock().paused_until = Some(until);
    }

    /// Whether it is ejected. Unlike `check`, this never reserves the probe.
    pub(crate) fn is_ejected(&self) -> bool {
        self.lock().ejected_until.is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A panic cannot leave the state half written.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Failures in a row that eject an upstream.
const FAILURES: u32 = 5;
const FIRST_EJECTION: Duration = Duration::from_secs(5);
const MAX_EJECTION: Duration = Duration::from_secs(300);
/// How long the others wait for the result of a probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
