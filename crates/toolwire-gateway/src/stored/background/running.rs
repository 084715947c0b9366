//! The jobs of this gateway.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use toolwire_store::{Lease, random_id};

use super::leases::LEASE;
use crate::stored::conversation_lock::ConversationLock;

/// The jobs that are running here.
#[derive(Clone)]
pub(crate) struct RunningJobs {
    owner: Arc<str>,
    jobs: Arc<Mutex<HashMap<String, JobHandle>>>,
    count: Arc<watch::Sender<usize>>,
}

#[derive(Clone)]
struct JobHandle {
    stop: Arc<watch::Sender<bool>>,
    progress: Arc<watch::Sender<u64>>,
    is_stored: Arc<AtomicBool>,
    /// Of the conversation that the job adds to.
    lock: Arc<Mutex<Option<Arc<ConversationLock>>>>,
}

impl JobHandle {
    fn hold(&self, lock: Option<Arc<ConversationLock>>) {
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = lock;
    }
}

impl Default for RunningJobs {
    fn default() -> Self {
        // Without random numbers there are no ids either, so there is no job
        // that could be taken for another gateway's.
        let owner = random_id("gateway_").unwrap_or_default().into();
        Self { owner, jobs: Arc::default(), count: Arc::new(watch::Sender::new(0)) }
    }
}

impl RunningJobs {
    /// The name of this gateway, different in each process.
    pub(super) fn owner(&self) -> &str {
        &self.owner
    }

    /// The promise to work on a job.
    pub(super) fn lease(&self) -> Lease {
        Lease { owner: self.owner.as_ref().to_owned(), duration: LEASE }
    }

    /// Adds a job, unless there are too many.
    pub(super) fn add(&self, id: &str) -> Option<RunningJob> {
        let handle = JobHandle {
            stop: Arc::new(watch::Sender::new(false)),
            progress: Arc::new(watch::Sender::new(0)),
            is_stored: Arc::default(),
            lock: Arc::default(),
        };
        let mut jobs = self.lock();
        if jobs.len() >= MOST_JOBS {
            return None;
        }
        jobs.insert(id.to_owned(), handle.clone());
        self.count.send_replace(jobs.len());
        Some(RunningJob { jobs: self.clone(), id: id.to_owned(), handle })
    }

    /// Stops a job, if it runs here. What it has written stays as it is. It has ended for
    /// everybody else, who need not wait until it notices: the store takes nothing of it any
    /// more.
    pub(crate) fn stop(&self, id: &str) {
        if let Some(job) = self.lock().get(id) {
            job.hold(None);
            job.stop.send_replace(true);
        }
    }

    /// The number of the next event of a job, whenever it grows.
    pub(super) fn progress(&self, id: &str) -> Option<watch::Receiver<u64>> {
        self.lock().get(id).map(|job| job.progress.subscribe())
    }

    /// The jobs that the store knows of.
    pub(super) fn stored(&self) -> Vec<String> {
        let jobs = self.lock();
        let stored = jobs.iter().filter(|(_, job)| job.is_stored.load(Ordering::Relaxed));
        stored.map(|(id, _)| id.clone()).collect()
    }

    /// Waits until none is running.
    pub(crate) async fn ended(&self) {
        // The sender is here, so there is no error.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, JobHandle>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job, which runs for as long as this lives.
pub(crate) struct RunningJob {
    jobs: RunningJobs,
    id: String,
    handle: JobHandle,
}

impl RunningJob {
    /// Notes that the store knows of it.
    pub(super) fn set_stored(&self) {
        self.handle.is_stored.store(true, Ordering::Relaxed);
    }

    /// Keeps everybody else from working on a conversation meanwhile.
    pub(super) fn hold(&self, lock: Option<Arc<ConversationLock>>) {
        self.handle.hold(lock);
    }

    /// Says that the job has ended, which the store knows already. Whoever hears of it may
    /// go on with the conversation at once, so that is free before.
    pub(super) fn ended(&self) {
        self.handle.hold(None);
        self.handle.progress.send_replace(u64::MAX);
    }

    pub(super) async fn stopped(&self) {
        let _ = self.handle.stop.subscribe().wait_for(|is_stopped| *is_stopped).await;
    }

    /// Tells whoever reads the events that there are more.
    pub(super) fn progressed(&self, next: u64) {
        self.handle.progress.send_replace(next);
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.ended();
        let mut jobs = self.jobs.lock();
        jobs.remove(&self.id);
        self.jobs.count.send_replace(jobs.len());
    }
}

/// How many jobs run at a time. Their requests also count as memory in use.
const MOST_JOBS: usize = 1000;
