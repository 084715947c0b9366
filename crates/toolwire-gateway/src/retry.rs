//! The retry policy: which failures are worth another attempt, how many attempts
//! the gateway may add, and what a failure means for the upstream's health.
//!
//! | failure | same upstream again | another upstream | health |
//! |---|---|---|---|
//! | the upstream did not process the request (a connection that closed before the request was sent) | once | yes | failed |
//! | no connection | no | yes | failed |
//! | no socket is free on the gateway's machine | no | yes | unknown |
//! | no response, or a part of one | no | no | failed |
//! | a response that cannot be read | no | no | failed |
//! | status 429, or a rate limit as the first event | no | if 429 is in `statuses` | paused |
//! | an answer that its vendor cannot use | no | no | healthy |
//! | a status from 500, or an error of the upstream as the first event | no | if it is in `statuses` | failed |
//! | any other status | no | if it is in `statuses` | healthy |
//!
//! Another attempt is made before the client has got anything of a response, and
//! only if the upstream cannot have run the request: a tool call that is made
//! twice is worse than an error. An upstream that has begun an answer has run it,
//! even if an error has come before the client got any of it. A timeout, the gateway's own or a 504 of another
//! one on the way, says nothing about that. The numbers and statuses are the
//! operator's, in `[retry]`.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use toolwire::model::{ApiError, Blame, ErrorKind};

use crate::upstream::{TimeoutPhase, UpstreamError};

/// When the gateway retries, and when it stops using an upstream for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The HTTP statuses after which another upstream may get the request.
    pub statuses: Vec<RangeInclusive<u16>>,
    /// How many attempts the gateway may add, in percent of the requests. Clients
    /// retry by themselves, so a gateway that always does the same would multiply
    /// the load on upstreams that are already failing. With 0 there are none.
    pub budget_percent: u32,
    /// How many attempts an idle gateway has saved, so that the first failures
    /// can be retried.
    pub budget_reserve: u32,
    /// The longest pause that an upstream can ask for with `retry-after`.
    pub max_pause: Duration,
    /// How many failures in a row eject an upstream. An ejected upstream is tried
    /// last.
    pub eject_after: u32,
    /// How long the first ejection lasts. Each further one lasts twice as long as
    /// the one before.
    pub first_ejection: Duration,
    /// The longest ejection.
    pub max_ejection: Duration,
    /// After an ejection one request probes the upstream. This is how long the
    /// others wait for its result.
    pub probe_timeout: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            statuses: vec![429..=429, 500..=500, 502..=503, 529..=529],
            budget_percent: 20,
            budget_reserve: 10,
            max_pause: Duration::from_secs(60),
            eject_after: 5,
            first_ejection: Duration::from_secs(5),
            max_ejection: Duration::from_secs(300),
            probe_timeout: Duration::from_secs(5),
        }
    }
}

/// What follows from a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Whether another upstream may get the request.
    pub(crate) try_another: bool,
    pub(crate) health: HealthEffect,
}

/// What a failed attempt says about the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HealthEffect {
    /// It works. It refused the request, which is not its fault.
    Healthy,
    /// It works and asks for a pause.
    Paused,
    /// It failed.
    Failed,
    /// Nothing. It was not asked.
    Unknown,
}

impl Decision {
    /// The fault is the client's or the gateway's.
    pub(crate) const HEALTHY: Self = Self { try_another: false, health: HealthEffect::Healthy };

    /// The upstream failed and may have run the request.
    pub(crate) const FAILED: Self = Self { try_another: false, health: HealthEffect::Failed };
}

impl RetryPolicy {
    /// Decides about a response with an error status.
    pub(crate) fn after_status(&self, status: u16) -> Decision {
        let health = match status {
            429 => HealthEffect::Paused,
            500.. => HealthEffect::Failed,
            _refused => HealthEffect::Healthy,
        };
        let try_another = self.statuses.iter().any(|range| range.contains(&status));
        Decision { try_another, health }
    }

