//! What is read.

use std::collections::HashMap;

use bytes::Bytes;
use deadpool_postgres::{GenericClient, Object, Transaction};
use tokio_postgres::{IsolationLevel, Row as SqlRow};

use super::failure::Failure;
use super::migrate;
use crate::engine::stored_body::with_output;
use crate::engine::{Cursor, FoundLink, ItemsQuery, chain_within, sql};
use crate::error::StoreError;
use crate::id::response_of_item;
use crate::model::{ChainLink, Item, Order, Page, Stats, Status, Timestamp};
use crate::packed;
use crate::record::{FullRecord, Kind, Record, Row, Section, count};
use crate::store::too_much_to_read;

pub(super) async fn record(
    client: &impl GenericClient,
    tenant: &str,
    kind: Kind,
    id: &str,
    now: i64,
) -> Result<Option<(i64, Record)>, Failure> {
    let select = client.prepare_cached(sql::WHOLE_RECORD).await?;
    let found = client.query_opt(&select, &[&tenant, &kind.as_str(), &id, &now]).await?;
    found.as_ref().map(whole_record).transpose()
}

pub(super) async fn items(
    client: &mut Object,
    query: &ItemsQuery,
) -> Result<(Record, Vec<Row>, bool), Failure> {
    let ItemsQuery { tenant, kind, id, section, cursor, limit, now } = query;
    let client = one_state(client).await?;
    let found = record(&client, tenant.as_str(), *kind, id, *now).await?;
    let (key, record) = found.ok_or(StoreError::NotFound)?;
    if record.context > limit.bytes {
        return Err(too_much_to_read(limit.bytes).into());
    }
    if section.is_packed() {
        let rows = packed_items(&client, key).await?;
        client.commit().await?;
        let (rows, more) = query.page(rows)?;
        return Ok((record, rows, more));
    }
    let section = section.number();
    let after = match cursor {
        Cursor::Start => None,
        Cursor::Position(position) => Some(*position),
        Cursor::Id(id) => {
            let select = client.prepare_cached(sql::POSITION).await?;
            let row = client.query_one(&select, &[&tenant.as_str(), id, &key, &section]).await?;
            let position: Option<i64> = row.try_get(0)?;
            Some(position.ok_or(StoreError::Cursor)?)
        }
    };
    let (statement, after) = match limit.order {
        Order::OldestFirst => (sql::ROWS_FORWARD, after.unwrap_or(-1)),
        Order::NewestFirst => (sql::ROWS_BACKWARD, after.unwrap_or(i64::MAX)),
    };
    let select = client.prepare_cached(statement).await?;
    let rows = client.query(&select, &[&key, &section, &after, &limit.rows_to_read()]).await?;
    client.commit().await?;
    let mut rows = rows.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    let more = limit.cut(&mut rows);
    Ok((record, rows, more))
}

pub(super) async fn chain(
    client: &mut Object,
    tenant: &str,
    id: &str,
    now: i64,
    limit: i64,
) -> Result<Vec<ChainLink>, Failure> {
    let client = one_state(client).await?;
    let select = client.prepare_cached(sql::CHAIN_KEYS).await?;
    let (mut chain, mut bytes, mut places) = (Vec::new(), 0, HashMap::new());
    for row in &client.query(&select, &[&tenant, &id, &now]).await? {
        bytes += row.try_get::<_, i64>(6)?;
        let link = ChainLink {
            id: row.try_get(0)?,
            conversation: row.try_get(2)?,
            status: status(row, 3)?,
            model: row.try_get(4)?,
            internal: blob(row, 5)?,
            input: Vec::new(),
            output: Vec::new(),
        };
        let continues = row.try_get::<_, Option<&str>>(1)?.is_some();
        places.insert(row.try_get::<_, i64>(8)?, chain.len());
        chain.push(FoundLink { depth: row.try_get(7)?, continues, link });
    }
    if bytes <= limit {
        let select = client.prepare_cached(ITEMS_OF_MANY).await?;
        let keys: Vec<_> = places.keys().collect();
        for row in &client.query(&select, &[&keys]).await? {
            let place = places.get(&row.try_get(1)?).and_then(|place| chain.get_mut(*place));
            place.ok_or_else(unknown)?.link.take_rows(unpacked(row, 0)?);
        }
    }
    client.commit().await?;
    chain_within(chain, bytes, limit).map_err(Failure::from)
}

