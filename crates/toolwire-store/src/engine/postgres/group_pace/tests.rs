//! When a group of responses waits.

use super::*;

/// How long the next group waits after one with so many responses.
async fn wait_after(responses: usize, is_under_way: bool) -> Duration {
    let mut pace = GroupPace::new();
    pace.begin(responses);
    let start = Instant::now();
    pace.wait(is_under_way).await;
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn one_client_never_waits_and_a_crowd_does() {
    let (ended, under_way) = (false, true);
    assert_eq!(wait_after(1, ended).await, Duration::ZERO);
    assert!(wait_after(1, under_way).await >= WHILE_CROWDED);
    assert!(wait_after(2, ended).await >= WHILE_CROWDED);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_that_comes_later_does_not_wait() {
    let mut pace = GroupPace::new();
    pace.begin(2);
    tokio::time::sleep(2 * WHILE_CROWDED).await;
    let start = Instant::now();
    let is_under_way = true;
    pace.wait(is_under_way).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
}
