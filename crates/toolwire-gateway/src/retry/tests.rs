use super::*;
use crate::upstream::{ConnectFailure, TlsFailure};

fn spend_all(budget: &RetryBudget, policy: &RetryPolicy) -> usize {
    std::iter::from_fn(|| budget.spend(policy).then_some(())).count()
}

#[test]
fn a_full_outage_adds_a_fifth() {
    let policy = RetryPolicy::default();
    let budget = RetryBudget::new(&policy);
    let requests = 10_000;
    let mut attempts = 0;
    for _ in 0..requests {
        budget.earn(&policy);
        attempts += 1 + spend_all(&budget, &policy);
    }
    assert!(attempts <= requests + requests / 5 + 10, "{attempts}");
    assert!(attempts >= requests + requests / 5, "{attempts}");
}

#[test]
fn an_idle_gateway_saves_no_more_than_the_reserve() {
    let policy = RetryPolicy::default();
    let budget = RetryBudget::new(&policy);
    for _ in 0..1000 {
        budget.earn(&policy);
    }
    assert_eq!(spend_all(&budget, &policy), 10);
}

#[test]
fn the_budget_is_configuration() {
    for (budget_percent, budget_reserve, expected) in [(0, 10, 0), (100, 1, 100), (50, 3, 52)] {
        let policy = RetryPolicy { budget_percent, budget_reserve, ..RetryPolicy::default() };
        let budget = RetryBudget::new(&policy);
        let mut added = 0;
        for _ in 0..100 {
            budget.earn(&policy);
            added += spend_all(&budget, &policy);
        }
        assert_eq!(added, expected, "{budget_percent} {budget_reserve}");
    }
}

#[test]
fn statuses() {
    use HealthEffect::{Failed, Healthy, Paused};
    let default = RetryPolicy::default();
    let own = RetryPolicy { statuses: vec![404..=404, 503..=503], ..RetryPolicy::default() };
    let none = RetryPolicy { statuses: Vec::new(), ..RetryPolicy::default() };
    for (status, health, retried_by) in [
        (400, Healthy, [false, false, false]),
        (404, Healthy, [false, true, false]),
        (429, Paused, [true, false, false]),
        (500, Failed, [true, false, false]),
        (501, Failed, [false, false, false]),
        (502, Failed, [true, false, false]),
        (503, Failed, [true, true, false]),
        // The request may have been run.
        (504, Failed, [false, false, false]),
        (529, Failed, [true, false, false]),
        (600, Failed, [false, false, false]),
    ] {
        for (policy, try_another) in [&default, &own, &none].into_iter().zip(retried_by) {
            assert_eq!(policy.after_status(status), Decision { try_another, health }, "{status}");
        }
    }
}

#[test]
fn errors_without_a_status() {
    let policy = RetryPolicy::default();
    for (kind, expected) in [
        (ErrorKind::RateLimit, policy.after_status(429)),
        (ErrorKind::Overloaded, policy.after_status(503)),
        (ErrorKind::Server, policy.after_status(500)),
        (ErrorKind::Timeout, Decision::FAILED),
        (ErrorKind::Truncated, Decision::FAILED),
        (ErrorKind::InvalidRequest, Decision::HEALTHY),
        (ErrorKind::Quota, Decision::HEALTHY),
    ] {
        assert_eq!(policy.after_error(&ApiError::new(kind, "x")), expected, "{kind:?}");
    }
}

#[test]
fn a_request_that_may_have_run_is_not_sent_again() {
    use UpstreamError::{Connect, Disconnected, NoSockets, NotHttp, NotSent, Timeout, Tls};
    for (error, same, another) in [
        (NotSent, true, true),
        (Connect(ConnectFailure::Refused), false, true),
        (Tls(TlsFailure::Expired), false, true),
        (Timeout(TimeoutPhase::Connect), false, true),
        (Timeout(TimeoutPhase::Headers), false, false),
        (Disconnected, false, false),
        (NotHttp, false, false),
        (NoSockets, false, true),
    ] {
        assert_eq!(RetryPolicy::may_repeat(error), same, "{error:?}");
        let health = if error == NoSockets { HealthEffect::Unknown } else { HealthEffect::Failed };
        let expected = Decision { try_another: another, health };
        assert_eq!(RetryPolicy::after_upstream_error(error), expected, "{error:?}");
    }
}
