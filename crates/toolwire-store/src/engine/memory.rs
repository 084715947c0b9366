//! Everything in this process's memory. It is what the other engines are
//! compared with, so it is written to be read, not to be fast.

mod change;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ItemsQuery;
use crate::change::{Change, Moment};
use crate::error::StoreError;
use crate::id::Tenant;
use crate::model::{ChainLink, Item, Order, Page, Stats, Timestamp, Usage};
use crate::record::{FullRecord, Kind, Record, Row, count};
use crate::store::too_much_to_read;

#[derive(Default)]
pub(crate) struct Memory {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: BTreeMap<Name, Entry>,
    /// When the last record of each lineage expires.
    lineages: BTreeMap<i64, i64>,
    /// What the lineages were before the write that is under way.
    lineages_before: Vec<(i64, Option<i64>)>,
    last_key: i64,
}

/// Ids differ most, so they are what is compared first.
type Name = (String, Kind, Tenant);

#[derive(Clone)]
struct Entry {
    key: i64,
    lineage: i64,
    full: FullRecord,
}

impl Memory {
    pub(crate) fn write(
        &self,
        tenant: &Tenant,
        moment: Moment,
        changes: Vec<Change>,
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        let mut before = Vec::new();
        state.lineages_before.clear();
        let mut changes = changes.into_iter();
        while let Some(change) = changes.next() {
            let is_last = changes.as_slice().is_empty();
            // An insert that fails has changed nothing, and nothing that comes later can fail.
            if !(is_last && matches!(change, Change::Insert { .. })) {
                let (kind, id) = change.record();
                let name = name(tenant, kind, id);
                let entry = state.records.get(&name).cloned();
                before.push((name, entry));
            }
            if let Err(error) = state.apply(tenant, moment, change) {
                state.restore(before);
                return Err(error);
            }
        }
        Ok(())
    }

    pub(crate) fn delete(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        now: i64,
    ) -> Result<Option<u64>, StoreError> {
        let mut state = self.lock();
        let bytes = state.find(tenant, kind, id, now).map(|entry| entry.full.record.bytes);
        if bytes.is_some() {
            state.records.remove(&name(tenant, kind, id));
        }
        Ok(bytes.map(unsigned))
    }

    pub(crate) fn record(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        now: i64,
    ) -> Result<Option<Record>, StoreError> {
        Ok(self.lock().find(tenant, kind, id, now).map(|entry| entry.full.record.clone()))
    }

    pub(crate) fn items(&self, query: ItemsQuery) -> Result<(Record, Vec<Row>, bool), StoreError> {
        let state = self.lock();
        let found = state.find(&query.tenant, query.kind, &query.id, query.now);
        let FullRecord { record, rows } = &found.ok_or(StoreError::NotFound)?.full;
        if record.context > query.limit.bytes {
            return Err(too_much_to_read(query.limit.bytes));
        }
        let (rows, more) = query.page(rows.clone())?;
        Ok((record.clone(), rows, more))
    }

    pub(crate) fn chain(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
        limit: i64,
    ) -> Result<Vec<ChainLink>, StoreError> {
        let state = self.lock();
        let mut next = state.find(tenant, Kind::Response, id, now);
        let mut chain = Vec::new();
        let mut bytes = 0;
        loop {
            let Entry { key, full: FullRecord { record, rows }, .. } =
                next.ok_or(StoreError::NotFound)?;
            bytes += record.context;
            chain.push(link(record.clone(), rows.clone()));
            let Some(previous) = &record.previous else { break };
            // What is continued was stored before.
            let previous = state.records.get(&name(tenant, Kind::Response, previous));
            next = previous.filter(|previous| previous.key < *key);
        }
        if bytes > limit {
            return Err(too_much_to_read(limit));
        }
        chain.reverse();
        Ok(chain)
    }

    pub(crate) fn item(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
    ) -> Result<Option<Item>, StoreError> {
        let state = self.lock();
        let mut found: Vec<_> = state
            .records
            .values()
            .filter(|entry| entry.full.record.tenant == tenant.as_str())
            .filter(|entry| entry.full.record.expires > now)
            .flat_map(|entry| entry.full.rows.iter().map(|row| (entry.key, row)))
            .filter(|(_, row)| row.section.is_context() && row.id == id)
            .collect();
        found.sort_by_key(|(key, row)| (*key, row.section, row.position));
        Ok(found.pop().map(|(_, row)| row.clone().into_item()))
    }

    pub(crate) fn threads(
        &self,
        tenant: &Tenant,
        kind: Kind,
        page: &Page,
        now: i64,
    ) -> Result<(Vec<Record>, bool), StoreError> {
        let state = self.lock();
        let after = match &page.after {
            Some(id) => Some(state.find(tenant, kind, id, now).ok_or(StoreError::Cursor)?.key),
            None => None,
        };
        let mut found: Vec<_> = state
            .records
            .values()
            .filter(|entry| entry.full.record.tenant == tenant.as_str())
            .filter(|entry| entry.full.record.kind == kind && entry.full.record.expires > now)
            .filter(|entry| match page.order {
                Order::OldestFirst => after.is_none_or(|after| entry.key > after),
                Order::NewestFirst => after.is_none_or(|after| entry.key < after),
            })
            .collect();
        found.sort_by_key(|entry| match page.order {
            Order::OldestFirst => entry.key,
            Order::NewestFirst => -entry.key,
        });
        let more = found.len() > page.limit;
        found.truncate(page.limit);
        Ok((found.into_iter().map(|entry| entry.full.record.clone()).collect(), more))
    }