pub(super) async fn item(
    client: &mut Object,
    tenant: &str,
    id: &str,
    now: i64,
) -> Result<Option<Item>, Failure> {
    let client = one_state(client).await?;
    let select = client.prepare_cached(sql::ITEM).await?;
    let entry = client.query_opt(&select, &[&tenant, &id, &now]).await?;
    let entry: Option<(i64, Row)> = match &entry {
        Some(found) => Some((found.try_get(5)?, row(found)?)),
        None => None,
    };
    let select = client.prepare_cached(sql::RECORD_OF_ITEM).await?;
    let listed = client.query_opt(&select, &[&tenant, &id, &now]).await?;
    let listed: Option<i64> = listed.map(|row| row.try_get(0)).transpose()?;
    let told = match response_of_item(id) {
        Some(response) => key(&client, tenant, Kind::Response, &response, now).await?,
        None => None,
    };
    // The newest is wanted, and keys grow.
    for record in [listed.max(told), listed.min(told)].into_iter().flatten() {
        if entry.as_ref().is_some_and(|(newer, _)| *newer > record) {
            continue;
        }
        if let Some(found) = packed::find(packed_items(&client, record).await?, id) {
            client.commit().await?;
            return Ok(Some(found.into_item()));
        }
    }
    client.commit().await?;
    Ok(entry.map(|(_, row)| row.into_item()))
}

async fn key(
    client: &impl GenericClient,
    tenant: &str,
    kind: Kind,
    id: &str,
    now: i64,
) -> Result<Option<i64>, Failure> {
    let select = client.prepare_cached(sql::KEY).await?;
    let found = client.query_opt(&select, &[&tenant, &kind.as_str(), &id, &now]).await?;
    Ok(found.map(|row| row.try_get(0)).transpose()?)
}

/// The items of a response.
pub(super) async fn packed_items(
    client: &impl GenericClient,
    key: i64,
) -> Result<Vec<Row>, Failure> {
    let select = client.prepare_cached(sql::ITEMS).await?;
    let found = client.query_opt(&select, &[&key]).await?;
    found.map_or(Ok(Vec::new()), |row| unpacked(&row, 0))
}

pub(super) async fn threads(
    client: &mut Object,
    tenant: &str,
    kind: Kind,
    page: &Page,
    now: i64,
) -> Result<(Vec<Record>, bool), Failure> {
    let client = one_state(client).await?;
    let after: Option<i64> = match &page.after {
        Some(id) => {
            let key = key(&client, tenant, kind, id, now).await?;
            Some(key.ok_or(StoreError::Cursor)?)
        }
        None => None,
    };
    let kind = kind.as_str();
    let (statement, after) = match page.order {
        Order::OldestFirst => (sql::THREADS_FORWARD, after.unwrap_or(0)),
        Order::NewestFirst => (sql::THREADS_BACKWARD, after.unwrap_or(i64::MAX)),
    };
    let select = client.prepare_cached(statement).await?;
    let limit = count(page.limit).saturating_add(1);
    let rows = client.query(&select, &[&tenant, &kind, &now, &after, &limit]).await?;
    client.commit().await?;
    let records = rows.iter().map(|row| Ok(keyed_record(row)?.1));
    let mut records = records.collect::<Result<Vec<_>, Failure>>()?;
    let more = records.len() > page.limit;
    records.truncate(page.limit);
    Ok((records, more))
}

pub(super) async fn stats(client: &mut Object, now: i64) -> Result<Stats, Failure> {
    let client = one_state(client).await?;
    let mut stats = Stats {
        engine: "postgres",
        version: migrate::version(&client).await?,
        responses: 0,
        conversations: 0,
        sessions: 0,
        running: 0,
        items: 0,
        bytes: 0,
        tenants: number(&client.query_one(sql::TENANTS, &[]).await?, 0)?,
        oldest: None,
        expired: 0,
    };
    for row in client.query(sql::STATS, &[&now]).await? {
        let records = number(&row, 1)?;
        match kind(&row, 0)? {
            Kind::Response => stats.responses = records,
            Kind::Conversation => stats.conversations = records,
            Kind::Session => stats.sessions = records,
        }
        stats.items += number(&row, 2)?;
        stats.bytes += number(&row, 3)?;
        let oldest = Timestamp(row.try_get(4)?);
        stats.oldest = Some(stats.oldest.map_or(oldest, |known| known.min(oldest)));
        stats.expired += number(&row, 5)?;
        stats.running += number(&row, 6)?;
    }
    client.commit().await?;
    Ok(stats)
}

