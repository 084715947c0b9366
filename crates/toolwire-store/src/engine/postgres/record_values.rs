//! The columns of a record, as both statements that insert one bind them.

use tokio_postgres::types::ToSql;

use crate::plan::Record;

pub(super) type Value<'v> = &'v (dyn ToSql + Sync);

/// The values of a record, in the order of its columns behind the lineage.
pub(super) struct RecordValues<'r> {
    record: &'r Record,
    kind: &'static str,
    status: &'static str,
    body: &'r [u8],
    internal: &'r [u8],
}

impl<'r> RecordValues<'r> {
    pub(super) fn of(record: &'r Record) -> Self {
        let (kind, status) = (record.kind.as_str(), record.status.as_str());
        Self { record, kind, status, body: &record.body, internal: &record.internal }
    }

    /// All of them, between what a statement has before and behind.
    pub(super) fn between<'v>(
        &'v self,
        before: &[Value<'v>],
        behind: &[Value<'v>],
    ) -> Vec<Value<'v>> {
        let Self { record, kind, status, body, internal } = self;
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
        let values: [Value<'v>; 18] = [
            tenant, kind, id, created, updated, expires, previous, conversation, status, model,
            body, internal, next, items, bytes, context, owner, lease,
        ];
        [before, &values, behind].concat()
    }
}
