//! Whether the store works, as far as is known.
//!
//! A model's answer that cannot be stored is paid for and lost, so the store is
//! asked first if nobody has heard of it for a moment.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use toolwire_store::{Store, StoreError, Tenant};

/// What is known about the store.
#[derive(Default)]
pub(super) struct StoreHealth {
    known: Mutex<Known>,
    /// The write that finds out whether there is room, also if nobody waits for it any more.
    /// There is one at a time, because a store that hangs keeps whatever it is asked.
    trial: AsyncMutex<Option<JoinHandle<Result<(), StoreError>>>>,
    /// Told when the store stops working, fails in another way, or works again.
    changed: Notify,
}

#[derive(Default)]
struct Known {
    /// When the store was last heard of.
    at: Option<Instant>,
    /// Why it did not work then.
    failure: Option<StoreError>,
    /// Whether somebody is asking.
    is_asked: bool,
}

impl StoreHealth {
    /// Whether it is known that the store works and has room for this client, without
    /// asking it.
    pub(super) fn is_known_good(&self, store: &Store, tenant: &Tenant) -> bool {
        let is_good = {
            let known = self.lock();
            known.failure.is_none() && known.at.is_some_and(|at| at.elapsed() < RECENT)
        };
        is_good && store.has_known_room(tenant)
    }

    /// Whether there is any use in asking a model for an answer that this client
    /// wants to be stored.
    pub(super) async fn check(&self, store: &Store, tenant: &Tenant) -> Result<(), StoreError> {
        match self.recent() {
            Some(known) => known?,
            None => self.find_out(store).await?,
        }
        store.check_room(tenant).await
    }

    /// Asks the store whether it works, and notes it.
    pub(super) async fn find_out(&self, store: &Store) -> Result<(), StoreError> {
        let _asking = Asking(self);
        let result = tokio::time::timeout(PATIENCE, self.ask(store)).await;
        let result = result.unwrap_or_else(|_late| Err(late()));
        self.note(&result);
        result
    }

    /// Why the store does not work, as far as is known.
    pub(super) fn failure(&self) -> Option<StoreError> {
        self.lock().failure.clone()
    }

    /// Waits until there is something new to say about that.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Notes how a call of the store ended.
    pub(super) fn note(&self, result: &Result<(), StoreError>) {
        let failure = match result {
            Err(failure @ (StoreError::Full(_) | StoreError::Unavailable { .. })) => {
                Some(failure.clone())
            }
            // It works, and has refused.
            Ok(())
            | Err(
                StoreError::NotFound
                | StoreError::Conflict
                | StoreError::Cursor
                | StoreError::TooLarge { .. }
                | StoreError::Invalid(_),
            ) => None,
        };
        let mut known = self.lock();
        known.at = Some(Instant::now());
        if known.failure != failure {
            known.failure = failure;
            self.changed.notify_one();
        }
    }

    /// What is known, if it is recent or somebody else is finding out. If not,
    /// the caller has to find out.
    fn recent(&self) -> Option<Result<(), StoreError>> {
        let mut known = self.lock();
        let is_recent = known.at.is_some_and(|at| at.elapsed() < RECENT);
        if is_recent || known.is_asked {
            return Some(known.failure.clone().map_or(Ok(()), Err));
        }
        known.is_asked = true;
        None
    }

    /// Asks the store. After a failure, reading is not enough: a full disk can
    /// be read.
    async fn ask(&self, store: &Store) -> Result<(), StoreError> {
        let tenant = Tenant::of_key("");
        if self.lock().failure.is_none() {
            return store.response(&tenant, "resp_none").await.map(drop);
        }
        let mut trial = self.trial.lock().await;
        let trying = trial.get_or_insert_with(|| {
            let store = store.clone();
            tokio::spawn(async move { store.try_to_write().await })
        });
        let result = trying.await;
        *trial = None;
        result.unwrap_or_else(|_ended| Err(late()))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends when the answer is there, or when the client that waits for it leaves.
struct Asking<'h>(&'h StoreHealth);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.lock().is_asked = false;
    }
}

fn late() -> StoreError {
    StoreError::Unavailable { reason: "it does not answer".to_owned(), retry: true }
}

/// How long the store may take to say that it works. It may be that the request
/// does not need it in the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long what is known about the store is used.
const RECENT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