pub(super) async fn export(
    client: &mut Object,
    after: i64,
    most_bytes: i64,
) -> Result<Vec<(i64, FullRecord)>, Failure> {
    let client = one_state(client).await?;
    let (mut page, mut bytes) = (Vec::new(), 0);
    for row in client.query(sql::KEYS, &[&after, &count(PAGE_RECORDS)]).await? {
        let key: i64 = row.try_get(0)?;
        bytes += row.try_get::<_, i64>(1)?;
        if bytes > most_bytes && !page.is_empty() {
            break;
        }
        let select = client.prepare_cached(sql::WHOLE_RECORD_OF_KEY).await?;
        let (_, record) = whole_record(&client.query_one(&select, &[&key]).await?)?;
        let mut rows = packed_items(&client, key).await?;
        let select = client.prepare_cached(sql::ALL_ROWS).await?;
        for found in client.query(&select, &[&key]).await? {
            rows.push(self::row(&found)?);
        }
        page.push((key, FullRecord { record, rows }));
    }
    client.commit().await?;
    Ok(page)
}

/// How many records are read or written in one call. Each is a handful of round trips, and
/// all of them must fit into the time of a call, also to a server that is far away.
pub(super) const PAGE_RECORDS: usize = 16;

/// A transaction whose statements all see the same state of the database.
async fn one_state(client: &mut Object) -> Result<Transaction<'_>, Failure> {
    let transaction = client.build_transaction();
    let transaction = transaction.isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    Ok(transaction.start().await?)
}

/// A record with its key, and with the output that its body may lack.
fn whole_record(row: &SqlRow) -> Result<(i64, Record), Failure> {
    let (key, mut record) = keyed_record(row)?;
    if let Some(at) = row.try_get(19)? {
        record.body = with_output(&record.body, at, &unpacked(row, 20)?).ok_or_else(unknown)?;
    }
    Ok((key, record))
}

/// A record from its columns, with the key behind them.
pub(super) fn keyed_record(row: &SqlRow) -> Result<(i64, Record), Failure> {
    let record = Record {
        tenant: row.try_get(0)?,
        kind: kind(row, 1)?,
        id: row.try_get(2)?,
        created: row.try_get(3)?,
        updated: row.try_get(4)?,
        expires: row.try_get(5)?,
        previous: row.try_get(6)?,
        conversation: row.try_get(7)?,
        status: status(row, 8)?,
        model: row.try_get(9)?,
        body: blob(row, 10)?,
        internal: blob(row, 11)?,
        next: row.try_get(12)?,
        items: row.try_get(13)?,
        bytes: row.try_get(14)?,
        context: row.try_get(15)?,
        owner: row.try_get(16)?,
        lease: row.try_get(17)?,
    };
    Ok((row.try_get(18)?, record))
}

pub(super) fn row(row: &SqlRow) -> Result<Row, Failure> {
    Ok(Row {
        section: Section::from_number(row.try_get(0)?).ok_or_else(unknown)?,
        position: row.try_get(1)?,
        id: row.try_get(2)?,
        tag: row.try_get(3)?,
        body: blob(row, 4)?,
    })
}

pub(super) fn number(row: &SqlRow, column: usize) -> Result<u64, Failure> {
    Ok(u64::try_from(row.try_get::<_, i64>(column)?).unwrap_or(0))
}

/// Packed items. A response without any has no value.
fn unpacked(row: &SqlRow, column: usize) -> Result<Vec<Row>, Failure> {
    let Some(packed) = row.try_get::<_, Option<Vec<u8>>>(column)? else { return Ok(Vec::new()) };
    packed::unpack(packed.into()).ok_or_else(unknown)
}

fn blob(row: &SqlRow, column: usize) -> Result<Bytes, Failure> {
    Ok(Bytes::from(row.try_get::<_, Vec<u8>>(column)?))
}

fn kind(row: &SqlRow, column: usize) -> Result<Kind, Failure> {
    Kind::from_str(row.try_get(column)?).ok_or_else(unknown)
}

fn status(row: &SqlRow, column: usize) -> Result<Status, Failure> {
    Status::from_str(row.try_get(column)?).ok_or_else(unknown)
}

fn unknown() -> Failure {
    let reason = "the database has a value that no toolwire writes".to_owned();
    StoreError::Unavailable { reason, retry: false }.into()
}

const ITEMS_OF_MANY: &str =
    "SELECT items, record FROM toolwire_packed WHERE record = ANY ($1::bigint[])";
