use super::*;

fn fail(health: &Health, now: Instant, times: usize) -> bool {
    (0..times).map(|_| health.failed(now)).fold(false, |_, out| out)
}

#[test]
fn five_failures_in_a_row_eject_and_one_success_brings_back() {
    let health = Health::default();
    let now = Instant::now();
    assert!(!fail(&health, now, 4));
    assert_eq!(health.check(now), Availability::Healthy);
    assert!(fail(&health, now, 1));
    assert_eq!(health.check(now), Availability::Ejected);
    let later = now + FIRST_EJECTION;
    assert_eq!(health.check(later), Availability::Healthy, "one request tries it");
    assert_eq!(health.check(later), Availability::Ejected, "the others wait");
    health.succeeded();
    assert_eq!(health.check(later), Availability::Healthy);
}

#[test]
fn successes_between_failures_keep_it_in() {
    let health = Health::default();
    let now = Instant::now();
    for _ in 0..10 {
        assert!(!fail(&health, now, 4));
        health.succeeded();
    }
}

#[test]
fn each_failed_attempt_doubles_the_time() {
    let health = Health::default();
    let mut now = Instant::now();
    fail(&health, now, 5);
    for seconds in [5, 10, 20, 40, 80, 160, 300, 300] {
        assert_eq!(
            health.check(now + Duration::from_millis(seconds * 1000 - 1)),
            Availability::Ejected
        );
        now += Duration::from_secs(seconds);
        assert_eq!(health.check(now), Availability::Healthy);
        assert!(health.failed(now));
    }
}

#[test]
fn a_pause_ends_by_itself() {
    let health = Health::default();
    let now = Instant::now();
    health.pause_until(now + Duration::from_secs(3));
    assert_eq!(health.check(now), Availability::Paused);
    assert_eq!(health.check(now + Duration::from_secs(3)), Availability::Healthy);
}
