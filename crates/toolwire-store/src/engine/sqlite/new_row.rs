//! A record on its way into its table.

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension, params};

use super::failure::Failure;
use crate::engine::sql;
use crate::engine::stored_body::StoredBody;
use crate::packed;
use crate::record::{FullRecord, Record};

/// A record as the table gets it.
pub(super) struct NewRow<'v> {
    pub(super) tenant: &'v str,
    pub(super) kind: &'v str,
    pub(super) id: &'v str,
    pub(super) created: i64,
    pub(super) updated: i64,
    pub(super) expires: i64,
    pub(super) previous: Option<&'v str>,
    pub(super) conversation: Option<&'v str>,
    pub(super) status: &'v str,
    pub(super) model: &'v str,
    pub(super) body: Cow<'v, [u8]>,
    pub(super) internal: &'v [u8],
    pub(super) next: i64,
    pub(super) items: i64,
    pub(super) bytes: i64,
    pub(super) context: i64,
    pub(super) owner: Option<&'v str>,
    pub(super) lease: Option<i64>,
    pub(super) packed: Option<Cow<'v, [u8]>>,
    pub(super) shared: Option<i64>,
    pub(super) shared_at: Option<i64>,
    pub(super) output_at: Option<i64>,
    /// The ids of items that do not tell which response they belong to.
    pub(super) listed: Vec<&'v str>,
}

impl<'v> NewRow<'v> {
    pub(super) fn of(
        full: &'v FullRecord,
        stored: &StoredBody<'v>,
        packed: Option<Cow<'v, [u8]>>,
    ) -> Self {
        let Record {
            tenant,
            kind,
            id,
            created,
            updated,
            expires,
            previous,
            conversation,
            status,
            model,
            body: _,
            internal,
            next,
            items,
            bytes,
            context,
            owner,
            lease,
        } = &full.record;
        let body = stored.to_bytes();
        let StoredBody { pieces: _, shared, shared_at, output_at } = *stored;
        Self {
            tenant,
            kind: kind.as_str(),
            id,
            created: *created,
            updated: *updated,
            expires: *expires,
            previous: previous.as_deref(),
            conversation: conversation.as_deref(),
            status: status.as_str(),
            model,
            body,
            internal,
            next: *next,
            items: *items,
            bytes: *bytes,
            context: *context,
            owner: owner.as_deref(),
            lease: *lease,
            packed,
            shared,
            shared_at,
            output_at,
            listed: packed::listed_ids(id, &full.rows),
        }
    }

    /// Whether there is a record with its id, also if it has expired.
    pub(super) fn is_there(&self, connection: &Connection) -> Result<bool, Failure> {
        Ok(found(connection, self.tenant, self.kind, self.id)?.is_some())
    }

    /// Stores it. Its id must be free. Returns the key of the record.
    pub(super) fn insert(&self, connection: &Connection) -> Result<i64, Failure> {
        let lineage = lineage(connection, self.tenant, self.previous, self.expires)?;
        let Self {
            tenant,
            kind,
            id,
            created,
            updated,
            expires,
            previous,
            conversation,
            status,
            model,
            body,
            internal,
            next,
            items,
            bytes,
            context,
            owner,
            lease,
            packed,
            shared,
            shared_at,
            output_at,
            listed,
        } = self;
        let packed = packed.as_deref();
        let values = params![
            lineage, tenant, kind, id, created, updated, expires, previous, conversation, status,
            model, &**body, internal, next, items, bytes, context, owner, lease, packed, shared,
            shared_at, output_at
        ];
        connection.prepare_cached(sql::INSERT_RECORD)?.execute(values)?;
        let key = connection.last_insert_rowid();
        list_ids(connection, key, tenant, listed)?;
        Ok(key)
    }
}

/// The key of the record with the same id, and when it expires.
pub(super) fn found(
    connection: &Connection,
    tenant: &str,
    kind: &str,
    id: &str,
) -> Result<Option<(i64, i64)>, Failure> {
    let mut select = connection.prepare_cached(sql::EXPIRES)?;
    let found = select.query_row(params![tenant, kind, id], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(found.optional()?)
}

/// The chain that a record continues, which expires as a whole. The first response
/// of a chain has none until the second one comes.
fn lineage(
    connection: &Connection,
    tenant: &str,
    previous: Option<&str>,
    expires: i64,
) -> Result<Option<i64>, Failure> {
    let Some(previous) = previous else { return Ok(None) };
    let mut select = connection.prepare_cached(sql::LINEAGE_OF)?;
    let found = select
        .query_row(params![tenant, previous], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let found: Option<(i64, Option<i64>, i64)> = found.optional()?;
    let Some((first, lineage, first_expires)) = found else { return Ok(None) };
    if lineage.is_some() {
        extend(connection, lineage, expires)?;
        return Ok(lineage);
    }
    let mut begin = connection.prepare_cached(sql::INSERT_LINEAGE)?;
    begin.execute(params![first_expires.max(expires)])?;
    let lineage = connection.last_insert_rowid();
    let mut join = connection.prepare_cached(sql::SET_LINEAGE)?;
    join.execute(params![lineage, first])?;
    Ok(Some(lineage))
}

/// A lineage lives as long as its records.
pub(super) fn extend(
    connection: &Connection,
    lineage: Option<i64>,
    expires: i64,
) -> Result<(), Failure> {
    if let Some(lineage) = lineage {
        let mut extend = connection.prepare_cached(sql::EXTEND_LINEAGE)?;
        extend.execute(params![expires, lineage])?;
    }
    Ok(())
}

pub(super) fn list_ids(
    connection: &Connection,
    key: i64,
    tenant: &str,
    ids: &[&str],
) -> Result<(), Failure> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut insert = connection.prepare_cached(INSERT_ITEM_ID)?;
    for id in ids {
        insert.execute(params![tenant, id, key])?;
    }
    Ok(())
}

const INSERT_ITEM_ID: &str =
    "INSERT INTO toolwire_packed_id (tenant, id, record) VALUES ($1, $2, $3)";
