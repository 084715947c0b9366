//! New responses in one statement.
//!
//! Most of what is written is one response. A statement is a transaction of its own, so
//! it takes one round trip, and not one for each table and two for the transaction. And
//! the driver does as much for a statement with one response as for one with many.

use deadpool_postgres::GenericClient;
use tokio_postgres::Row as SqlRow;

use super::failure::Failure;
use super::response_columns::ResponseColumns;
use super::shared::{CutChange, KnownParts, NewRecord, SharedParts};
use crate::record::Kind;

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
    let responses = ResponseColumns::of(group);
    if parts.is_empty() {
        let stored = client.query(&insert, &responses.values()).await.map_err(Failure::Commit)?;
        return were_stored(group.len(), &stored);
    }
    let insert_parts = parts.prepare(client).await?;
    // The driver sends what it is asked to without waiting for the answers. If one fails,
    // the server refuses those behind it, and takes the end for the end of a failure.
    let values = responses.values();
    let (begun, written, stored, committed) = tokio::join!(
        biased;
        client.batch_execute("BEGIN"),
        parts.write(client, insert_parts.as_ref()),
        client.query(&insert, &values),
        client.batch_execute("COMMIT"),
    );
    let stored = begun.and(written).and(stored);
    let stored = stored.and_then(|stored| committed.map(|()| stored));
    let stored = stored.map_err(Failure::Commit)?;
    shared.note_written(&parts);
    were_stored(group.len(), &stored)
}

/// Which of a group the database has stored. It gives the list of their places, counted from
/// one.
fn were_stored(group: usize, rows: &[SqlRow]) -> Result<Vec<bool>, Failure> {
    let mut stored = vec![false; group];
    for row in rows {
        for place in row.try_get::<_, Vec<i64>>(0)? {
            let place = usize::try_from(place).ok().and_then(|place| place.checked_sub(1));
            if let Some(stored) = place.and_then(|place| stored.get_mut(place)) {
                *stored = true;
            }
        }
    }
    Ok(stored)
}

/// Each response joins the lineage of what it continues, or begins one. Nothing happens to
/// one whose id is taken, by a record or by a response before it in the group. Lineages
/// are locked in their order and before anything is inserted, so that two groups that
/// continue the same chains never wait for each other. All parts of the statement see the
/// tables as they were when it began, except for rows that are locked or changed: of
/// those it gets the newest state. A lineage that was deleted in the meantime is not
/// among `joined`, and the response begins another. The answer is one row, because the driver
/// does more for a row than for a place.
const INSERT: &str = "WITH new AS MATERIALIZED (SELECT n.*, (SELECT r.lineage FROM toolwire_record r WHERE r.tenant = \
     n.tenant AND r.kind = 'response' AND r.id = n.previous) AS chain FROM unnest($1::text[], $2::text[], $3::bigint[], \
     $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bytea[], $11::bytea[], \
     $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::text[], $17::bigint[], $18::bigint[], \
     $19::bigint[], $20::bigint[], $21::bytea[]) WITH ORDINALITY AS n (tenant, id, created, updated, expires, \
     previous, conversation, status, model, body, internal, next, items, bytes, context, owner, lease, shared, \
     shared_at, output_at, packed, place) WHERE (SELECT r.key FROM toolwire_record r WHERE r.tenant = n.tenant AND \
     r.kind = 'response' AND r.id = n.id) IS NULL), \
     locked AS MATERIALIZED (SELECT l.key FROM toolwire_lineage l WHERE l.key = ANY (ARRAY(SELECT chain FROM new)) \
     ORDER BY l.key FOR NO KEY UPDATE), \
     joined AS (UPDATE toolwire_lineage l SET expires = GREATEST(l.expires, c.expires) FROM (SELECT k.key, \
     max(n.expires) AS expires FROM locked k JOIN new n ON n.chain = k.key GROUP BY k.key) c WHERE l.key = c.key \
     RETURNING l.key), \
     alone AS MATERIALIZED (SELECT n.place, n.expires, row_number() OVER (ORDER BY n.place) AS number FROM new n \
     WHERE n.chain IS NULL OR n.chain NOT IN (SELECT key FROM joined)), \
     begun AS (INSERT INTO toolwire_lineage (expires) SELECT expires FROM alone ORDER BY number RETURNING key), \
     numbered AS (SELECT key, row_number() OVER (ORDER BY key) AS number FROM begun), \
     record AS (INSERT INTO toolwire_record (lineage, tenant, kind, id, created, updated, expires, previous, \
     conversation, status, model, body, internal, next, items, bytes, context, owner, lease, shared, shared_at, \
     output_at) SELECT COALESCE(b.key, n.chain), n.tenant, 'response', n.id, n.created, n.updated, n.expires, \
     n.previous, n.conversation, n.status, n.model, n.body, n.internal, n.next, n.items, n.bytes, n.context, n.owner, \
     n.lease, n.shared, n.shared_at, n.output_at FROM new n LEFT JOIN alone a ON a.place = n.place LEFT JOIN numbered \
     b ON b.number = a.number ORDER BY n.place ON CONFLICT (tenant, kind, id) DO NOTHING RETURNING key, tenant, id), \
     stored AS (SELECT r.key, r.tenant, min(n.place) AS place FROM record r JOIN new n ON n.tenant = r.tenant AND n.id \
     = r.id GROUP BY r.key, r.tenant), \
     items AS (INSERT INTO toolwire_packed (record, items) SELECT s.key, n.packed FROM stored s JOIN new n ON n.place = \
     s.place WHERE n.packed IS NOT NULL), \
     ids AS (INSERT INTO toolwire_packed_id (tenant, id, record) SELECT s.tenant, i.id, s.key FROM \
     unnest($22::bigint[], $23::text[]) AS i (place, id) JOIN stored s ON s.place = i.place) \
     SELECT COALESCE(array_agg(place), '{}') FROM stored";
