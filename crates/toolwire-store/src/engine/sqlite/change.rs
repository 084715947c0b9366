//! The steps of a write.

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

use super::failure::Failure;
use super::new_row::{self, NewRow, extend, list_ids};
use super::read;
use super::shared::SharedParts;
use crate::change::{Append, Change, Moment, RecordUpdate};
use crate::engine::shared_parts::Cut;
use crate::engine::sql;
use crate::engine::stored_body::StoredBody;
use crate::error::StoreError;
use crate::packed;
use crate::record::{FullRecord, Kind, Record, Row, Section, count, length};

/// Does one step. What it has done is undone by its caller if it fails.
pub(super) fn apply(
    connection: &Connection,
    shared: &SharedParts,
    tenant: &str,
    moment: Moment,
    change: &Change,
) -> Result<(), Failure> {
    let step = Step { connection, tenant, moment };
    match change {
        Change::Insert { full, repeats } => {
            step.make_way(&full.record)?;
            let cut = match repeats {
                Some(part) => shared.cut(connection, &full.record, part)?,
                None => None,
            };
            insert_new(connection, full, cut.as_ref())
        }
        Change::Append(append) => step.append(append),
        Change::Update(update) => step.update(update),
        Change::Metadata { kind, id, metadata } => {
            let Moment { now, expires } = moment;
            let mut update = connection.prepare_cached(sql::METADATA)?;
            let bytes: &[u8] = metadata;
            let values =
                params![length(metadata), bytes, now, expires, tenant, kind.as_str(), id, now];
            let changed = update.query_row(values, Changed::read).optional()?;
            let changed = changed.ok_or(StoreError::NotFound)?;
            extend(connection, changed.lineage, changed.expires)
        }
        Change::RemoveItem { kind, id, item } => step.remove_item(*kind, id, item),
    }
}

/// Stores a record as it is. Returns whether it was not there yet.
pub(super) fn insert(connection: &Connection, full: &FullRecord) -> Result<bool, Failure> {
    let Record { tenant, kind, id, .. } = &full.record;
    // Also what has expired is there.
    if new_row::found(connection, tenant, kind.as_str(), id)?.is_some() {
        return Ok(false);
    }
    insert_new(connection, full, None)?;
    Ok(true)
}

/// Deletes a record. Returns how many bytes it had.
pub(super) fn delete(
    connection: &Connection,
    tenant: &str,
    kind: Kind,
    id: &str,
    now: i64,
) -> Result<Option<u64>, Failure> {
    let mut delete = connection.prepare_cached(sql::DELETE)?;
    let mut deleted = delete.query(params![tenant, kind.as_str(), id, now])?;
    let Some(row) = deleted.next()? else { return Ok(None) };
    let bytes: i64 = row.get(0)?;
    Ok(Some(u64::try_from(bytes).unwrap_or(0)))
}

/// Stores a record whose id is free.
fn insert_new(
    connection: &Connection,
    full: &FullRecord,
    cut: Option<&Cut>,
) -> Result<(), Failure> {
    let FullRecord { record, rows } = full;
    let stored = StoredBody::of(full, cut);
    let is_packed = rows.iter().any(|row| row.section.is_packed());
    let packed = is_packed.then(|| Cow::Owned(packed::pack(rows.iter())));
    let key = NewRow::of(full, &stored, packed).insert(connection)?;
    insert_rows(connection, key, &record.tenant, 0, rows)
}

/// Lists the ids of a response's items.
pub(super) fn list_items(
    connection: &Connection,
    key: i64,
    tenant: &str,
    response: &str,
    rows: &[Row],
) -> Result<(), Failure> {
    list_ids(connection, key, tenant, &packed::listed_ids(response, rows))
}

fn insert_rows(
    connection: &Connection,
    key: i64,
    tenant: &str,
    first: i64,
    rows: &[Row],
) -> Result<(), Failure> {
    let mut rows = rows.iter().filter(|row| !row.section.is_packed()).peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let mut insert = connection.prepare_cached(INSERT_ROW)?;
    for Row { section, position, id, tag, body } in rows {
        let body: &[u8] = body;
        let (section, position) = (section.number(), first + position);
        insert.execute(params![key, tenant, section, position, id, tag, body])?;
    }
    Ok(())
}

struct Step<'a> {
    connection: &'a Connection,
    tenant: &'a str,
    moment: Moment,
}

