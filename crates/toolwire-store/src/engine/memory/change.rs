//! The steps of a write.

use std::collections::btree_map;

use bytes::Bytes;

use super::super::stored_body::place_in;
use super::{Entry, Name, State, name};
use crate::change::{Append, Change, Moment, RecordUpdate};
use crate::error::StoreError;
use crate::id::Tenant;
use crate::record::{FullRecord, Kind, Record, Row, Section, count, length};

impl State {
    /// Undoes changes, the last one first.
    pub(super) fn restore(&mut self, before: Vec<(Name, Option<Entry>)>) {
        for (name, entry) in before.into_iter().rev() {
            match entry {
                Some(entry) => self.records.insert(name, entry),
                None => self.records.remove(&name),
            };
        }
        while let Some((lineage, expires)) = self.lineages_before.pop() {
            match expires {
                Some(expires) => self.lineages.insert(lineage, expires),
                None => self.lineages.remove(&lineage),
            };
        }
    }

    pub(super) fn apply(
        &mut self,
        tenant: &Tenant,
        moment: Moment,
        change: Change,
    ) -> Result<(), StoreError> {
        match change {
            Change::Insert { full, repeats: _ } => self.add(tenant, full, Some(moment.now)),
            Change::Append(append) => self.append(tenant, moment, append),
            Change::Update(update) => self.update(tenant, moment, update),
            Change::Metadata { kind, id, metadata } => {
                let record = &mut self.find_mut(tenant, kind, &id, moment.now)?.full.record;
                record.bytes += length(&metadata) - length(&record.body);
                record.body = metadata;
                self.extend(tenant, kind, &id, moment)
            }
            Change::RemoveItem { kind, id, item } => {
                let FullRecord { record, rows } =
                    &mut self.find_mut(tenant, kind, &id, moment.now)?.full;
                let index = rows.iter().position(|row| row.id == item && !item.is_empty());
                let row = rows.remove(index.ok_or(StoreError::NotFound)?);
                record.next += 1;
                record.items -= 1;
                record.bytes -= row.bytes();
                record.context -= row.bytes();
                self.extend(tenant, kind, &id, moment)
            }
        }
    }

    fn append(
        &mut self,
        tenant: &Tenant,
        moment: Moment,
        append: Append,
    ) -> Result<(), StoreError> {
        let (kind, id) = (append.kind, append.id.clone());
        let FullRecord { record, rows } = &mut self.find_mut(tenant, kind, &id, moment.now)?.full;
        let is_running = kind != Kind::Response || !record.status.is_terminal();
        let is_owner = append.owner.is_none() || append.owner == record.owner;
        let is_expected = append.expected.is_none_or(|expected| expected == record.next);
        if !is_running || !is_owner || !is_expected {
            return Err(StoreError::Conflict);
        }
        let first = record.next;
        record.next += count(append.rows.len());
        record.items += append.items_added();
        record.bytes += append.bytes;
        record.context += append.context_added();
        let mut appended = append.rows;
        own(&mut appended);
        rows.extend(appended.into_iter().map(|row| Row { position: first + row.position, ..row }));
        self.extend(tenant, kind, &id, moment)
    }

    fn update(
        &mut self,
        tenant: &Tenant,
        moment: Moment,
        update: RecordUpdate,
    ) -> Result<(), StoreError> {
        let RecordUpdate { id, owner, status, body, output, output_bytes, events } = update;
        if let Some(events) = events {
            self.append(tenant, moment, events)?;
        }
        let FullRecord { record, rows } =
            &mut self.find_mut(tenant, Kind::Response, &id, moment.now)?.full;
        if record.status.is_terminal() || (owner.is_some() && owner != record.owner) {
            return Err(StoreError::Conflict);
        }
        let replaced = rows.iter().filter(|row| row.section == Section::Output);
        let (removed, bytes) =
            replaced.fold((0, 0), |(rows, bytes), row| (rows + 1, bytes + row.bytes()));
        rows.retain(|row| row.section != Section::Output);
        record.items += count(output.len()) - removed;
        record.context += output_bytes - bytes;
        record.bytes += output_bytes - bytes + length(&body) - length(&record.body);
        rows.extend(output);
        rows.sort_by_key(|row| (row.section, row.position));
        record.status = status;
        record.body = body;
        if status.is_terminal() {
            (record.owner, record.lease) = (None, None);
        }
        self.extend(tenant, Kind::Response, &id, moment)
    }

    /// Notes that a record was written to. A thread is kept longer for it.
    fn extend(
        &mut self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        moment: Moment,
    ) -> Result<(), StoreError> {
        let entry = self.find_mut(tenant, kind, id, moment.now)?;
        entry.full.record.updated = moment.now;
        entry.full.record.expires = entry.full.record.expires.max(moment.expires);
        let (lineage, expires) = (entry.lineage, entry.full.record.expires);
        self.keep(lineage, expires);
        Ok(())
    }

    /// Adds a record in the place of one that had expired by then. It conflicts with any
    /// other.
    pub(super) fn add(
        &mut self,
        tenant: &Tenant,
        mut full: FullRecord,
        expired: Option<i64>,
    ) -> Result<(), StoreError> {
        let FullRecord { record, rows } = &mut full;
        let Record { kind, id, expires, previous, body, .. } = &*record;
        let previous = previous.as_ref().and_then(|previous| {
            self.records.get(&name(tenant, Kind::Response, previous)).map(|entry| entry.lineage)
        });
        let place = self.records.entry(name(tenant, *kind, id));
        if let btree_map::Entry::Occupied(other) = &place
            && expired.is_none_or(|now| other.get().full.record.expires > now)
        {
            return Err(StoreError::Conflict);
        }
        // The output of a response is a part of its body, which is kept.
        let is_apart = |row: &&mut Row| place_in(body, &row.body).is_none();
        own(rows.iter_mut().filter(is_apart));
        let expires = *expires;
        self.last_key += 1;
        let key = self.last_key;
        let lineage = previous.unwrap_or(key);
        let entry = Entry { key, lineage, full };
        match place {
            btree_map::Entry::Vacant(place) => drop(place.insert(entry)),
            btree_map::Entry::Occupied(mut place) => drop(place.insert(entry)),
        }
        self.keep(lineage, expires);
        Ok(())
    }

    fn keep(&mut self, lineage: i64, expires: i64) {
        let before = match self.lineages.entry(lineage) {
            btree_map::Entry::Vacant(place) => {
                place.insert(expires);
                None
            }
            btree_map::Entry::Occupied(mut place) => {
                let before = *place.get();
                place.insert(before.max(expires));
                Some(before)
            }
        };
        self.lineages_before.push((lineage, before));
    }
}

/// What is kept must not keep the whole request in memory that it was a part of.
fn own<'r>(rows: impl IntoIterator<Item = &'r mut Row>) {
    for row in rows {
        row.body = Bytes::copy_from_slice(&row.body);
    }
}
