use super::*;

#[test]
fn what_is_reserved_is_given_back_exactly() {
    let budget = Arc::new(MemoryBudget::default());
    let mut one = budget.reservation();
    let mut other = budget.reservation();
    one.grow(60, 100).unwrap();
    other.grow(41, 100).unwrap_err();
    other.grow(40, 100).unwrap();
    assert_eq!(budget.used(), 100);
    budget.has_room(1, 100).unwrap_err();
    other.grow_to(30, 100).unwrap();
    other.set(10);
    budget.has_room(30, 100).unwrap();
    assert_eq!(budget.used(), 70);
    assert_eq!(budget.refusals().load(Ordering::Relaxed), 2);
    let held = one.hold(vec![0; 60]);
    let part = held.slice(10..20);
    drop(held);
    assert_eq!(budget.used(), 70, "a part of the bytes is still in use");
    drop((part, other));
    assert_eq!(budget.used(), 0);
}

#[test]
fn threads_never_reserve_more_than_the_limit() {
    let budget = Arc::new(MemoryBudget::default());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    let mut reservation = budget.reservation();
                    let _ = reservation.grow(7, 30);
                    assert!(budget.used() <= 30);
                }
            });
        }
    });
    assert_eq!(budget.used(), 0);
}
