//! Says that this gateway still works on its jobs, and ends those of gateways
//! that do not say so any more.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::stateful::{self, Progress};
use toolwire_store::{Abandoned, Status, Store, StoreError, Update, Write};

use super::JobKind;
use super::running::RunningJobs;
use crate::stored::list::item_protocol;

/// Renews and ends jobs for as long as it is polled.
pub(crate) async fn keep_leases(store: Store, jobs: RunningJobs) {
    let mut keeper = LeaseKeeper::new(store, jobs);
    loop {
        if keeper.keep().await == Abandonment::None {
            tokio::time::sleep(RENEWAL).await;
        }
    }
}

struct LeaseKeeper {
    store: Store,
    jobs: RunningJobs,
    /// Since when the store has answered whatever it was asked here.
    reachable_since: Instant,
}

/// Whether there may be more jobs that gateways have left behind.
#[derive(Debug, PartialEq, Eq)]
enum Abandonment {
    None,
    PerhapsMore,
}

impl LeaseKeeper {
    fn new(store: Store, jobs: RunningJobs) -> Self {
        Self { store, jobs, reachable_since: Instant::now() }
    }

    /// Renews the leases of this gateway, and ends some of the jobs whose leases have run out.
    ///
    /// While the store is away nobody can renew anything, so afterward all leases have run
    /// out, also those of jobs that wait for the store with their answers. So when it is back,
    /// everybody gets the time of a lease to say that they are alive.
    async fn keep(&mut self) -> Abandonment {
        let kept = match self.renew().await {
            Ok(()) if self.reachable_since.elapsed() >= LEASE => self.end_abandoned().await,
            Ok(()) => Ok(Abandonment::None),
            Err(error) => Err(error),
        };
        kept.unwrap_or_else(|_error| {
            self.failed();
            Abandonment::None
        })
    }

    /// Notes that the store was asked and has not answered.
    fn failed(&mut self) {
        self.reachable_since = Instant::now();
    }

    /// Renews the leases of the jobs that run here, and stops those that were cancelled
    /// or deleted through another gateway. A store that this gateway has no jobs in is asked
    /// all the same, to know whether it answers.
    async fn renew(&self) -> Result<(), StoreError> {
        let known = self.jobs.stored();
        let renewed = self.store.renew(&self.jobs.lease(), &known).await?;
        for id in known.iter().filter(|id| !renewed.contains(id)) {
            self.jobs.stop(id);
        }
        Ok(())
    }

    /// Ends jobs that gateways which have died were working on: as many as this gateway's
    /// own leases leave time for. What it takes and fails to end is taken again when its
    /// lease has run out, because only jobs that run are renewed.
    async fn end_abandoned(&self) -> Result<Abandonment, StoreError> {
        let Self { store, jobs, .. } = self;
        let abandoned = store.claim_abandoned(&jobs.lease(), STEP).await?;
        let count = abandoned.len();
        for job in abandoned {
            end(store, jobs, job).await?;
        }
        Ok(if count < STEP { Abandonment::None } else { Abandonment::PerhapsMore })
    }
}

async fn end(store: &Store, jobs: &RunningJobs, job: Abandoned) -> Result<(), StoreError> {
    let Abandoned { tenant, response, next_event } = job;
    let error = ApiError::new(ErrorKind::Server, ABANDONED);
    let progress = Progress::Failed(&error);
    let failed = stateful::with_progress(item_protocol(), &response.body, progress);
    let failed = failed.ok().flatten().map_or(response.body.clone(), Bytes::from);
    let events = JobKind::of(&response).map_or_else(Vec::new, |kind| {
        kind.last_events(item_protocol(), &failed, Some(&error), next_event)
    });
    let update = Update {
        id: response.id,
        owner: Some(jobs.owner().to_owned()),
        status: Status::Failed,
        body: failed,
        output: Vec::new(),
        events: (!events.is_empty()).then_some((next_event, events)),
    };
    match store.write(&tenant, vec![Write::Update(update)]).await {
        // It was deleted or cancelled in the meantime.
        Err(StoreError::NotFound | StoreError::Conflict) => Ok(()),
        other => other,
    }
}

/// After how long without news a gateway counts as dead. Several renewals may
/// fail in this time, and clocks may differ.
pub(super) const LEASE: Duration = Duration::from_secs(15);

/// How often a gateway says that it is alive.
const RENEWAL: Duration = Duration::from_secs(3);

/// How many jobs are ended between two renewals.
const STEP: usize = 16;

const ABANDONED: &str = "The gateway stopped while it was working on this response. Send the \
                         request again.";

#[cfg(test)]
mod tests;
