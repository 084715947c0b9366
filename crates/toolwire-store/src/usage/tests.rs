//! Who waits for a count, and what is thought in the meantime.

use std::task::Poll;

use super::*;
use crate::options::{EngineOptions, Options};

const LIMIT: u64 = 100;

struct Subject {
    usage: Arc<UsageTracker>,
    engine: Arc<Engine>,
    limits: Limits,
}

impl Subject {
    async fn new() -> Self {
        let engine = Arc::new(Engine::open(&EngineOptions::Memory).await.unwrap());
        let limits = Limits { tenant: LIMIT, ..Options::memory().limits };
        Self { usage: Arc::default(), engine, limits }
    }

    async fn take<'t>(&'t self, tenant: &'t Tenant, bytes: u64) -> Result<Room<'t>, StoreError> {
        self.usage.take(&self.engine, &self.limits, tenant, bytes).await
    }

    /// Whether there is room for so many bytes, without waiting for anything.
    async fn has_room_at_once(&self, tenant: &Tenant, bytes: u64) -> bool {
        let mut take = std::pin::pin!(self.take(tenant, bytes));
        let taken = std::future::poll_fn(|cx| Poll::Ready(take.as_mut().poll(cx))).await;
        matches!(taken, Poll::Ready(Ok(_)))
    }

    /// Keeps everybody from counting.
    async fn hold_counts(&self) -> [OwnedMutexGuard<()>; 2] {
        let UsageTracker { known: _, tenant_count, total_count } = &*self.usage;
        let counts = [tenant_count, total_count].map(|count| Arc::clone(count).lock_owned());
        let [tenants, total] = counts;
        [tenants.await, total.await]
    }
}

/// Proves that a tenant does not wait until those before it were counted, and waits once.
#[tokio::test(start_paused = true)]
async fn nobody_waits_long_for_the_counts_of_others() {
    let subject = Subject::new().await;
    let held = subject.hold_counts().await;
    for key in ["one", "two"] {
        let tenant = Tenant::of_key(key);
        let taken = tokio::time::timeout(LONGEST_WAIT * 3, subject.take(&tenant, 1)).await;
        assert!(taken.expect("it ends").is_ok());
        assert!(subject.has_room_at_once(&tenant, LIMIT * 2).await, "nothing was counted");
        subject.usage.forget();
        assert!(subject.has_room_at_once(&tenant, LIMIT * 2).await, "that was not counted either");
    }
    drop(held);
    let other = Tenant::of_key("three");
    assert!(subject.take(&other, LIMIT).await.is_ok());
    let refused = subject.take(&other, LIMIT).await.map(drop);
    assert_eq!(refused, Err(StoreError::TooLarge { cap: Cap::Tenant, limit: LIMIT }));
}

/// Proves that what may have been written takes its room until the next count, but that
/// nobody is refused because of it.
#[tokio::test(start_paused = true)]
async fn what_may_be_written_takes_room_until_it_is_counted() {
    let (subject, tenant) = (Subject::new().await, Tenant::of_key("one"));
    for _ in 0..3 {
        subject.take(&tenant, LIMIT).await.unwrap().leave_unsure();
        assert!(!subject.usage.is_known_to_fit(&subject.limits, &tenant, 1));
    }
    let held = subject.hold_counts().await;
    subject.usage.forget();
    assert!(subject.take(&tenant, LIMIT).await.is_ok(), "it cannot be counted");
    drop(held);
    subject.usage.forget();
    subject.take(&tenant, LIMIT).await.unwrap().give_back();
    // There is nothing in the store, and somebody has counted that by now.
    assert!(subject.has_room_at_once(&tenant, LIMIT).await);
}
