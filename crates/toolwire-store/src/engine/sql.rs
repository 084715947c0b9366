//! The statements that SQLite and Postgres share, table only.
//!
//! Both number parameters as `$1`, `$2`. To SQLite these are names, and it
//! counts them in the order in which they first appear, so they appear in
//! order.

macro_rules! columns {
    () => {
        columns!("body")
    };
    (whole) => {
        columns!(
            "CASE WHEN shared IS NULL THEN body ELSE overlay(body PLACING (SELECT s.bytes FROM toolwire_shared s \
             WHERE s.key = shared) FROM CAST(shared_at AS INTEGER) + 1 FOR 0) END"
        )
    };
    ($body:literal) => {
        concat!(
            "tenant, kind, id, created, updated, expires, previous, conversation, status, model, ",
            $body,
            ", internal, next, items, bytes, context, owner, lease"
        )
    };
}

/// Where a body lacks the output, and the items that have it. They are read only if
/// something is missing, because the input among them may be long.
macro_rules! output {
    () => {
        output!("packed")
    };
    (whole) => {
        output!("(SELECT p.items FROM toolwire_packed p WHERE p.record = toolwire_record.key)")
    };
    ($items:literal) => {
        concat!("output_at, CASE WHEN output_at IS NOT NULL THEN ", $items, " END")
    };
}

/// SQLite puts shared parts into a body by itself, Postgres is asked for a body that has them.
macro_rules! record {
    ($($whole:ident)?) => {
        concat!(
            "SELECT ",
            columns!($($whole)?),
            ", key, ",
            output!($($whole)?),
            " FROM toolwire_record WHERE tenant = $1 AND kind = $2 AND id = $3 AND expires > $4"
        )
    };
}

pub(super) const RECORD: &str = record!();

#[cfg(feature = "postgres")]
pub(super) const WHOLE_RECORD: &str = record!(whole);

macro_rules! record_of_key {
    ($($whole:ident)?) => {
        concat!(
            "SELECT ",
            columns!($($whole)?),
            ", key, ",
            output!($($whole)?),
            " FROM toolwire_record WHERE key = $1"
        )
    };
}

pub(super) const RECORD_OF_KEY: &str = record_of_key!();

#[cfg(feature = "postgres")]
pub(super) const WHOLE_RECORD_OF_KEY: &str = record_of_key!(whole);

macro_rules! insert_record {
    ($columns:literal, $values:literal, $then:literal) => {
        concat!(
            "INSERT INTO toolwire_record (lineage, ",
            columns!(),
            $columns,
            ") VALUES (",
            $values,
            ")",
            $then
        )
    };
}

/// SQLite has the items in the record. It knows the key without being asked, and
/// would keep a copy of every page that it changes for the answer.
pub(super) const INSERT_RECORD: &str = insert_record!(
    ", packed, shared, shared_at, output_at",
    "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23",
    ""
);

/// Conflicts change nothing instead of failing, because in Postgres a failure
/// ends the transaction.
#[cfg(feature = "postgres")]
pub(super) const INSERT_RECORD_RETURNING: &str = insert_record!(
    ", shared, shared_at, output_at",
    "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22",
    " ON CONFLICT (tenant, kind, id) DO NOTHING RETURNING key"
);

#[cfg(feature = "postgres")]
pub(super) const DELETE_EXPIRED: &str =
    "DELETE FROM toolwire_record WHERE tenant = $1 AND kind = $2 AND id = $3 AND expires <= $4";

pub(super) const HAS_SHARED: &str = "SELECT 1 FROM toolwire_shared WHERE key = $1";

pub(super) const INSERT_SHARED: &str = "INSERT INTO toolwire_shared (key, bytes) VALUES ($1, $2)";

pub(super) const DELETE_SHARED: &str = "DELETE FROM toolwire_shared WHERE key = $1";

/// What is cut out of a body, and where, if anything is.
pub(super) const SHARED: &str = "SELECT s.bytes, r.shared_at FROM toolwire_record r LEFT JOIN toolwire_shared s \
     ON s.key = r.shared WHERE r.key = $1 AND r.shared IS NOT NULL";

/// The record with an id, also if it has expired.
pub(super) const EXPIRES: &str =
    "SELECT key, expires FROM toolwire_record WHERE tenant = $1 AND kind = $2 AND id = $3";