    pub(crate) fn usage(&self, tenant: Option<&Tenant>) -> Result<Usage, StoreError> {
        let state = self.lock();
        let mut usage = Usage::default();
        for entry in state.records.values() {
            let record = &entry.full.record;
            if tenant.is_none_or(|tenant| record.tenant == tenant.as_str()) {
                usage.records += 1;
                usage.bytes += unsigned(record.bytes);
            }
        }
        Ok(usage)
    }

    #[expect(clippy::unused_self, reason = "other engines have to try")]
    pub(crate) fn try_to_write(&self, _trial: Vec<u8>) -> Result<(), StoreError> {
        Ok(())
    }

    pub(crate) fn renew(
        &self,
        owner: &str,
        until: i64,
        ids: &[String],
    ) -> Result<Vec<String>, StoreError> {
        let mut renewed = Vec::new();
        for entry in self.lock().records.values_mut() {
            let record = &mut entry.full.record;
            if record.owner.as_deref() == Some(owner) && ids.contains(&record.id) {
                record.lease = Some(until);
                renewed.push(record.id.clone());
            }
        }
        renewed.sort();
        Ok(renewed)
    }

    pub(crate) fn claim(
        &self,
        owner: &str,
        now: i64,
        until: i64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let mut state = self.lock();
        let mut abandoned: Vec<_> = state
            .records
            .values_mut()
            .filter(|entry| entry.full.record.lease.is_some_and(|lease| lease <= now))
            .collect();
        abandoned.sort_by_key(|entry| entry.full.record.lease);
        let claimed = abandoned.into_iter().take(limit).map(|entry| {
            let record = &mut entry.full.record;
            (record.owner, record.lease) = (Some(owner.to_owned()), Some(until));
            record.clone()
        });
        Ok(claimed.collect())
    }

    pub(crate) fn prune(&self, now: i64, limit: usize) -> Result<u64, StoreError> {
        let mut state = self.lock();
        // A lineage whose records were deleted is nothing that is pruned.
        let alive: HashSet<_> = state.records.values().map(|entry| entry.lineage).collect();
        state.lineages.retain(|lineage, _| alive.contains(lineage));
        let expired = state.lineages.iter().filter(|(_, expires)| **expires <= now);
        let expired: Vec<_> = expired.map(|(lineage, _)| *lineage).take(limit).collect();
        state.records.retain(|_, entry| !expired.contains(&entry.lineage));
        state.lineages.retain(|lineage, _| !expired.contains(lineage));
        Ok(unsigned(count(expired.len())))
    }

    pub(crate) fn stats(&self, now: i64) -> Result<Stats, StoreError> {
        let state = self.lock();
        let records: Vec<_> = state.records.values().map(|entry| &entry.full.record).collect();
        let number = |filter: &dyn Fn(&Record) -> bool| {
            unsigned(count(records.iter().filter(|record| filter(record)).count()))
        };
        let mut tenants: Vec<_> = records.iter().map(|record| &record.tenant).collect();
        tenants.sort();
        tenants.dedup();
        Ok(Stats {
            engine: "memory",
            version: 0,
            responses: number(&|record| record.kind == Kind::Response),
            conversations: number(&|record| record.kind == Kind::Conversation),
            sessions: number(&|record| record.kind == Kind::Session),
            running: number(&|record| record.owner.is_some()),
            items: unsigned(records.iter().map(|record| record.items).sum()),
            bytes: unsigned(records.iter().map(|record| record.bytes).sum()),
            tenants: unsigned(count(tenants.len())),
            oldest: records.iter().map(|record| Timestamp(record.created)).min(),
            expired: number(&|record| record.expires <= now),
        })
    }

    pub(crate) fn export(
        &self,
        after: i64,
        _bytes: i64,
    ) -> Result<Vec<(i64, FullRecord)>, StoreError> {
        let state = self.lock();
        let next = state.records.values().filter(|entry| entry.key > after);
        let next = next.min_by_key(|entry| entry.key);
        Ok(next.map(|entry| (entry.key, entry.full.clone())).into_iter().collect())
    }

    pub(crate) fn import(&self, records: Vec<FullRecord>) -> Result<u64, StoreError> {
        let mut state = self.lock();
        let mut imported = 0;
        for full in records {
            let tenant = Tenant::from_stored(&full.record.tenant);
            imported += u64::from(state.add(&tenant, full, None).is_ok());
        }
        Ok(imported)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&self, tenant: &Tenant, kind: Kind, id: &str, now: i64) -> Option<&Entry> {
        let entry = self.records.get(&name(tenant, kind, id));
        entry.filter(|entry| entry.full.record.expires > now)
    }

    fn find_mut(
        &mut self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        now: i64,
    ) -> Result<&mut Entry, StoreError> {
        let entry = self.records.get_mut(&name(tenant, kind, id));
        entry.filter(|entry| entry.full.record.expires > now).ok_or(StoreError::NotFound)
    }
}

/// A response of a chain, from its record and rows.
fn link(record: Record, rows: Vec<Row>) -> ChainLink {
    let mut link = ChainLink {
        id: record.id,
        status: record.status,
        conversation: record.conversation,
        model: record.model,
        internal: record.internal,
        input: Vec::new(),
        output: Vec::new(),
    };
    link.take_rows(rows);
    link
}

fn name(tenant: &Tenant, kind: Kind, id: &str) -> Name {
    (id.to_owned(), kind, tenant.clone())
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
