//! The store, as its users see it.

use std::sync::Arc;

use bytes::Bytes;

use crate::change::Moment;
use crate::engine::{Cursor, Engine, ItemsQuery, Limit};
use crate::error::{Cap, OpenError, StoreError};
use crate::id::{Tenant, is_possible_id};
use crate::model::{
    Abandoned, ChainLink, Events, Item, ItemPage, Order, Page, Response, Stats, Thread, ThreadKind,
    ThreadPage, Timestamp, Usage,
};
use crate::options::{Limits, Options};
use crate::plan::Plan;
use crate::record::{Kind, Record, Row, Section};
use crate::usage::{Room, UsageTracker};
use crate::write::{Lease, Write};

/// What the gateway remembers. Clones share one store.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Arc<Engine>,
    options: Options,
    usage: Arc<UsageTracker>,
}

impl Store {
    /// Opens a store, and brings its tables up to date.
    ///
    /// A store that cannot be reached at the moment is opened all the same: its
    /// calls fail with [`StoreError::Unavailable`] until it can be. An error
    /// means that somebody has to do something first.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        let engine = Arc::new(Engine::open(&options.engine).await?);
        let inner = Inner { engine, options, usage: Arc::default() };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Writes all of it or nothing. After this has returned, it is stored.
    ///
    /// If the connection to Postgres breaks at the very end, nobody knows
    /// whether the write has happened, and the error is
    /// [`StoreError::Unavailable`].
    pub async fn write(&self, tenant: &Tenant, writes: Vec<Write>) -> Result<(), StoreError> {
        let Inner { engine, options, usage } = &*self.inner;
        let moment = self.moment();
        // A response that cannot be stored must still be able to end.
        let only_ends = writes.iter().all(Write::ends_without_output);
        let plan = Plan::new(tenant.as_str(), writes, moment, options.limits.value)?;
        let room = if only_ends {
            usage.take_anyway(tenant, plan.bytes)
        } else {
            usage.take(engine, &options.limits, tenant, plan.bytes).await?
        };
        let written = engine.write(tenant, moment, plan.changes).await;
        match &written {
            Ok(()) => {}
            Err(StoreError::Unavailable { .. }) => room.leave_unsure(),
            Err(_) => room.give_back(),
        }
        written
    }

    /// Whether a tenant may store anything at all at the moment.
    pub async fn check_room(&self, tenant: &Tenant) -> Result<(), StoreError> {
        let Inner { engine, options, usage } = &*self.inner;
        usage.take(engine, &options.limits, tenant, 1).await.map(Room::give_back)
    }

    /// How much may be kept.
    pub fn limits(&self) -> &Limits {
        &self.inner.options.limits
    }

    /// Whether it is known that a tenant may store something, without asking the
    /// engine.
    pub fn has_known_room(&self, tenant: &Tenant) -> bool {
        let Inner { engine: _, options, usage } = &*self.inner;
        usage.is_known_to_fit(&options.limits, tenant, 1)
    }

    /// A response.
    pub async fn response(
        &self,
        tenant: &Tenant,
        id: &str,
    ) -> Result<Option<Response>, StoreError> {
        let record = self.record(tenant, Kind::Response, id).await?;
        Ok(record.map(response))
    }

    /// A response and everything that it continues, oldest first, in one read.
    ///
    /// There is no chain if any part of it was deleted: half a conversation
    /// would be a different one. Older parts are kept as long as the newest.
    pub async fn chain(
        &self,
        tenant: &Tenant,
        id: &str,
    ) -> Result<Option<Vec<ChainLink>>, StoreError> {
        self.chain_within(tenant, id, self.inner.options.limits.read).await
    }

    /// The same, of which so many bytes are read at most, for somebody who has no room for
    /// more. If it is longer, the error is [`StoreError::TooLarge`] with this limit.
    pub async fn chain_within(
        &self,
        tenant: &Tenant,
        id: &str,
        limit: u64,
    ) -> Result<Option<Vec<ChainLink>>, StoreError> {
        if !is_possible_id(id) {
            return Ok(None);
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX).min(self.read_limit());
        match self.inner.engine.chain(tenant, id, self.now(), limit).await {
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
            Ok(chain) => Ok(Some(chain)),
        }
    }

    /// Input items of a response.
    pub async fn input_items(
        &self,
        tenant: &Tenant,
        id: &str,
        page: &Page,
    ) -> Result<Option<ItemPage>, StoreError> {
        self.page(tenant, Kind::Response, Section::Input, id, page).await
    }