pub(super) const DELETE_KEY: &str = "DELETE FROM toolwire_record WHERE key = $1";

pub(super) const INSERT_LINEAGE: &str = "INSERT INTO toolwire_lineage (expires) VALUES ($1)";

#[cfg(feature = "postgres")]
pub(super) const INSERT_LINEAGE_RETURNING: &str =
    "INSERT INTO toolwire_lineage (expires) VALUES ($1) RETURNING key";

/// Keeps the items of a response, which are one value.
pub(super) const SET_PACKED: &str = "UPDATE toolwire_record SET packed = $1 WHERE key = $2";

pub(super) const PACKED: &str = "SELECT packed FROM toolwire_record WHERE key = $1";

#[cfg(feature = "postgres")]
pub(super) const SET_ITEMS: &str = "INSERT INTO toolwire_packed (record, items) VALUES ($1, $2) ON CONFLICT \
     (record) DO UPDATE SET items = excluded.items";

#[cfg(feature = "postgres")]
pub(super) const ITEMS: &str = "SELECT items FROM toolwire_packed WHERE record = $1";

pub(super) const DELETE_ITEM_IDS: &str = "DELETE FROM toolwire_packed_id WHERE record = $1";

/// The newest record whose packed items have one with this id.
pub(super) const RECORD_OF_ITEM: &str = "SELECT r.key FROM toolwire_packed_id i JOIN toolwire_record r ON r.key \
     = i.record WHERE i.tenant = $1 AND i.id = $2 AND r.expires > $3 ORDER BY r.key DESC LIMIT 1";

pub(super) const EXTEND_LINEAGE: &str = "UPDATE toolwire_lineage SET expires = CASE WHEN expires < $1 THEN $1 ELSE expires END WHERE key = $2";

/// The lineage of a response, and when the response expires if it is alone.
pub(super) const LINEAGE_OF: &str = "SELECT key, lineage, expires FROM toolwire_record WHERE tenant = $1 AND \
     kind = 'response' AND id = $2";

pub(super) const SET_LINEAGE: &str = "UPDATE toolwire_record SET lineage = $1 WHERE key = $2";

#[cfg(feature = "postgres")]
pub(super) const EXTEND_LINEAGE_OF: &str = "UPDATE toolwire_lineage SET expires = CASE WHEN expires < $1 \
     THEN $1 ELSE expires END WHERE key = (SELECT lineage FROM toolwire_record WHERE tenant = $2 AND kind = \
     'response' AND id = $3) RETURNING key";

/// Makes room at the end of a record's list. Returns the record's key, its
/// lineage, when it expires, and the position after the new rows.
pub(super) const APPEND: &str = "UPDATE toolwire_record SET next = next + $1, items = items + $2, bytes = \
     bytes + $3, context = context + $4, updated = $5, expires = CASE WHEN expires < $6 THEN $6 \
     ELSE expires END WHERE tenant = $7 AND kind = $8 AND id = $9 AND expires > $10 AND (CAST($11 \
     AS BIGINT) IS NULL OR next = $11) AND (CAST($12 AS TEXT) IS NULL OR owner = $12) AND (kind <> \
     'response' OR status IN ('queued', 'in_progress')) RETURNING key, lineage, expires, next";

/// Changes a running response. Returns its key, its lineage and when it expires.
pub(super) const UPDATE: &str = "UPDATE toolwire_record SET status = $1, bytes = bytes + $2 - \
     octet_length(body), body = $3, output_at = NULL, items = items + $4, context = context + $5, updated = $6, \
     expires = CASE WHEN expires < $7 THEN $7 ELSE expires END, owner = CASE WHEN $1 IN ('queued', \
     'in_progress') THEN owner END, lease = CASE WHEN $1 IN ('queued', 'in_progress') THEN lease \
     END WHERE tenant = $8 AND kind = 'response' AND id = $9 AND expires > $10 AND (CAST($11 AS \
     TEXT) IS NULL OR owner = $11) AND status IN ('queued', 'in_progress') RETURNING key, lineage, \
     expires";

