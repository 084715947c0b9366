//! What is read.

use bytes::Bytes;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

use super::failure::Failure;
use super::{migrate, shared};
use crate::engine::stored_body::with_output;
use crate::engine::{Cursor, FoundLink, ItemsQuery, chain_within, sql};
use crate::error::StoreError;
use crate::id::{Tenant, response_of_item};
use crate::model::{ChainLink, Item, Order, Page, Stats, Status, Timestamp, Usage};
use crate::packed;
use crate::record::{FullRecord, Kind, Record, Row, Section, count};
use crate::store::too_much_to_read;

pub(super) fn record(
    connection: &Connection,
    tenant: &str,
    kind: Kind,
    id: &str,
    now: i64,
) -> Result<Option<(i64, Record)>, Failure> {
    let mut select = connection.prepare_cached(sql::RECORD)?;
    let values = params![tenant, kind.as_str(), id, now];
    let found = select.query_row(values, stored_record).optional()?;
    found.map(|found| restored(connection, found)).transpose()
}

/// Puts the body of a record together.
fn restored(
    connection: &Connection,
    (key, mut record, output): StoredRecord,
) -> Result<(i64, Record), Failure> {
    shared::restore(connection, key, &mut record)?;
    if let Some((at, items)) = output {
        let whole = with_output(&record.body, at, &items);
        record.body = whole.ok_or_else(|| unknown(OUTPUT_AT))?;
    }
    Ok((key, record))
}

pub(super) fn items(
    connection: &Connection,
    query: &ItemsQuery,
) -> Result<(Record, Vec<Row>, bool), Failure> {
    let ItemsQuery { tenant, kind, id, section, cursor, limit, now } = query;
    let found = record(connection, tenant.as_str(), *kind, id, *now)?;
    let (key, record) = found.ok_or(StoreError::NotFound)?;
    if record.context > limit.bytes {
        return Err(too_much_to_read(limit.bytes).into());
    }
    if section.is_packed() {
        let (rows, more) = query.page(packed_items(connection, key)?)?;
        return Ok((record, rows, more));
    }
    let after = match cursor {
        Cursor::Start => None,
        Cursor::Position(position) => Some(*position),
        Cursor::Id(id) => {
            let mut select = connection.prepare_cached(sql::POSITION)?;
            let values = params![tenant.as_str(), id, key, section.number()];
            let position: Option<i64> = select.query_row(values, |row| row.get(0))?;
            Some(position.ok_or(StoreError::Cursor)?)
        }
    };
    let (statement, after) = match limit.order {
        Order::OldestFirst => (sql::ROWS_FORWARD, after.unwrap_or(-1)),
        Order::NewestFirst => (sql::ROWS_BACKWARD, after.unwrap_or(i64::MAX)),
    };
    let mut select = connection.prepare_cached(statement)?;
    let values = params![key, section.number(), after, limit.rows_to_read()];
    let mut rows = select.query_map(values, row)?.collect::<Result<Vec<_>, _>>()?;
    let more = limit.cut(&mut rows);
    Ok((record, rows, more))
}

pub(super) fn chain(
    connection: &Connection,
    tenant: &str,
    id: &str,
    now: i64,
    limit: i64,
) -> Result<Vec<ChainLink>, Failure> {
    let mut select = connection.prepare_cached(sql::CHAIN)?;
    let mut found = select.query(params![tenant, id, now])?;
    let (mut chain, mut bytes) = (Vec::new(), 0);
    while let Some(row) = found.next()? {
        bytes += row.get::<_, i64>(6)?;
        let mut link = ChainLink {
            id: row.get(0)?,
            conversation: row.get(2)?,
            status: status(row, 3)?,
            model: row.get(4)?,
            internal: blob(row, 5)?,
            input: Vec::new(),
            output: Vec::new(),
        };
        if bytes <= limit {
            link.take_rows(unpacked(row, 8)?);
        }
        let continues = row.get_ref(1)? != ValueRef::Null;
        chain.push(FoundLink { depth: row.get(7)?, continues, link });
    }
    chain_within(chain, bytes, limit).map_err(Failure::from)
}

