//! Responses of several clients, stored together.
//!
//! Most of what a write costs the gateway is around it: a connection that is taken and
//! given back, a message to the server and its answer, and the tasks that are woken for
//! them. So the responses that wait at the same time share one of each.

use std::sync::{Arc, Weak};

use tokio::sync::{Semaphore, mpsc, oneshot};

use super::connection::Connections;
use super::group_pace::GroupPace;
use super::response;
use super::shared::{CutChange, KnownParts, SharedParts};

/// Hands responses to the task that puts groups together. The task ends with it.
pub(super) struct ResponseGroups {
    queue: mpsc::Sender<WaitingResponse>,
}

/// What became of a response in its group.
#[derive(Clone, Copy)]
pub(super) enum Outcome {
    Stored,
    /// Nothing has happened. Its id may be taken.
    NotStored,
    /// Nobody knows whether it is stored.
    Unknown,
}

struct WaitingResponse {
    /// What [`response::only_response`] takes for a response. It is gone if nobody waits any
    /// more: who was told that it is late may have tried again elsewhere.
    changes: Weak<Vec<CutChange>>,
    bytes: i64,
    outcome: oneshot::Sender<Outcome>,
}

/// A response whose turn has come.
struct NextResponse {
    changes: Arc<Vec<CutChange>>,
    outcome: oneshot::Sender<Outcome>,
}

impl ResponseGroups {
    pub(super) fn start(connections: Arc<Connections>, shared: Arc<SharedParts>) -> Self {
        let (queue, waiting) = mpsc::channel(LONGEST_QUEUE);
        tokio::spawn(store_all(connections, shared, waiting));
        Self { queue }
    }

    /// Stores a response together with others. If it is not stored, it should be tried alone,
    /// which tells why. So should one that is large, without being handed over: it would hold
    /// up the others, and a message to the server has an end.
    pub(super) async fn store(&self, changes: &Arc<Vec<CutChange>>) -> Outcome {
        let Some(bytes) = response::only_response(changes).map(|new| new.full.record.bytes) else {
            return Outcome::NotStored;
        };
        let (outcome, result) = oneshot::channel();
        let waiting = WaitingResponse { changes: Arc::downgrade(changes), bytes, outcome };
        if bytes > MOST_BYTES || self.queue.send(waiting).await.is_err() {
            return Outcome::NotStored;
        }
        result.await.unwrap_or(Outcome::Unknown)
    }
}

async fn store_all(
    connections: Arc<Connections>,
    shared: Arc<SharedParts>,
    mut queue: mpsc::Receiver<WaitingResponse>,
) {
    let (groups, mut pace) = (Arc::new(Semaphore::new(MOST_GROUPS)), GroupPace::new());
    while let Some(first) = queue.recv().await {
        // Whoever is about to hand over a response does so first.
        tokio::task::yield_now().await;
        pace.wait(groups.available_permits() < MOST_GROUPS).await;
        let Ok(permit) = Arc::clone(&groups).acquire_owned().await else { return };
        let (mut next, mut group, mut bytes) = (Some(first), Vec::new(), 0_i64);
        while let Some(WaitingResponse { changes, bytes: more, outcome }) = next {
            if let Some(changes) = changes.upgrade() {
                bytes = bytes.saturating_add(more);
                group.push(NextResponse { changes, outcome });
            }
            let has_room = group.len() < LARGEST_GROUP && bytes < MOST_BYTES;
            next = if has_room { queue.try_recv().ok() } else { None };
        }
        if group.is_empty() {
            continue;
        }
        pace.begin(group.len());
        let (connections, shared) = (Arc::clone(&connections), Arc::clone(&shared));
        tokio::spawn(async move {
            store_group(&connections, &shared, group).await;
            drop(permit);
        });
    }
}

async fn store_group(connections: &Connections, shared: &SharedParts, group: Vec<NextResponse>) {
    let responses = group.iter().filter_map(|one| response::only_response(&one.changes));
    let responses: Vec<_> = responses.collect();
    let store = async {
        let (mut connection, known) = (connections.get().await?, KnownParts::Trusted);
        let client = connection.object()?;
        let stored = response::insert_together(client, shared, known, &responses).await;
        connection.finish(stored)
    };
    let outcomes = match connections.limited(store).await {
        Ok(stored) => stored.into_iter().map(Outcome::of).collect(),
        Err(failure) if failure.is_missing_part() => {
            shared.note_gone(responses.into_iter());
            vec![Outcome::NotStored; group.len()]
        }
        Err(failure) if failure.may_be_done() => vec![Outcome::Unknown; group.len()],
        Err(_) => vec![Outcome::NotStored; group.len()],
    };
    for (one, outcome) in group.into_iter().zip(outcomes) {
        // Who has stopped waiting does not want to know.
        let _ = one.outcome.send(outcome);
    }
}

impl Outcome {
    fn of(is_stored: bool) -> Self {
        if is_stored { Self::Stored } else { Self::NotStored }
    }
}

/// How many groups are under way at a time. The fewer, the fuller they are; one alone would
/// let everybody wait for a whole round trip before theirs begins.
const MOST_GROUPS: usize = 4;

/// How many responses are one transaction at most.
const LARGEST_GROUP: usize = 64;

/// How many bytes are one transaction at most, but for the last response of it. Whatever is
/// in a group is one message, and each column of it one value.
const MOST_BYTES: i64 = 4 << 20;

/// How many responses may wait before their callers wait for room.
const LONGEST_QUEUE: usize = 1024;
