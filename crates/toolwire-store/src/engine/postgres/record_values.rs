//! The columns of a record, as the statement that inserts one of any kind binds them.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{IsNull, ToSql, Type, accepts, to_sql_checked};

use super::shared::NewRecord;
use crate::engine::stored_body::StoredBody;
use crate::packed;
use crate::record::{Record, Row};

pub(super) type Value<'v> = &'v (dyn ToSql + Sync);

/// The values of a record, in the order of its columns behind the lineage.
pub(super) struct RecordValues<'r> {
    record: &'r Record,
    kind: &'static str,
    status: &'static str,
    body: Pieces<'r>,
    internal: &'r [u8],
    shared: Option<i64>,
    shared_at: Option<i64>,
    output_at: Option<i64>,
}

/// Bytes that are next to each other in the database. They are copied only where they
/// are sent.
#[derive(Debug)]
pub(super) struct Pieces<'r>(pub(super) [&'r [u8]; 3]);

impl ToSql for Pieces<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.0.iter().for_each(|piece| out.put_slice(piece));
        Ok(IsNull::No)
    }

    accepts!(BYTEA);
    to_sql_checked!();
}

/// The items of a response as one value, which is put together only where it is sent.
#[derive(Debug)]
pub(super) struct PackedItems<'r>(pub(super) &'r [Row]);

impl ToSql for PackedItems<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        packed::pack_into(self.0.iter(), out);
        Ok(IsNull::No)
    }

    accepts!(BYTEA);
    to_sql_checked!();
}

impl<'r> RecordValues<'r> {
    pub(super) fn of(new: NewRecord<'r>) -> Self {
        let record = &new.full.record;
        let StoredBody { pieces, shared, shared_at, output_at } = StoredBody::of(new.full, new.cut);
        Self {
            record,
            kind: record.kind.as_str(),
            status: record.status.as_str(),
            body: Pieces(pieces),
            internal: &record.internal,
            shared,
            shared_at,
            output_at,
        }
    }

    /// All of them, behind the lineage.
    pub(super) fn behind<'v>(&'v self, lineage: &'v i64) -> [Value<'v>; 22] {
        let Self { record, kind, status, body, internal, shared, shared_at, output_at } = self;
        let Record {
            tenant,
            kind: _,
            id,
            created,
            updated,
            expires,
            previous,
            conversation,
            status: _,
            model,
            body: _,
            internal: _,
            next,
            items,
            bytes,
            context,
            owner,
            lease,
        } = record;
        [
            lineage, tenant, kind, id, created, updated, expires, previous, conversation, status,
            model, body, internal, next, items, bytes, context, owner, lease, shared, shared_at,
            output_at,
        ]
    }
}
