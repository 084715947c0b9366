//! Several gateways on one store.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use toolwire_store::{Clock, NewResponse, Options, Status, Store, Tenant, Timestamp, Write};

use super::{LEASE, RENEWAL, keep_once};
use crate::stored::background::running::{RunningJob, RunningJobs};

/// A store with a clock that only the test moves.
struct StoreInTime {
    store: Store,
    now: Arc<AtomicI64>,
}

impl StoreInTime {
    async fn new() -> Self {
        let now = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&now);
        let clock = Clock::Custom(Arc::new(move || Timestamp(clock.load(Ordering::Relaxed))));
        let store = Store::open(Options { clock, ..Options::memory() }).await.unwrap();
        Self { store, now }
    }

    fn pass(&self, time: Duration) {
        self.now.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
    }

    /// Begins work of a gateway that never ends.
    async fn begin(&self, jobs: &RunningJobs, id: &str) -> RunningJob {
        let running = jobs.add(id).unwrap();
        let body = format!(r#"{{"id":"{id}","status":"in_progress","error":null,"output":[]}}"#);
        let response = NewResponse {
            lease: Some(jobs.lease()),
            ..NewResponse::new(id, Status::InProgress, body)
        };
        self.store.write(&Tenant::single(), vec![Write::Response(response)]).await.unwrap();
        running.set_stored();
        running
    }

    async fn state(&self, id: &str) -> (Status, Option<String>) {
        let response = self.store.response(&Tenant::single(), id).await.unwrap().unwrap();
        (response.status, response.owner)
    }
}

/// Proves that leases last for as long as gateways live, however long that is,
/// and not much longer.
#[tokio::test]
async fn gateways_leave_each_others_live_work_alone() {
    let time = StoreInTime::new().await;
    let (one, two) = (RunningJobs::default(), RunningJobs::default());
    let _jobs = [time.begin(&one, "resp_one").await, time.begin(&two, "resp_two").await];
    let alive = |jobs: &RunningJobs| (Status::InProgress, Some(jobs.owner().to_owned()));
    for round in 0..100 {
        // Each looks while the other sleeps.
        for jobs in [&one, &two] {
            time.pass(RENEWAL / 2);
            keep_once(&time.store, jobs).await;
            assert_eq!(time.state("resp_one").await, alive(&one), "round {round}");
            assert_eq!(time.state("resp_two").await, alive(&two), "round {round}");
        }
    }

    // The first gateway dies. For the length of its lease, it may only be late.
    let mut silent = RENEWAL / 2;
    while silent < LEASE - RENEWAL {
        time.pass(RENEWAL);
        silent += RENEWAL;
        keep_once(&time.store, &two).await;
        assert_eq!(time.state("resp_one").await, alive(&one), "silent for {silent:?}");
    }
    time.pass(RENEWAL);
    keep_once(&time.store, &two).await;
    assert_eq!(time.state("resp_one").await, (Status::Failed, None));
    assert_eq!(time.state("resp_two").await, alive(&two));
}
