//! Whether an upstream is worth trying, judged by the results of its requests.
//! [`crate::retry`] says which results count, and how much.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::retry::RetryPolicy;

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
    /// Whether a probe is under way.
    probing: bool,
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
    pub(crate) fn check(&self, now: Instant, policy: &RetryPolicy) -> Availability {
        let mut state = self.lock();
        if let Some(until) = state.ejected_until {
            if now < until {
                return Availability::Ejected;
            }
            state.ejected_until = Some(now + policy.probe_timeout);
            state.probing = true;
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
        state.probing = false;
    }

    /// Gives a probe back that was not sent, so that the next request is one.
    pub(crate) fn release_probe(&self, now: Instant) {
        let mut state = self.lock();
        if state.probing {
            state.probing = false;
            state.ejected_until = Some(now);
        }
    }

    /// Records that the response to a probe has begun. The upstream is back, but
    /// the next failure ejects it again.
    pub(crate) fn probe_answered(&self, policy: &RetryPolicy) {
        let mut state = self.lock();
        if state.probing {
            state.probing = false;
            state.ejected_until = None;
            state.failures = policy.eject_after.saturating_sub(1);
        }
    }

    /// Records a failure. Returns whether it ejected the upstream.
    pub(crate) fn failed(&self, now: Instant, policy: &RetryPolicy) -> bool {
        let mut state = self.lock();
        state.failures = state.failures.saturating_add(1);
        let was_probe = state.ejected_until.is_some();
        state.probing = false;
        if state.failures < policy.eject_after && !was_probe {
            return false;
        }
        state.ejected_until = Some(now + policy.ejection(state.ejections));
        state.ejections = state.ejections.saturating_add(1);
        true
    }

    /// Records that it asked for a pause.
    pub(crate) fn pause(&self, now: Instant, length: Duration, policy: &RetryPolicy) {
        self.lock().paused_until = Some(now + length.min(policy.max_pause));
    }

    /// Whether it is ejected. Unlike `check`, this never reserves the probe.
    pub(crate) fn is_ejected(&self) -> bool {
        self.lock().ejected_until.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic cannot leave the state half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that probes an ejected upstream. If it is dropped before it is
/// sent, the next request is the probe.
pub(crate) struct Probe(Option<Arc<Health>>);

impl Probe {
    pub(crate) fn new(health: &Arc<Health>) -> Self {
        Self(Some(Arc::clone(health)))
    }

    /// Whether it is the probe of this upstream.
    pub(crate) fn is_of(&self, health: &Arc<Health>) -> bool {
        self.0.as_ref().is_some_and(|probed| Arc::ptr_eq(probed, health))
    }

    /// Notes that the upstream got the request.
    pub(crate) fn sent(mut self) {
        self.0 = None;
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if let Some(health) = &self.0 {
            health.release_probe(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests;
