//! An answer that is being made, and everything of it that is stored.
//!
//! A client sees an event only after it is stored, so it can go on after any
//! event it has seen, also through another gateway.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::stateful::{self, Progress};
use toolwire::translate::KeptState;
use toolwire::{Protocol, codec};
use toolwire_store::{Item, Status, Store, StoreError, Tenant, Update, Write};

use super::JobKind;
use super::replay::EventReplay;
use super::running::RunningJob;
use crate::state::GatewayState;
use crate::stored::answer_write::write_answer;
use crate::stored::failure::explained;
use crate::stored::joined_conversation::JoinedConversation;
use crate::stored::record::{output_items, status};

/// An answer that is being made. Clones are about the same one.
#[derive(Clone)]
pub(crate) struct Job {
    pub(super) store: Store,
    pub(super) tenant: Tenant,
    pub(super) client: Protocol,
    pub(super) kind: JobKind,
    pub(super) owner: String,
    pub(super) conversation: Option<JoinedConversation>,
    pub(super) input: Arc<Vec<Item>>,
    /// The answer as long as nothing of it is there.
    pub(super) pending: Bytes,
    /// The number of the next event.
    pub(super) next: Arc<AtomicU64>,
    pub(super) running: Arc<RunningJob>,
    pub(super) kept: KeptState,
}

/// Why a job goes no further.
pub(crate) enum JobEnd {
    /// It was cancelled or deleted, or another gateway has given it up.
    Stopped,
    /// It cannot be stored.
    Failed(ApiError),
}

impl Job {
    /// What the answer says about what is kept.
    pub(crate) fn kept(&self) -> &KeptState {
        &self.kept
    }

    /// The answer as its client gets it at first.
    pub(crate) fn queued(&self) -> Bytes {
        let queued = stateful::with_progress(self.client, &self.pending, Progress::Queued);
        queued.ok().flatten().map_or_else(|| self.pending.clone(), Bytes::from)
    }

    /// The events of the answer, as they are made.
    pub(crate) fn replay(&self, state: &Arc<GatewayState>, heartbeat: Duration) -> EventReplay {
        let (store, tenant) = (self.store.clone(), self.tenant.clone());
        EventReplay::start(state, store, tenant, self.id().to_owned(), None, heartbeat)
    }

    /// Waits until somebody does not want the answer any more.
    pub(crate) async fn stopped(&self) {
        self.running.stopped().await;
    }

    /// Stores events.
    pub(crate) async fn append(&self, events: Vec<Bytes>) -> Result<(), JobEnd> {
        if events.is_empty() {
            return Ok(());
        }
        let (id, owner) = (self.id().to_owned(), self.owner.clone());
        let (first, count) = (self.next.load(Ordering::Relaxed), events.len() as u64);
        self.write(vec![Write::Events { id, owner, first, events }]).await?;
        self.next.store(first + count, Ordering::Relaxed);
        self.running.progressed(first + count);
        Ok(())
    }

    /// The whole answer in an event, if it ends with this event.
    pub(crate) fn ending(&self, event: &str) -> Option<Bytes> {
        let answer = (codec(self.client).answer_in_event)(event)?;
        let read = stateful::read_answer(self.client, answer.as_bytes()).ok()??;
        let has_ended = !matches!(read.status.as_str(), "queued" | "in_progress" | "");
        has_ended.then(|| answer.into())
    }

    /// Stores the whole answer, with its last events.
    pub(crate) async fn complete(&self, answer: Bytes, events: Vec<Bytes>) -> Result<(), JobEnd> {
        let cannot = || ApiError::new(ErrorKind::Server, "The answer cannot be stored.");
        let read = stateful::read_answer(self.client, &answer);
        let Ok(Some(read)) = read else { return Err(JobEnd::Failed(cannot())) };
        let output = output_items(read.output, &answer, &self.input);
        let refused = |error: StoreError| JobEnd::Failed(explained(&error).1);
        let output = output.map_err(refused)?;
        let mut writes = Vec::with_capacity(2);
        let status = status(&read.status);
        // A failed turn is not part of the conversation.
        let conversation = self.conversation.as_ref().filter(|_| status != Status::Failed);
        if let Some(joined) = conversation {
            writes.push(joined.append(&self.input, &output).map_err(refused)?);
        }
        writes.push(Write::Update(self.update(status, answer, output, events)));
        self.write(writes).await?;
        self.running.ended();
        Ok(())
    }

