//! Keeps the answer to one turn of a session.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use toolwire::model::Usage;
use toolwire::tracker::Tracker;
use toolwire::{Protocol, codec, session};
use toolwire_store::{Item, Store, StoreError, Tenant, Write, random_id};

use super::failure::from_store;
use super::kept::{SessionChange, tag};
use super::stats::SessionStats;
use crate::heavy_work::in_place;
use crate::relay::Failure;
use crate::stored::conversation_lock::ConversationLock;
use crate::stored::health::StoreHealth;

/// Keeps the answer to one request, with what the client had sent.
pub(crate) struct SessionRecorder {
    pub(super) client: Protocol,
    pub(super) store: Store,
    pub(super) health: Arc<StoreHealth>,
    pub(super) tenant: Tenant,
    pub(super) id: String,
    /// The version of the session that the model has seen. `None` if there was
    /// no session.
    pub(super) version: Option<u64>,
    pub(super) stats: SessionStats,
    pub(super) change: SessionChange,
    /// The calls before the answer.
    pub(super) calls: Option<Tracker>,
    /// Nobody else works on the session until the answer is kept.
    pub(super) _lock: Option<Arc<ConversationLock>>,
}

impl SessionRecorder {
    /// The session.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Says which calls the conversation has before the answer.
    pub(crate) fn set_calls(&mut self, calls: Tracker) {
        self.calls = Some(calls);
    }

    /// Says what the answer has cost.
    pub(crate) fn set_usage(&mut self, usage: &Usage<'_>) {
        self.stats.add_tokens(usage);
    }

    /// Keeps the answer. When this returns, the session goes on from it.
    pub(crate) async fn record(self, answer: Bytes) -> Result<(), Failure> {
        self.commit(answer).await.map_err(|error| from_store(&error))
    }

    async fn commit(mut self, answer: Bytes) -> Result<(), StoreError> {
        let writes = in_place(answer.len(), || self.writes(&answer))?;
        let result = self.store.write(&self.tenant, writes).await;
        self.health.note(&result);
        result
    }

    fn writes(&mut self, answer: &Bytes) -> Result<Vec<Write>, StoreError> {
        let Self { client, id, version, stats, change, calls, .. } = self;
        let unreadable = || StoreError::Invalid("the answer");
        let text = std::str::from_utf8(answer).map_err(|_| unreadable())?;
        let mut change = std::mem::take(change);
        if session::says_anything(*client, answer).map_err(|_| unreadable())? {
            for message in (codec(*client).answer_items)(text).map_err(|_| unreadable())? {
                let (id, tag) = (random_id("msg_")?, tag(*client, false));
                change.added.push(Item { id, tag, body: message.into() });
            }
        }
        let mut calls = calls.take().unwrap_or_default();
        calls.answer(*client, answer, Duration::ZERO).map_err(|_| unreadable())?;
        stats.turns += 1;
        stats.count_calls(&calls);
        Ok(change.writes(id, *version, stats))
    }
}
