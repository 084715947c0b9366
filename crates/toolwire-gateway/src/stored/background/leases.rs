//! Says that this gateway still works on its jobs, and ends those of gateways
//! that do not say so any more.

use std::time::Duration;

use bytes::Bytes;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::stateful::{self, Progress};
use toolwire_store::{Abandoned, Status, Store, StoreError, Update, Write};

use super::JobKind;
use super::running::RunningJobs;
use crate::stored::list::item_protocol;

/// Renews and ends jobs for as long as it is polled.
pub(crate) async fn keep_leases(store: Store, jobs: RunningJobs) {
    loop {
        keep_once(&store, &jobs).await;
        tokio::time::sleep(RENEWAL).await;
    }
}

async fn keep_once(store: &Store, jobs: &RunningJobs) {
    // If the store is not there, there is another time.
    let _ = renew(store, jobs).await;
    let _ = end_abandoned(store, jobs).await;
}

/// Renews the leases of this gateway's jobs, and stops those that were cancelled
/// or deleted through another gateway.
async fn renew(store: &Store, jobs: &RunningJobs) -> Result<(), StoreError> {
    let known = jobs.stored();
    if known.is_empty() {
        return Ok(());
    }
    let renewed = store.renew(&jobs.lease()).await?;
    for id in known.iter().filter(|id| !renewed.contains(id)) {
        jobs.stop(id);
    }
    Ok(())
}

/// Ends what gateways that have died were working on.
async fn end_abandoned(store: &Store, jobs: &RunningJobs) -> Result<(), StoreError> {
    loop {
        let abandoned = store.claim_abandoned(&jobs.lease(), STEP).await?;
        let count = abandoned.len();
        for job in abandoned {
            end(store, jobs, job).await?;
        }
        if count < STEP {
            return Ok(());
        }
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

/// How many jobs are ended at a time.
const STEP: usize = 100;

const ABANDONED: &str = "The gateway stopped while it was working on this response. Send the \
                         request again.";

#[cfg(test)]
mod tests;