/// Replaces a thread's metadata. Returns its key, its lineage and when it
/// expires.
pub(super) const METADATA: &str = "UPDATE toolwire_record SET bytes = bytes + $1 - octet_length(body), body \
     = $2, updated = $3, expires = CASE WHEN expires < $4 THEN $4 ELSE expires END WHERE tenant = \
     $5 AND kind = $6 AND id = $7 AND expires > $8 RETURNING key, lineage, expires";

/// Corrects the sums of a record after items were removed.
pub(super) const ADJUST: &str = "UPDATE toolwire_record SET items = items + $1, bytes = bytes + $2, context \
     = context + $3 WHERE key = $4";

pub(super) const DELETE_ENTRY: &str = "DELETE FROM toolwire_item WHERE record = $1 AND section = 2 AND \
     position = (SELECT min(position) FROM toolwire_item WHERE tenant = $2 AND id = $3 AND id <> '' AND \
     record = $1 AND section = 2) RETURNING CAST(octet_length(id) + octet_length(tag) + \
     octet_length(body) AS BIGINT)";

pub(super) const EXISTS: &str =
    "SELECT 1 FROM toolwire_record WHERE tenant = $1 AND kind = $2 AND id = $3 AND expires > $4";

pub(super) const DELETE: &str = "DELETE FROM toolwire_record WHERE tenant = $1 AND kind = $2 AND id = $3 AND \
     expires > $4 RETURNING bytes";

pub(super) const POSITION: &str = "SELECT min(position) FROM toolwire_item WHERE tenant = $1 AND id = $2 AND \
     id <> '' AND record = $3 AND section = $4";

pub(super) const ROWS_FORWARD: &str = "SELECT section, position, id, tag, body FROM toolwire_item WHERE \
     record = $1 AND section = $2 AND position > $3 ORDER BY position LIMIT $4";

pub(super) const ROWS_BACKWARD: &str = "SELECT section, position, id, tag, body FROM toolwire_item WHERE \
     record = $1 AND section = $2 AND position < $3 ORDER BY position DESC LIMIT $4";

pub(super) const ALL_ROWS: &str = "SELECT section, position, id, tag, body FROM toolwire_item WHERE record = \
     $1 ORDER BY section, position";

/// Goes on from each row of a chain to the record with this condition.
macro_rules! each_with {
    // SQLite begins with what is left of the join.
    (in_order: $condition:literal) => {
        concat!(" CROSS JOIN toolwire_record r WHERE ", $condition)
    };
    // Postgres would read everything that the tenant has, and put it into a table in memory,
    // where it takes the tenant to have little. With a limit it looks for one at a time.
    (one_by_one: $condition:literal) => {
        concat!(
            " CROSS JOIN LATERAL (SELECT * FROM toolwire_record r WHERE ",
            $condition,
            " LIMIT 1) r"
        )
    };
}

/// A response and those that it continues, with how far each is from it. What is
/// continued was stored before, so its key is smaller, and there can be no circle.
/// The database would copy everything to put it in order, so the caller does that.
macro_rules! chain {
    ($column:literal, $how:ident) => {
        concat!(
            "WITH RECURSIVE chain (key, previous, depth) AS (SELECT key, previous, 0 FROM toolwire_record \
             WHERE tenant = $1 AND kind = 'response' AND id = $2 AND expires > $3 UNION ALL SELECT r.key, \
             r.previous, c.depth + 1 FROM chain c",
            each_with!($how: "r.tenant = $1 AND r.kind = 'response' AND r.id = c.previous AND r.key < c.key"),
            ") SELECT r.id, r.previous, r.conversation, r.status, r.model, r.internal, r.context, CAST(c.depth AS \
             BIGINT), ",
            $column,
            " FROM chain c",
            each_with!($how: "r.key = c.key")
        )
    };
}

/// The chain with its items, for a database that gives one row at a time.
pub(super) const CHAIN: &str = chain!("r.packed", in_order);

/// The chain with its keys, for one that gives all rows at once.
#[cfg(feature = "postgres")]
pub(super) const CHAIN_KEYS: &str = chain!("r.key", one_by_one);

/// The newest item of a thread that has this id, with the key of its record.
pub(super) const ITEM: &str = "SELECT i.section, i.position, i.id, i.tag, i.body, i.record FROM toolwire_item i JOIN \
     toolwire_record r ON r.key = i.record WHERE i.tenant = $1 AND i.id = $2 AND i.id <> '' AND r.expires > \
     $3 ORDER BY i.record DESC, i.section DESC, i.position DESC LIMIT 1";