pub(super) fn item(
    connection: &Connection,
    tenant: &str,
    id: &str,
    now: i64,
) -> Result<Option<Item>, Failure> {
    let mut select = connection.prepare_cached(sql::ITEM)?;
    let entry =
        select.query_row(params![tenant, id, now], |found| Ok((found.get(5)?, row(found)?)));
    let entry: Option<(i64, Row)> = entry.optional()?;
    let mut select = connection.prepare_cached(sql::RECORD_OF_ITEM)?;
    let listed: Option<i64> =
        select.query_row(params![tenant, id, now], |row| row.get(0)).optional()?;
    let told = match response_of_item(id) {
        Some(response) => key(connection, tenant, Kind::Response, &response, now)?,
        None => None,
    };
    // The newest is wanted, and keys grow.
    for record in [listed.max(told), listed.min(told)].into_iter().flatten() {
        if entry.as_ref().is_some_and(|(newer, _)| *newer > record) {
            continue;
        }
        if let Some(found) = packed::find(packed_items(connection, record)?, id) {
            return Ok(Some(found.into_item()));
        }
    }
    Ok(entry.map(|(_, row)| row.into_item()))
}

fn key(
    connection: &Connection,
    tenant: &str,
    kind: Kind,
    id: &str,
    now: i64,
) -> Result<Option<i64>, Failure> {
    let mut select = connection.prepare_cached(sql::KEY)?;
    Ok(select.query_row(params![tenant, kind.as_str(), id, now], |row| row.get(0)).optional()?)
}

/// The items of a response.
pub(super) fn packed_items(connection: &Connection, key: i64) -> Result<Vec<Row>, Failure> {
    let mut select = connection.prepare_cached(sql::PACKED)?;
    let rows = select.query_row(params![key], |row| unpacked(row, 0)).optional()?;
    Ok(rows.unwrap_or_default())
}

pub(super) fn threads(
    connection: &Connection,
    tenant: &str,
    kind: Kind,
    page: &Page,
    now: i64,
) -> Result<(Vec<Record>, bool), Failure> {
    let after: Option<i64> = match &page.after {
        Some(id) => {
            let key = key(connection, tenant, kind, id, now)?;
            Some(key.ok_or(StoreError::Cursor)?)
        }
        None => None,
    };
    let (statement, after) = match page.order {
        Order::OldestFirst => (sql::THREADS_FORWARD, after.unwrap_or(0)),
        Order::NewestFirst => (sql::THREADS_BACKWARD, after.unwrap_or(i64::MAX)),
    };
    let mut select = connection.prepare_cached(statement)?;
    let values = params![tenant, kind.as_str(), now, after, count(page.limit).saturating_add(1)];
    let found = select.query_map(values, keyed_record)?;
    let mut records = found.map(|found| Ok(found?.1)).collect::<Result<Vec<_>, Failure>>()?;
    let more = records.len() > page.limit;
    records.truncate(page.limit);
    Ok((records, more))
}

pub(super) fn usage(connection: &Connection, tenant: Option<&Tenant>) -> Result<Usage, Failure> {
    let read = |row: &SqlRow<'_>| Ok(Usage { records: number(row, 0)?, bytes: number(row, 1)? });
    Ok(match tenant {
        Some(tenant) => {
            connection.prepare_cached(sql::USAGE)?.query_row(params![tenant.as_str()], read)?
        }
        None => connection.prepare_cached(sql::TOTAL_USAGE)?.query_row([], read)?,
    })
}

pub(super) fn stats(connection: &Connection, now: i64) -> Result<Stats, Failure> {
    let mut stats = Stats {
        engine: "sqlite",
        version: migrate::version(connection)?,
        responses: 0,
        conversations: 0,
        sessions: 0,
        running: 0,
        items: 0,
        bytes: 0,
        tenants: connection.query_row(sql::TENANTS, [], |row| number(row, 0))?,
        oldest: None,
        expired: 0,
    };
    let mut select = connection.prepare_cached(sql::STATS)?;
    let mut kinds = select.query(params![now])?;
    while let Some(row) = kinds.next()? {
        let records = number(row, 1)?;
        match kind(row, 0)? {
            Kind::Response => stats.responses = records,
            Kind::Conversation => stats.conversations = records,
            Kind::Session => stats.sessions = records,
        }
        stats.items += number(row, 2)?;
        stats.bytes += number(row, 3)?;
        let oldest = Timestamp(row.get(4)?);
        stats.oldest = Some(stats.oldest.map_or(oldest, |known| known.min(oldest)));
        stats.expired += number(row, 5)?;
        stats.running += number(row, 6)?;
    }
    Ok(stats)
}