    /// Decides about an error without a status: the first event of a stream, or
    /// a response with status 200 that holds an error.
    pub(crate) fn after_error(&self, error: &ApiError) -> Decision {
        match (error.kind, error.blame) {
            (ErrorKind::RateLimit, _) => self.after_status(429),
            // The upstream had begun to respond and may have run the request.
            (ErrorKind::Truncated | ErrorKind::Timeout, _) => Decision::FAILED,
            // So had one that sends what cannot be read.
            (ErrorKind::Server, Blame::Upstream)
                if error.code.as_deref() == Some("upstream_invalid") =>
            {
                Decision::FAILED
            }
            (_, Blame::Client | Blame::Gateway) => Decision::HEALTHY,
            // It works, and has run the request.
            (ErrorKind::UnusableAnswer, _) => Decision::HEALTHY,
            (ErrorKind::Overloaded, Blame::Upstream) => self.after_status(503),
            (_, Blame::Upstream) => self.after_status(500),
        }
    }

    /// Decides about a request that got no complete response.
    pub(crate) fn after_upstream_error(error: UpstreamError) -> Decision {
        let try_another = match error {
            UpstreamError::Connect(_)
            | UpstreamError::Tls(_)
            | UpstreamError::NotSent
            | UpstreamError::Timeout(TimeoutPhase::Connect) => true,
            UpstreamError::Disconnected
            | UpstreamError::NotHttp
            | UpstreamError::Timeout(
                TimeoutPhase::Headers
                | TimeoutPhase::FirstEvent
                | TimeoutPhase::Idle
                | TimeoutPhase::Total,
            )
            | UpstreamError::Undecodable
            | UpstreamError::TooLarge => false,
            // That is not about the upstream.
            UpstreamError::NoMemory => return Decision::HEALTHY,
            // Another upstream may need no new connection.
            UpstreamError::NoSockets => {
                return Decision { try_another: true, health: HealthEffect::Unknown };
            }
        };
        Decision { try_another, health: HealthEffect::Failed }
    }

    /// Whether the same upstream may get the request once more on another
    /// connection: it was there and certainly did nothing with the request.
    /// This is normal when a server restarts or balances its load.
    pub(crate) fn may_repeat(error: UpstreamError) -> bool {
        match error {
            UpstreamError::NotSent => true,
            UpstreamError::Connect(_)
            | UpstreamError::Tls(_)
            | UpstreamError::Disconnected
            | UpstreamError::NotHttp
            | UpstreamError::Timeout(_)
            | UpstreamError::Undecodable
            | UpstreamError::TooLarge
            | UpstreamError::NoMemory
            | UpstreamError::NoSockets => false,
        }
    }

    /// How long an ejection lasts after `earlier` ones without a success.
    pub(crate) fn ejection(&self, earlier: u32) -> Duration {
        self.first_ejection.saturating_mul(1 << earlier.min(31)).min(self.max_ejection)
    }

    fn reserve(&self) -> i64 {
        i64::from(self.budget_reserve) * ATTEMPT
    }
}

/// The attempts that the gateway may still add, in hundredths of one.
#[derive(Debug)]
pub(crate) struct RetryBudget(AtomicI64);

impl RetryBudget {
    /// The budget of an idle gateway.
    pub(crate) fn new(policy: &RetryPolicy) -> Self {
        Self(AtomicI64::new(policy.reserve()))
    }

    /// Adds what a request earns.
    pub(crate) fn earn(&self, policy: &RetryPolicy) {
        let (percent, reserve) = (i64::from(policy.budget_percent), policy.reserve());
        let add = |left: i64| Some((left + percent).min(reserve)).filter(|sum| *sum != left);
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Gives an attempt back that was not made.
    pub(crate) fn give_back(&self, policy: &RetryPolicy) {
        let reserve = policy.reserve();
        let add = |left: i64| Some((left + ATTEMPT).min(reserve));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Takes one attempt out of the budget. Returns whether there was one.
    pub(crate) fn spend(&self, policy: &RetryPolicy) -> bool {
        let take = |left: i64| (left >= ATTEMPT).then_some(left - ATTEMPT);
        policy.budget_percent > 0
            && self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// Every status from 500 on but 504. Vendors use numbers beyond the standard
/// ones. After a timeout on the way, the request may have been run.
pub(crate) const SERVER_ERRORS: [RangeInclusive<u16>; 2] = [500..=503, 505..=999];

/// What an attempt costs, in hundredths.
const ATTEMPT: i64 = 100;

#[cfg(test)]
mod tests;