impl Step<'_> {
    /// Makes sure that an id is free. What has expired but is not pruned yet is in
    /// nobody's way.
    fn make_way(&self, record: &Record) -> Result<(), Failure> {
        let Record { tenant, kind, id, .. } = record;
        let found = new_row::found(self.connection, tenant, kind.as_str(), id)?;
        let Some((key, expires)) = found else { return Ok(()) };
        if expires > self.moment.now {
            return Err(StoreError::Conflict.into());
        }
        self.connection.prepare_cached(sql::DELETE_KEY)?.execute(params![key])?;
        Ok(())
    }

    fn append(&self, append: &Append) -> Result<(), Failure> {
        let added = count(append.rows.len());
        let sums = [added, append.items_added(), append.bytes, append.context_added()];
        let Append { kind, section: _, id, owner, expected, rows, bytes: _ } = append;
        let changed = self.make_room(sums, *kind, id, *expected, owner.as_deref())?;
        let first = changed.next - added;
        insert_rows(self.connection, changed.key, self.tenant, first, rows)?;
        extend(self.connection, changed.lineage, changed.expires)
    }

    fn update(&self, update: &RecordUpdate) -> Result<(), Failure> {
        let RecordUpdate { id, owner, status, body, output, output_bytes, events } = update;
        if let Some(events) = events {
            self.append(events)?;
        }
        let Moment { now, expires } = self.moment;
        let mut statement = self.connection.prepare_cached(sql::UPDATE)?;
        let bytes: &[u8] = body;
        let values = params![
            status.as_str(),
            length(body) + output_bytes,
            bytes,
            count(output.len()),
            output_bytes,
            now,
            expires,
            self.tenant,
            id,
            now,
            owner
        ];
        let changed = statement.query_row(values, Changed::read).optional()?;
        let Some(changed) = changed else { return self.why_not(Kind::Response, id) };
        let rows = read::packed_items(self.connection, changed.key)?.into_iter();
        let (input, replaced): (Vec<_>, Vec<_>) =
            rows.partition(|row| row.section == Section::Input);
        if !replaced.is_empty() || !output.is_empty() {
            let removed: Vec<_> = replaced.iter().map(Row::bytes).collect();
            self.adjust(changed.key, &removed)?;
            let mut delete = self.connection.prepare_cached(sql::DELETE_ITEM_IDS)?;
            delete.execute(params![changed.key])?;
            let rows = [input.as_slice(), output].concat();
            let mut set = self.connection.prepare_cached(sql::SET_PACKED)?;
            set.execute(params![packed::pack(rows.iter()), changed.key])?;
            list_items(self.connection, changed.key, self.tenant, id, &rows)?;
        }
        extend(self.connection, changed.lineage, changed.expires)
    }

    fn remove_item(&self, kind: Kind, id: &str, item: &str) -> Result<(), Failure> {
        let changed = self.make_room([1, 0, 0, 0], kind, id, None, None)?;
        let mut delete = self.connection.prepare_cached(sql::DELETE_ENTRY)?;
        let values = params![changed.key, self.tenant, item];
        let removed = delete.query_map(values, |row| row.get(0))?;
        let removed = removed.collect::<Result<Vec<i64>, _>>()?;
        if removed.is_empty() {
            return Err(StoreError::NotFound.into());
        }
        self.adjust(changed.key, &removed)?;
        extend(self.connection, changed.lineage, changed.expires)
    }

    /// Counts new rows, items, bytes and context of a record.
    fn make_room(
        &self,
        [next, items, bytes, context]: [i64; 4],
        kind: Kind,
        id: &str,
        expected: Option<i64>,
        owner: Option<&str>,
    ) -> Result<Appended, Failure> {
        let Moment { now, expires } = self.moment;
        let mut append = self.connection.prepare_cached(sql::APPEND)?;
        let kind_name = kind.as_str();
        let values = params![
            next, items, bytes, context, now, expires, self.tenant, kind_name, id, now, expected,
            owner
        ];
        let read = |row: &SqlRow<'_>| {
            let Changed { key, lineage, expires } = Changed::read(row)?;
            Ok(Appended { key, lineage, expires, next: row.get(3)? })
        };
        match append.query_row(values, read).optional()? {
            Some(appended) => Ok(appended),
            None => self.why_not(kind, id),
        }
    }

    fn adjust(&self, key: i64, removed: &[i64]) -> Result<(), Failure> {
        if removed.is_empty() {
            return Ok(());
        }
        let bytes: i64 = removed.iter().sum();
        let mut adjust = self.connection.prepare_cached(sql::ADJUST)?;
        adjust.execute(params![-count(removed.len()), -bytes, -bytes, key])?;
        Ok(())
    }

    /// Why nothing was changed.
    fn why_not<T>(&self, kind: Kind, id: &str) -> Result<T, Failure> {
        let mut exists = self.connection.prepare_cached(sql::EXISTS)?;
        let exists = exists.exists(params![self.tenant, kind.as_str(), id, self.moment.now])?;
        Err(if exists { StoreError::Conflict.into() } else { StoreError::NotFound.into() })
    }
}

/// A record that was changed.
struct Changed {
    key: i64,
    lineage: Option<i64>,
    expires: i64,
}

impl Changed {
    fn read(row: &SqlRow<'_>) -> rusqlite::Result<Self> {
        Ok(Self { key: row.get(0)?, lineage: row.get(1)?, expires: row.get(2)? })
    }
}

/// A record that has grown, with the position after its last row.
struct Appended {
    key: i64,
    lineage: Option<i64>,
    expires: i64,
    next: i64,
}

const INSERT_ROW: &str = "INSERT INTO toolwire_item (record, tenant, section, position, id, tag, body) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";