pub(super) fn export(
    connection: &Connection,
    after: i64,
    most_bytes: i64,
) -> Result<Vec<(i64, FullRecord)>, Failure> {
    let mut keys = connection.prepare_cached(sql::KEYS)?;
    let mut keys = keys.query(params![after, PAGE_RECORDS])?;
    let (mut page, mut bytes) = (Vec::new(), 0);
    while let Some(row) = keys.next()? {
        let key: i64 = row.get(0)?;
        bytes += row.get::<_, i64>(1)?;
        if bytes > most_bytes && !page.is_empty() {
            break;
        }
        let mut select = connection.prepare_cached(sql::RECORD_OF_KEY)?;
        let (_, record) = restored(connection, select.query_row(params![key], stored_record)?)?;
        let mut rows = packed_items(connection, key)?;
        let mut select = connection.prepare_cached(sql::ALL_ROWS)?;
        for row in select.query_map(params![key], self::row)? {
            rows.push(row?);
        }
        page.push((key, FullRecord { record, rows }));
    }
    Ok(page)
}

/// How many records are read at a time.
const PAGE_RECORDS: i64 = 256;

/// A record as it is stored, with its key, and what its body lacks: the output, which is
/// among these items, at this place.
type StoredRecord = (i64, Record, Option<(i64, Vec<Row>)>);

fn stored_record(row: &SqlRow<'_>) -> rusqlite::Result<StoredRecord> {
    let (key, record) = keyed_record(row)?;
    let output = match row.get(OUTPUT_AT)? {
        Some(at) => Some((at, unpacked(row, 20)?)),
        None => None,
    };
    Ok((key, record, output))
}

/// A record from its columns, with the key behind them.
pub(super) fn keyed_record(row: &SqlRow<'_>) -> rusqlite::Result<(i64, Record)> {
    let record = Record {
        tenant: row.get(0)?,
        kind: kind(row, 1)?,
        id: row.get(2)?,
        created: row.get(3)?,
        updated: row.get(4)?,
        expires: row.get(5)?,
        previous: row.get(6)?,
        conversation: row.get(7)?,
        status: status(row, 8)?,
        model: row.get(9)?,
        body: blob(row, 10)?,
        internal: blob(row, 11)?,
        next: row.get(12)?,
        items: row.get(13)?,
        bytes: row.get(14)?,
        context: row.get(15)?,
        owner: row.get(16)?,
        lease: row.get(17)?,
    };
    Ok((row.get(18)?, record))
}

pub(super) fn row(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let section = Section::from_number(row.get(0)?);
    Ok(Row {
        section: section.ok_or_else(|| unknown(0))?,
        position: row.get(1)?,
        id: row.get(2)?,
        tag: row.get(3)?,
        body: blob(row, 4)?,
    })
}

/// Packed items. A response without any has no value.
fn unpacked(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Vec<Row>> {
    let Some(packed) = row.get::<_, Option<Vec<u8>>>(column)? else { return Ok(Vec::new()) };
    packed::unpack(packed.into()).ok_or_else(|| unknown(column))
}

fn blob(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Bytes> {
    Ok(Bytes::from(row.get::<_, Vec<u8>>(column)?))
}

fn number(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

fn kind(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Kind> {
    Kind::from_str(row.get_ref(column)?.as_str()?).ok_or_else(|| unknown(column))
}

fn status(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Status> {
    Status::from_str(row.get_ref(column)?.as_str()?).ok_or_else(|| unknown(column))
}

pub(super) fn unknown(column: usize) -> rusqlite::Error {
    let reason = "the file has a value that no toolwire writes".into();
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason)
}

/// The column that says where a body lacks its output.
const OUTPUT_AT: usize = 19;
