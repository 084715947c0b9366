use super::*;

fn fail(health: &Health, now: Instant, times: usize) -> bool {
    let policy = RetryPolicy::default();
    (0..times).map(|_| health.failed(now, &policy)).fold(false, |_, ejected| ejected)
}

fn check(health: &Health, now: Instant) -> Availability {
    health.check(now, &RetryPolicy::default())
}

#[test]
fn five_failures_in_a_row_eject_and_one_success_brings_back() {
    let health = Health::default();
    let now = Instant::now();
    assert!(!fail(&health, now, 4));
    assert_eq!(check(&health, now), Availability::Healthy);
    assert!(fail(&health, now, 1));
    assert_eq!(check(&health, now), Availability::Ejected);
    let later = now + RetryPolicy::default().first_ejection;
    assert_eq!(check(&health, later), Availability::Healthy, "one request tries it");
    assert_eq!(check(&health, later), Availability::Ejected, "the others wait");
    health.succeeded();
    assert_eq!(check(&health, later), Availability::Healthy);
}

#[test]
fn successes_between_failures_prevent_an_ejection() {
    let health = Health::default();
    let now = Instant::now();
    for _ in 0..10 {
        assert!(!fail(&health, now, 4));
        health.succeeded();
    }
}

#[test]
fn each_failed_probe_doubles_the_time() {
    let health = Health::default();
    let mut now = Instant::now();
    fail(&health, now, 5);
    for seconds in [5, 10, 20, 40, 80, 160, 300, 300] {
        assert_eq!(
            check(&health, now + Duration::from_millis(seconds * 1000 - 1)),
            Availability::Ejected
        );
        now += Duration::from_secs(seconds);
        assert_eq!(check(&health, now), Availability::Healthy);
        assert!(fail(&health, now, 1));
    }
}

#[test]
fn a_pause_ends_by_itself() {
    let health = Health::default();
    let now = Instant::now();
    health.pause(now, Duration::from_secs(3), &RetryPolicy::default());
    assert_eq!(check(&health, now), Availability::Paused);
    assert_eq!(check(&health, now + Duration::from_secs(3)), Availability::Healthy);
}

#[test]
fn the_numbers_are_configuration() {
    let seconds = Duration::from_secs;
    let policy = RetryPolicy {
        eject_after: 1,
        first_ejection: seconds(1),
        max_ejection: seconds(3),
        probe_timeout: seconds(9),
        max_pause: seconds(2),
        ..RetryPolicy::default()
    };
    let health = Health::default();
    let mut now = Instant::now();
    for length in [1, 2, 3, 3] {
        assert!(health.failed(now, &policy));
        assert_eq!(health.check(now + seconds(length - 1), &policy), Availability::Ejected);
        now += seconds(length);
        assert_eq!(health.check(now, &policy), Availability::Healthy, "the probe");
    }
    assert_eq!(health.check(now + seconds(8), &policy), Availability::Ejected);
    health.succeeded();
    health.pause(now, seconds(60), &policy);
    assert_eq!(health.check(now + seconds(1), &policy), Availability::Paused);
    assert_eq!(health.check(now + seconds(2), &policy), Availability::Healthy);
}