    /// Events of a response, after a sequence number if there is one.
    pub async fn events(
        &self,
        tenant: &Tenant,
        id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Option<Events>, StoreError> {
        let cursor = match after {
            Some(after) => Cursor::Position(i64::try_from(after).unwrap_or(i64::MAX)),
            None => Cursor::Start,
        };
        let found = self
            .items(tenant, Kind::Response, id, Section::Event, cursor, Limit::rows(limit))
            .await?;
        Ok(found.map(|(record, rows, more)| {
            let number = |row: &Row| u64::try_from(row.position).unwrap_or(0);
            let events = rows.into_iter().map(|row| (number(&row), row.body)).collect();
            Events { status: record.status, events, more }
        }))
    }

    /// An item of any response or thread of the tenant. If several have this
    /// id, it is the one that was written last.
    pub async fn item(&self, tenant: &Tenant, id: &str) -> Result<Option<Item>, StoreError> {
        if !is_possible_id(id) {
            return Ok(None);
        }
        let found = self.inner.engine.item(tenant, id, self.now()).await?;
        // The body is a part of everything that its response has, which would stay in
        // memory with it.
        Ok(found.map(|item| Item { body: Bytes::copy_from_slice(&item.body), ..item }))
    }

    /// A thread, without its items.
    pub async fn thread(
        &self,
        tenant: &Tenant,
        kind: ThreadKind,
        id: &str,
    ) -> Result<Option<Thread>, StoreError> {
        let record = self.record(tenant, kind.into(), id).await?;
        Ok(record.map(thread))
    }

    /// A thread with all its items, which are those of its version.
    pub async fn thread_with_items(
        &self,
        tenant: &Tenant,
        kind: ThreadKind,
        id: &str,
    ) -> Result<Option<(Thread, Vec<Item>)>, StoreError> {
        let limit = Limit { order: Order::OldestFirst, rows: None, bytes: self.read_limit() };
        let found =
            self.items(tenant, kind.into(), id, Section::Entry, Cursor::Start, limit).await?;
        Ok(found.map(|(record, rows, _)| (thread(record), items(rows))))
    }

    /// Items of a thread.
    pub async fn thread_items(
        &self,
        tenant: &Tenant,
        kind: ThreadKind,
        id: &str,
        page: &Page,
    ) -> Result<Option<ItemPage>, StoreError> {
        self.page(tenant, kind.into(), Section::Entry, id, page).await
    }

    /// The tenant's threads of one kind, in the order in which they were made.
    pub async fn threads(
        &self,
        tenant: &Tenant,
        kind: ThreadKind,
        page: &Page,
    ) -> Result<ThreadPage, StoreError> {
        if page.after.as_ref().is_some_and(|after| !is_possible_id(after)) {
            return Err(StoreError::Cursor);
        }
        let (records, more) =
            self.inner.engine.threads(tenant, kind.into(), page, self.now()).await?;
        Ok(ThreadPage { threads: records.into_iter().map(thread).collect(), more })
    }

    /// Deletes a response with everything that belongs to it. Returns whether
    /// there was one.
    pub async fn delete_response(&self, tenant: &Tenant, id: &str) -> Result<bool, StoreError> {
        self.delete(tenant, Kind::Response, id).await
    }

    /// Deletes a thread with its items. Returns whether there was one.
    pub async fn delete_thread(
        &self,
        tenant: &Tenant,
        kind: ThreadKind,
        id: &str,
    ) -> Result<bool, StoreError> {
        self.delete(tenant, kind.into(), id).await
    }

    /// How much a tenant has stored.
    pub async fn usage(&self, tenant: &Tenant) -> Result<Usage, StoreError> {
        self.inner.engine.usage(Some(tenant)).await
    }

    /// Says that a gateway is still working on these of its responses. Returns the ids
    /// of those that are still its own. The lease of any other runs out.
    pub async fn renew(&self, lease: &Lease, ids: &[String]) -> Result<Vec<String>, StoreError> {
        let now = self.now();
        self.inner.engine.renew(&lease.owner, lease.until(now), ids).await
    }

    /// Takes over responses whose gateways have stopped renewing their leases.
    /// Each is given to one caller, who writes an [`Update`](crate::Update)
    /// that ends it.
    pub async fn claim_abandoned(
        &self,
        lease: &Lease,
        limit: usize,
    ) -> Result<Vec<Abandoned>, StoreError> {
        let now = self.now();
        let until = lease.until(now);
        let records = self.inner.engine.claim(&lease.owner, now, until, limit).await?;
        let abandoned = records.into_iter().map(|record| Abandoned {
            tenant: Tenant::from_stored(&record.tenant),
            next_event: u64::try_from(record.next).unwrap_or(0),
            response: response(record),
        });
        Ok(abandoned.collect())
    }

    /// Deletes what has expired, at most `limit` chains and threads. Returns how
    /// many they were; zero means that nothing is left to do. The responses of
    /// a chain go together, when the last of them has expired.
    pub async fn prune(&self, limit: usize) -> Result<u64, StoreError> {
        let pruned = self.inner.engine.prune(self.now(), limit).await?;
        if pruned > 0 {
            self.inner.usage.forget();
        }
        Ok(pruned)
    }

    /// Finds out whether anything can be written: writes as much as an answer may have, and
    /// deletes it in the same transaction, so nothing of it is ever there to be seen or
    /// counted.
    pub async fn try_to_write(&self) -> Result<(), StoreError> {
        let mut trial = vec![0; TRIAL_SIZE];
        // What could be packed would need less room.
        let _ = getrandom::fill(&mut trial);
        self.inner.engine.try_to_write(trial).await
    }

    /// Has the disk confirm what was written until now, for a program that ends and would
    /// otherwise leave that to the system. A store that is not on a disk of this machine
    /// has nothing to do.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.inner.engine.flush().await
    }

