//! A new response in one statement.
//!
//! Most of what is written is one response. A statement is a transaction of its own, so
//! it takes one round trip, and not one for each table and two for the transaction.

use deadpool_postgres::GenericClient;

use super::failure::Failure;
use super::record_values::RecordValues;
use crate::packed;
use crate::plan::{Change, FullRecord, Kind};

/// The response that a write consists of, if that is all.
pub(super) fn only_response(changes: &[Change]) -> Option<&FullRecord> {
    let [Change::Insert { full, repeats: _ }] = changes else { return None };
    let is_packed = full.rows.iter().all(|row| row.section.is_packed());
    (full.record.kind == Kind::Response && is_packed).then_some(full)
}

/// Stores a response. Returns `false`, and has changed nothing, if its id is taken.
pub(super) async fn insert(
    client: &impl GenericClient,
    full: &FullRecord,
) -> Result<bool, Failure> {
    let FullRecord { record, rows } = full;
    let packed = (!rows.is_empty()).then(|| packed::pack(rows.iter()));
    let ids = packed::listed_ids(&record.id, rows);
    let insert = client.prepare_cached(INSERT).await?;
    let values = RecordValues::of(record);
    let inserted = client.query_opt(&insert, &values.between(&[], &[&packed, &ids])).await;
    Ok(inserted.map_err(Failure::Commit)?.is_some())
}

/// The record joins the lineage of what it continues, or begins one. Nothing happens if
/// its id is taken.
const INSERT: &str = "WITH taken AS (SELECT 1 FROM toolwire_record WHERE tenant = $1 AND kind = $2 AND id = $3), \
     joined AS (UPDATE toolwire_lineage SET expires = GREATEST(expires, $6) WHERE key = (SELECT lineage FROM \
     toolwire_record WHERE tenant = $1 AND kind = 'response' AND id = $7) AND NOT EXISTS (SELECT FROM taken) \
     RETURNING key), \
     begun AS (INSERT INTO toolwire_lineage (expires) SELECT CAST($6 AS BIGINT) WHERE NOT EXISTS (SELECT FROM \
     joined) AND NOT EXISTS (SELECT FROM taken) RETURNING key), \
     record AS (INSERT INTO toolwire_record (lineage, tenant, kind, id, created, updated, expires, previous, \
     conversation, status, model, body, internal, next, items, bytes, context, owner, lease) SELECT l.key, \
     CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS \
     BIGINT), CAST($7 AS TEXT), CAST($8 AS TEXT), CAST($9 AS TEXT), CAST($10 AS TEXT), CAST($11 AS BYTEA), \
     CAST($12 AS BYTEA), CAST($13 AS BIGINT), CAST($14 AS BIGINT), CAST($15 AS BIGINT), CAST($16 AS BIGINT), \
     CAST($17 AS TEXT), CAST($18 AS BIGINT) FROM (SELECT key FROM joined UNION ALL SELECT key FROM begun) l ON \
     CONFLICT (tenant, kind, id) DO NOTHING RETURNING key), \
     items AS (INSERT INTO toolwire_packed (record, items) SELECT key, CAST($19 AS BYTEA) FROM record WHERE \
     CAST($19 AS BYTEA) IS NOT NULL), \
     ids AS (INSERT INTO toolwire_packed_id (tenant, id, record) SELECT CAST($1 AS TEXT), i.id, record.key FROM \
     record CROSS JOIN unnest(CAST($20 AS TEXT[])) AS i (id)) \
     SELECT key FROM record";
