//! A new response in one statement, and several of them in one round trip.
//!
//! Most of what is written is one response. A statement is a transaction of its own, so
//! it takes one round trip, and not one for each table and two for the transaction.

use std::future::poll_fn;
use std::task::Poll;

use deadpool_postgres::GenericClient;
use tokio_postgres::{Error, Statement};

use super::failure::Failure;
use super::record_values::RecordValues;
use super::shared::{CutChange, KnownParts, NewRecord, SharedParts};
use crate::packed;
use crate::plan::{FullRecord, Kind};

/// The response that a write consists of, if that is all.
pub(super) fn only_response(changes: &[CutChange]) -> Option<NewRecord<'_>> {
    let [only] = changes else { return None };
    let new = only.new_record()?;
    let is_packed = new.full.rows.iter().all(|row| row.section.is_packed());
    (new.full.record.kind == Kind::Response && is_packed).then_some(new)
}

/// Stores responses in one transaction, together with parts of their bodies that the
/// database lacks. Says of each whether it is stored; if not, its id is taken.
pub(super) async fn insert_together(
    client: &impl GenericClient,
    shared: &SharedParts,
    known: KnownParts,
    group: &[NewRecord<'_>],
) -> Result<Vec<bool>, Failure> {
    let parts = shared.new_parts(group.iter().copied(), known);
    let insert = client.prepare_cached(INSERT).await?;
    if let [new] = group
        && parts.is_empty()
    {
        let inserted = insert_with(client, &insert, *new).await;
        return Ok(vec![inserted.map_err(Failure::Commit)?]);
    }
    let insert_parts = parts.prepare(client).await?;
    let inserts = group.iter().map(|new| insert_with(client, &insert, *new));
    // The driver sends what it is asked to without waiting for the answers. If one fails,
    // the server refuses those behind it, and takes the end for the end of a failure.
    let (begun, written, inserted, committed) = tokio::join!(
        biased;
        client.batch_execute("BEGIN"),
        parts.write(client, insert_parts.as_ref()),
        all(inserts),
        client.batch_execute("COMMIT"),
    );
    let inserted = inserted.into_iter().collect::<Result<Vec<_>, _>>();
    let stored = begun.and(written).and(inserted);
    let stored = stored.and_then(|inserted| committed.map(|()| inserted));
    let stored = stored.map_err(Failure::Commit)?;
    shared.note_written(&parts);
    Ok(stored)
}

async fn insert_with(
    client: &impl GenericClient,
    insert: &Statement,
    new: NewRecord<'_>,
) -> Result<bool, Error> {
    let FullRecord { record, rows } = new.full;
    let values = RecordValues::of(new);
    let packed = (!rows.is_empty()).then(|| packed::pack(rows.iter()));
    let ids = packed::listed_ids(&record.id, rows);
    let inserted = client.query_opt(insert, &values.between(&[], &[&packed, &ids])).await?;
    Ok(inserted.is_some())
}

/// Waits for all of them. Each is begun before the one behind it.
async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    poll_fn(|cx| {
        let mut is_done = true;
        for (future, output) in futures.iter_mut().filter(|(_, output)| output.is_none()) {
            match future.as_mut().poll(cx) {
                Poll::Ready(value) => *output = Some(value),
                Poll::Pending => is_done = false,
            }
        }
        if is_done { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    futures.into_iter().filter_map(|(_, output)| output).collect()
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
     conversation, status, model, body, internal, next, items, bytes, context, owner, lease, shared, shared_at, output_at) SELECT l.key, \
     CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS \
     BIGINT), CAST($7 AS TEXT), CAST($8 AS TEXT), CAST($9 AS TEXT), CAST($10 AS TEXT), CAST($11 AS BYTEA), \
     CAST($12 AS BYTEA), CAST($13 AS BIGINT), CAST($14 AS BIGINT), CAST($15 AS BIGINT), CAST($16 AS BIGINT), \
     CAST($17 AS TEXT), CAST($18 AS BIGINT), CAST($19 AS BIGINT), CAST($20 AS BIGINT), CAST($21 AS BIGINT) FROM (SELECT key FROM joined UNION ALL SELECT key FROM begun) l ON \
     CONFLICT (tenant, kind, id) DO NOTHING RETURNING key), \
     items AS (INSERT INTO toolwire_packed (record, items) SELECT key, CAST($22 AS BYTEA) FROM record WHERE \
     CAST($22 AS BYTEA) IS NOT NULL), \
     ids AS (INSERT INTO toolwire_packed_id (tenant, id, record) SELECT CAST($1 AS TEXT), i.id, record.key FROM \
     record CROSS JOIN unnest(CAST($23 AS TEXT[])) AS i (id)) \
     SELECT key FROM record";