    /// The state of the store. This counts everything.
    pub async fn stats(&self) -> Result<Stats, StoreError> {
        self.inner.engine.stats(self.now()).await
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    pub(crate) fn forget_usage(&self) {
        self.inner.usage.forget();
    }

    async fn record(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
    ) -> Result<Option<Record>, StoreError> {
        if !is_possible_id(id) {
            return Ok(None);
        }
        self.inner.engine.record(tenant, kind, id, self.now()).await
    }

    async fn delete(&self, tenant: &Tenant, kind: Kind, id: &str) -> Result<bool, StoreError> {
        if !is_possible_id(id) {
            return Ok(false);
        }
        let freed = self.inner.engine.delete(tenant, kind, id, self.now()).await?;
        if let Some(freed) = freed {
            self.inner.usage.remove(tenant, freed);
        }
        Ok(freed.is_some())
    }

    async fn page(
        &self,
        tenant: &Tenant,
        kind: Kind,
        section: Section,
        id: &str,
        page: &Page,
    ) -> Result<Option<ItemPage>, StoreError> {
        let Page { after, limit, order } = page;
        let cursor = match after {
            Some(after) if is_possible_id(after) => Cursor::Id(after.clone()),
            // The record must be looked at before its cursor is refused.
            Some(_) => Cursor::Id(String::new()),
            None => Cursor::Start,
        };
        let limit = Limit { order: *order, ..Limit::rows(*limit) };
        let found = self.items(tenant, kind, id, section, cursor, limit).await?;
        Ok(found.map(|(_, rows, more)| ItemPage { items: items(rows), more }))
    }

    async fn items(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        section: Section,
        cursor: Cursor,
        limit: Limit,
    ) -> Result<Option<(Record, Vec<Row>, bool)>, StoreError> {
        if !is_possible_id(id) {
            return Ok(None);
        }
        let id = id.to_owned();
        let query = ItemsQuery {
            tenant: tenant.clone(),
            kind,
            id,
            section,
            cursor,
            limit,
            now: self.now(),
        };
        match self.inner.engine.items(query).await {
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
            Ok(found) => Ok(Some(found)),
        }
    }

    fn read_limit(&self) -> i64 {
        i64::try_from(self.inner.options.limits.read).unwrap_or(i64::MAX)
    }

    fn now(&self) -> i64 {
        self.inner.options.clock.now().0
    }

    fn moment(&self) -> Moment {
        let now = self.now();
        let ttl = self.inner.options.ttl.map(|ttl| i64::try_from(ttl.as_millis()));
        let expires = match ttl {
            Some(Ok(ttl)) => now.saturating_add(ttl),
            Some(Err(_)) | None => Timestamp::NEVER.0,
        };
        Moment { now, expires }
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("options", &self.inner.options).finish()
    }
}

/// How many bytes are written to find out whether there is room.
const TRIAL_SIZE: usize = 64 * 1024;

/// The error for a read of more than its limit.
pub(crate) fn too_much_to_read(limit: i64) -> StoreError {
    StoreError::TooLarge { cap: Cap::Read, limit: u64::try_from(limit).unwrap_or(0) }
}

fn response(record: Record) -> Response {
    Response {
        id: record.id,
        previous: record.previous,
        conversation: record.conversation,
        status: record.status,
        model: record.model,
        body: record.body,
        internal: record.internal,
        created: Timestamp(record.created),
        expires: Timestamp(record.expires),
        owner: record.owner,
    }
}

fn thread(record: Record) -> Thread {
    Thread {
        id: record.id,
        metadata: record.body,
        version: u64::try_from(record.next).unwrap_or(0),
        items: u64::try_from(record.items).unwrap_or(0),
        bytes: u64::try_from(record.bytes).unwrap_or(0),
        created: Timestamp(record.created),
        updated: Timestamp(record.updated),
        expires: Timestamp(record.expires),
    }
}

fn items(rows: Vec<Row>) -> Vec<Item> {
    rows.into_iter().map(Row::into_item).collect()
}
