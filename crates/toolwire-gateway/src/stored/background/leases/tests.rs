//! Several gateways on one store.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use toolwire_store::{Clock, NewResponse, Options, Status, Store, Tenant, Timestamp, Write};

use super::{Abandonment, LEASE, LeaseKeeper, RENEWAL, STEP};
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

/// Time passes for the store and for the gateways alike.
async fn pass(time: &StoreInTime, duration: Duration) {
    time.pass(duration);
    tokio::time::advance(duration).await;
}

fn keeper(time: &StoreInTime, jobs: &RunningJobs) -> LeaseKeeper {
    LeaseKeeper::new(time.store.clone(), jobs.clone())
}

fn alive(jobs: &RunningJobs) -> (Status, Option<String>) {
    (Status::InProgress, Some(jobs.owner().to_owned()))
}

const ENDED: (Status, Option<String>) = (Status::Failed, None);

/// Proves that leases last for as long as gateways live, however long that is,
/// and not much longer.
#[tokio::test(start_paused = true)]
async fn gateways_leave_each_others_live_work_alone() {
    let time = StoreInTime::new().await;
    let (one, two) = (RunningJobs::default(), RunningJobs::default());
    let (mut keeps_one, mut keeps_two) = (keeper(&time, &one), keeper(&time, &two));
    let _jobs = [time.begin(&one, "resp_one").await, time.begin(&two, "resp_two").await];
    for round in 0..100 {
        // Each looks while the other sleeps.
        for keeper in [&mut keeps_one, &mut keeps_two] {
            pass(&time, RENEWAL / 2).await;
            keeper.keep().await;
            assert_eq!(time.state("resp_one").await, alive(&one), "round {round}");
            assert_eq!(time.state("resp_two").await, alive(&two), "round {round}");
        }
    }

    // The first gateway dies. For the length of its lease, it may only be late.
    let mut silent = RENEWAL / 2;
    while silent < LEASE - RENEWAL {
        pass(&time, RENEWAL).await;
        silent += RENEWAL;
        keeps_two.keep().await;
        assert_eq!(time.state("resp_one").await, alive(&one), "silent for {silent:?}");
    }
    pass(&time, RENEWAL).await;
    keeps_two.keep().await;
    assert_eq!(time.state("resp_one").await, ENDED);
    assert_eq!(time.state("resp_two").await, alive(&two));
}

/// Proves that nobody's work is taken for abandoned because the store was away, whoever
/// hears of the store first, and with jobs of its own or without.
#[tokio::test(start_paused = true)]
async fn work_that_waits_for_the_store_is_not_abandoned() {
    for first_has_jobs in [true, false] {
        let time = StoreInTime::new().await;
        let (one, two) = (RunningJobs::default(), RunningJobs::default());
        let mut jobs = vec![time.begin(&two, "resp_two").await];
        if first_has_jobs {
            jobs.push(time.begin(&one, "resp_one").await);
        }
        let (mut keeps_one, mut keeps_two) = (keeper(&time, &one), keeper(&time, &two));
        pass(&time, LEASE - RENEWAL).await;
        // The store is away for longer than any lease.
        for _ in 0..10 {
            pass(&time, RENEWAL).await;
            keeps_one.failed();
            keeps_two.failed();
        }
        pass(&time, RENEWAL / 2).await;
        assert_eq!(keeps_one.keep().await, Abandonment::None);
        assert_eq!(time.state("resp_two").await, alive(&two), "{first_has_jobs}");
        keeps_two.keep().await;
        // Whoever has not said anything by then is dead.
        drop(keeps_two);
        for _ in 0..7 {
            pass(&time, RENEWAL).await;
            keeps_one.keep().await;
        }
        assert_eq!(time.state("resp_two").await, ENDED, "{first_has_jobs}");
        if first_has_jobs {
            assert_eq!(time.state("resp_one").await, alive(&one));
        }
    }
}

/// Proves that a response ends which the store has for a gateway that does not work on it:
/// it was taken over and could not be ended, or its gateway never heard that it was written.
#[tokio::test(start_paused = true)]
async fn only_jobs_that_run_are_renewed() {
    let time = StoreInTime::new().await;
    let jobs = RunningJobs::default();
    let mut keeper = keeper(&time, &jobs);
    let _runs = time.begin(&jobs, "resp_runs").await;
    for number in 0..STEP * 2 {
        drop(time.begin(&jobs, &format!("resp_{number}")).await);
    }
    let mut turns = 0;
    for _ in 0..6 {
        pass(&time, RENEWAL).await;
        while keeper.keep().await == Abandonment::PerhapsMore {
            turns += 1;
        }
        assert_eq!(time.state("resp_runs").await, alive(&jobs));
    }
    assert_eq!(turns, 2);
    for number in 0..STEP * 2 {
        assert_eq!(time.state(&format!("resp_{number}")).await, ENDED, "{number}");
    }
}
