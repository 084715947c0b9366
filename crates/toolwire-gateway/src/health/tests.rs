use super::*;

fn fail(health: &Health, now: Instant, times: usize) -> bool {
    (0..times).map(|_| health.failed(now)).fold(false, |_, out| out)
}

#[test]
fn five_failures_in_a_row_take_it_out_and_one_success_brings_it_back() {
    let health = Health::default();
    let now = Instant::now();
    assert!(!fail(&health, now, 4));
    assert_eq!(health.standing(now), Standing::Well);
    assert!(fail(&health, now, 1));
    assert_eq!(health.standing(now), Standing::Out);
    let later = now + FIRST_EJECTION;
    assert_eq!(health.standing(later), Standing::Well, "one request tries it");
    assert_eq!(health.standing(later), Standing::Out, "the others wait");
    health.succeeded();
    assert_eq!(health.standing(later), Standing::Well);
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
        assert_eq!(health.standing(now + Duration::from_millis(seconds * 1000 - 1)), Standing::Out);
        now += Duration::from_secs(seconds);
        assert_eq!(health.standing(now), Standing::Well);
        assert!(health.failed(now));
    }
}

#[test]
fn a_pause_ends_by_itself() {
    let health = Health::default();
    let now = Instant::now();
    health.paused(now + Duration::from_secs(3));
    assert_eq!(health.standing(now), Standing::Paused);
    assert_eq!(health.standing(now + Duration::from_secs(3)), Standing::Well);
}
