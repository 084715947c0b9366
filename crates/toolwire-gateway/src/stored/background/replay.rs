//! The events of an answer, for a client that comes back.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use toolwire_store::{Events, Status, Store, StoreError, Tenant};

use super::JobKind;
use crate::relay::{Failure, HEARTBEAT};
use crate::response_body::StreamAborted;
use crate::state::GatewayState;
use crate::stored::endpoints::Access;
use crate::stored::failure::{from_store, invalid, not_found};
use crate::stored::list::{item_protocol, parameters};

/// Events on their way to a client. What it does not read stays in the store.
pub(crate) struct EventReplay {
    chunks: mpsc::Receiver<Result<Bytes, StreamAborted>>,
}

/// Whether a query asks for the events of a response.
pub(crate) fn is_asked_for(query: &str) -> bool {
    parameters(query).any(|(name, value)| name == "stream" && value == "true")
}

impl EventReplay {
    /// Begins with the event that a client asks for.
    pub(in crate::stored) async fn find(
        state: &Arc<GatewayState>,
        access: &Access<'_>,
        id: &str,
        heartbeat: Duration,
    ) -> Result<Self, Failure> {
        let found = access.store.response(&access.tenant, id).await;
        let found = found.map_err(|error| from_store(&error))?.ok_or_else(not_found)?;
        if JobKind::of(&found) != Some(JobKind::Streamed) {
            let message = "Only a response that was created with `background: true` and \
                           `stream: true` can be streamed again.";
            return Err(invalid("stream", message));
        }
        let after = parameters(access.query).find(|(name, _)| name == "starting_after");
        let after = after.map(|(_, value)| value.parse::<u64>()).transpose().map_err(|_| {
            invalid("starting_after", "`starting_after` must be the number of an event.")
        })?;
        let (store, tenant) = (access.store.clone(), access.tenant.clone());
        Ok(Self::start(state, store, tenant, id.to_owned(), after, heartbeat))
    }

    /// Begins after an event, or with the first one.
    pub(super) fn start(
        state: &Arc<GatewayState>,
        store: Store,
        tenant: Tenant,
        id: String,
        after: Option<u64>,
        heartbeat: Duration,
    ) -> Self {
        let (sender, chunks) = mpsc::channel(1);
        let progress = state.stored.jobs.progress(&id);
        let reader = Reader { store, tenant, id, after, heartbeat, progress, sender };
        let mut cancellation = state.drain.cancellation();
        tokio::spawn(async move {
            let sender = reader.sender.clone();
            let is_cut = tokio::select! {
                end = reader.run() => end.is_err(),
                () = std::future::poll_fn(|cx| cancellation.poll_cancelled(cx)) => true,
                () = sender.closed() => false,
            };
            if is_cut {
                // The client can come back for the rest.
                let _ = sender.send(Err(StreamAborted)).await;
            }
        });
        Self { chunks }
    }

    /// The next chunk for the client.
    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        self.chunks.poll_recv(cx)
    }
}

/// Reads events and hands them over.
struct Reader {
    store: Store,
    tenant: Tenant,
    id: String,
    after: Option<u64>,
    heartbeat: Duration,
    /// News of the job, if it runs here.
    progress: Option<watch::Receiver<u64>>,
    sender: mpsc::Sender<Result<Bytes, StreamAborted>>,
}

impl Reader {
    async fn run(mut self) -> Result<(), StoreError> {
        let mut sent_at = Instant::now();
        loop {
            if let Some(progress) = &mut self.progress {
                progress.borrow_and_update();
            }
            let found = self.store.events(&self.tenant, &self.id, self.after, PAGE).await?;
            // It may be deleted while it is read.
            let Some(Events { status, events, more }) = found else { return Ok(()) };
            if let Some((last, _)) = events.last() {
                self.after = Some(*last);
                let size = events.iter().map(|(_, event)| event.len()).sum();
                let mut chunk = Vec::with_capacity(size);
                events.iter().for_each(|(_, event)| chunk.extend_from_slice(event));
                if self.sender.send(Ok(chunk.into())).await.is_err() {
                    return Ok(());
                }
                sent_at = Instant::now();
            }
            if more {
                continue;
            }
            if status == Status::Cancelled {
                return self.end_cancelled().await;
            }
            if status.is_terminal() {
                return Ok(());
            }
            self.wait(&mut sent_at).await;
        }
    }

    /// Sends the events with which a cancelled answer ends. They are not stored: the job may
    /// be adding events while a client cancels it, and whoever cancels does not know how
    /// many there are. The stored ones say it to every reader in the same way.
    async fn end_cancelled(&self) -> Result<(), StoreError> {
        let found = self.store.response(&self.tenant, &self.id).await?;
        let (Some(response), Some(next)) = (found, self.next_number().await?) else {
            return Ok(());
        };
        let events = JobKind::Streamed.last_events(item_protocol(), &response.body, None, next);
        let numbered = (next..).zip(events);
        let unseen = numbered.filter(|(number, _)| self.after.is_none_or(|after| *number > after));
        let chunk: Vec<u8> = unseen.flat_map(|(_, event)| event).collect();
        if !chunk.is_empty() {
            // The client may have left.
            let _ = self.sender.send(Ok(chunk.into())).await;
        }
        Ok(())
    }

    /// The number behind the last stored event, if nothing is stored behind what the client
    /// has seen. `None` if it has seen more than that, so there is nothing left to send.
    async fn next_number(&self) -> Result<Option<u64>, StoreError> {
        let Some(seen) = self.after else { return Ok(Some(0)) };
        let has_events = async |after: Option<u64>| {
            let found = self.store.events(&self.tenant, &self.id, after, 1).await?;
            Ok::<_, StoreError>(found.is_some_and(|found| !found.events.is_empty()))
        };
        if has_events(seen.checked_sub(1)).await? {
            return Ok(Some(seen + 1));
        }
        Ok((!has_events(None).await?).then_some(0))
    }

    /// Waits until there may be more events.
    async fn wait(&mut self, sent_at: &mut Instant) {
        let end = Instant::now() + POLL;
        loop {
            let next_heartbeat = *sent_at + self.heartbeat;
            let has_news = async {
                match &mut self.progress {
                    // The job has ended, which the store knows.
                    Some(progress) => progress.changed().await.unwrap_or(()),
                    None => tokio::time::sleep_until(end).await,
                }
            };
            if tokio::time::timeout_at(next_heartbeat, has_news).await.is_ok() {
                if self.progress.as_ref().is_some_and(|progress| progress.has_changed().is_err()) {
                    self.progress = None;
                }
                return;
            }
            *sent_at = Instant::now();
            if self.sender.send(Ok(Bytes::from_static(HEARTBEAT))).await.is_err() {
                return;
            }
        }
    }
}

/// How many events are read at a time.
const PAGE: usize = 32;

/// How often to look for the events of a job that runs elsewhere.
const POLL: Duration = Duration::from_millis(250);
