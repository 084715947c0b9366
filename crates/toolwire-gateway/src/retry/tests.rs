use super::*;

#[test]
fn a_full_outage_adds_a_fifth() {
    let budget = RetryBudget::default();
    let requests = 10_000;
    let mut attempts = 0;
    for _ in 0..requests {
        budget.earn();
        attempts += 1;
        while budget.spend() {
            attempts += 1;
        }
    }
    assert!(attempts <= requests + requests / 5 + 10, "{attempts}");
    assert!(attempts >= requests + requests / 5, "{attempts}");
}

#[test]
fn an_idle_gateway_saves_no_more_than_the_reserve() {
    let budget = RetryBudget::default();
    for _ in 0..1000 {
        budget.earn();
    }
    let mut attempts = 0;
    while budget.spend() {
        attempts += 1;
    }
    assert_eq!(attempts, 10);
}