    /// Stores that there will be no answer.
    pub(crate) async fn fail(&self, error: &ApiError) {
        let failed = stateful::with_progress(self.client, &self.pending, Progress::Failed(error));
        let Ok(Some(failed)) = failed else { return };
        let number = self.next.load(Ordering::Relaxed);
        let events = self.kind.last_events(self.client, &failed, Some(error), number);
        let update = self.update(Status::Failed, failed.into(), Vec::new(), events);
        // Whoever stopped it has said how it ended.
        let _ = self.write(vec![Write::Update(update)]).await;
        self.running.ended();
    }

    fn id(&self) -> &str {
        self.kept.id.as_deref().unwrap_or_default()
    }

    fn update(&self, status: Status, body: Bytes, output: Vec<Item>, events: Vec<Bytes>) -> Update {
        let next = self.next.load(Ordering::Relaxed);
        let events = (!events.is_empty()).then_some((next, events));
        let owner = Some(self.owner.clone());
        Update { id: self.id().to_owned(), owner, status, body, output, events }
    }

    /// Writes, and waits for a store that does not work: the answer is paid for.
    async fn write(&self, writes: Vec<Write>) -> Result<(), JobEnd> {
        let mut pause = FIRST_PAUSE;
        let mut may_be_written = false;
        loop {
            let result = write_answer(&self.store, &self.tenant, writes.clone()).await;
            match result {
                Ok(()) => return Ok(()),
                Err(StoreError::Unavailable { .. } | StoreError::Full(_)) => {
                    may_be_written = true;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(StoreError::Conflict) if may_be_written && self.has(&writes).await => {
                    return Ok(());
                }
                Err(error) => return Err(self.end(&error).await),
            }
        }
    }

    /// Why a write was refused.
    async fn end(&self, error: &StoreError) -> JobEnd {
        match error {
            StoreError::NotFound => JobEnd::Stopped,
            StoreError::Conflict => {
                // It may have been ended by somebody else.
                let found = self.store.response(&self.tenant, self.id()).await;
                let is_own = found.ok().flatten().is_some_and(|response| {
                    !response.status.is_terminal() && response.owner.as_ref() == Some(&self.owner)
                });
                if is_own { JobEnd::Failed(explained(error).1) } else { JobEnd::Stopped }
            }
            StoreError::Cursor
            | StoreError::Invalid(_)
            | StoreError::TooLarge { .. }
            | StoreError::Full(_)
            | StoreError::Unavailable { .. } => JobEnd::Failed(explained(error).1),
        }
    }

    /// Whether a write has happened whose confirmation never came.
    async fn has(&self, writes: &[Write]) -> bool {
        match writes.last() {
            Some(Write::Events { id, first, events, .. }) => {
                let last = first + events.len() as u64 - 1;
                let after = last.checked_sub(1);
                let found = self.store.events(&self.tenant, id, after, 1).await.ok().flatten();
                let found = found.and_then(|found| found.events.into_iter().next());
                found.is_some_and(|(number, event)| number == last && events.last() == Some(&event))
            }
            Some(Write::Update(update)) => {
                let found = self.store.response(&self.tenant, &update.id).await.ok().flatten();
                found
                    .is_some_and(|found| found.status == update.status && found.body == update.body)
            }
            _others => false,
        }
    }
}

/// How long to wait for a store that does not work, at first.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// How long to wait for it at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests;