pub(super) const KEY: &str =
    "SELECT key FROM toolwire_record WHERE tenant = $1 AND kind = $2 AND id = $3 AND expires > $4";

pub(super) const THREADS_FORWARD: &str = concat!(
    "SELECT ",
    columns!(),
    ", key FROM toolwire_record WHERE tenant = $1 AND kind = $2 AND kind <> 'response' AND expires > $3 AND \
     key > $4 ORDER BY key LIMIT $5"
);

pub(super) const THREADS_BACKWARD: &str = concat!(
    "SELECT ",
    columns!(),
    ", key FROM toolwire_record WHERE tenant = $1 AND kind = $2 AND kind <> 'response' AND expires > $3 AND \
     key < $4 ORDER BY key DESC LIMIT $5"
);

pub(super) const USAGE: &str = "SELECT count(*), CAST(COALESCE(sum(bytes), 0) AS BIGINT) FROM toolwire_record WHERE tenant = $1";

pub(super) const TOTAL_USAGE: &str =
    "SELECT count(*), CAST(COALESCE(sum(bytes), 0) AS BIGINT) FROM toolwire_record";

/// The lease is asked for twice: who waited for another's claim in Postgres
/// looks at the row again, but not at the list of keys.
pub(super) const CLAIM: &str = concat!(
    "UPDATE toolwire_record SET owner = $1, lease = $2 WHERE lease <= $3 AND key IN (SELECT key FROM toolwire_record \
     WHERE lease <= $3 ORDER BY lease LIMIT $4) RETURNING ",
    columns!(),
    ", key"
);

/// How many of the lineages that are deleted next have records. Those that have none are
/// not counted, because their records were deleted before. In the order of the keys, which is
/// about that of time, the next ones are found without reading those behind them.
pub(super) const PRUNED: &str = "SELECT CAST(COALESCE(sum(EXISTS (SELECT 1 FROM toolwire_record r WHERE r.lineage = \
     l.key)), 0) AS BIGINT) FROM (SELECT key FROM toolwire_lineage WHERE expires <= $1 ORDER BY key LIMIT $2) l";

/// Records go with their lineage, and rows with their record.
pub(super) const PRUNE: &str = "DELETE FROM toolwire_lineage WHERE key IN (SELECT key FROM toolwire_lineage WHERE \
     expires <= $1 ORDER BY key LIMIT $2)";

/// The same, with whether each had records. A lineage that somebody is extending is left
/// out, so that nobody waits for the other, and the rest is locked before it is deleted: a
/// deletion that had to wait would not ask again whether it has expired.
#[cfg(feature = "postgres")]
pub(super) const PRUNE_RETURNING: &str = "DELETE FROM toolwire_lineage WHERE expires <= $1 AND key = ANY (ARRAY(SELECT \
     key FROM toolwire_lineage WHERE expires <= $1 ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING \
     EXISTS (SELECT 1 FROM toolwire_record r WHERE r.lineage = toolwire_lineage.key)";

/// Those that have no lineage. The index has them by their shared part.
pub(super) const PRUNE_ALONE: &str = "DELETE FROM toolwire_record WHERE key IN (SELECT r.key FROM (SELECT key FROM \
     toolwire_shared UNION ALL SELECT NULL) s CROSS JOIN toolwire_record r WHERE r.shared IS s.key AND r.lineage \
     IS NULL AND r.expires <= $1 LIMIT $2)";

pub(super) const STATS: &str = "SELECT kind, count(*), CAST(sum(items) AS BIGINT), CAST(sum(bytes) \
     AS BIGINT), min(created), CAST(sum(CASE WHEN expires <= $1 THEN 1 ELSE 0 END) AS BIGINT), \
     CAST(sum(CASE WHEN owner IS NULL THEN 0 ELSE 1 END) AS BIGINT) FROM toolwire_record GROUP BY kind";

pub(super) const TENANTS: &str = "SELECT count(DISTINCT tenant) FROM toolwire_record";

pub(super) const KEYS: &str =
    "SELECT key, bytes FROM toolwire_record WHERE key > $1 ORDER BY key LIMIT $2";

#[cfg(test)]
mod tests;
