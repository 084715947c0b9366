//! What is read.

use bytes::Bytes;
use deadpool_postgres::{GenericClient, Object, Transaction};
use tokio_postgres::{IsolationLevel, Row as SqlRow};

use super::failure::Failure;
use super::migrate;
use crate::engine::{Cursor, ItemsQuery, sql};
use crate::error::StoreError;
use crate::model::{ChainLink, Order, Page, Stats, Status, Timestamp};
use crate::plan::{FullRecord, Kind, Record, Row, Section, count};
use crate::store::too_much_to_read;

pub(super) async fn record(
    client: &impl GenericClient,
    tenant: &str,
    kind: Kind,
    id: &str,
    now: i64,
) -> Result<Option<(i64, Record)>, Failure> {
    let select = client.prepare_cached(sql::RECORD).await?;
    let found = client.query_opt(&select, &[&tenant, &kind.as_str(), &id, &now]).await?;
    found.as_ref().map(keyed_record).transpose()
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
    let select = client.prepare_cached(sql::CHAIN).await?;
    let found = client.query(&select, &[&tenant, &id, &now]).await?;
    let (mut chain, mut keys, mut bytes) = (Vec::new(), Vec::new(), 0);
    for row in &found {
        let previous: Option<&str> = row.try_get(2)?;
        // The oldest comes first, and it must be a beginning.
        if chain.is_empty() && previous.is_some() {
            return Err(StoreError::NotFound.into());
        }
        keys.push(row.try_get::<_, i64>(0)?);
        bytes += row.try_get::<_, i64>(7)?;
        chain.push(ChainLink {
            id: row.try_get(1)?,
            conversation: row.try_get(3)?,
            status: status(row, 4)?,
            model: row.try_get(5)?,
            internal: blob(row, 6)?,
            input: Vec::new(),
            output: Vec::new(),
        });
    }
    if chain.is_empty() {
        return Err(StoreError::NotFound.into());
    }
    if bytes > limit {
        return Err(too_much_to_read(limit).into());
    }
    let select = client.prepare_cached(CHAIN_ROWS).await?;
    let rows = client.query(&select, &[&keys]).await?;
    client.commit().await?;
    for found in &rows {
        let place: i64 = found.try_get(5)?;
        let link = usize::try_from(place - 1).ok().and_then(|place| chain.get_mut(place));
        let Some(link) = link else { return Err(unknown()) };
        let row = row(found)?;
        match row.section {
            Section::Input => link.input.push(row.into_item()),
            Section::Output => link.output.push(row.into_item()),
            Section::Entry | Section::Event => {}
        }
    }
    Ok(chain)
}

pub(super) async fn threads(
    client: &mut Object,
    tenant: &str,
    kind: Kind,
    page: &Page,
    now: i64,
) -> Result<(Vec<Record>, bool), Failure> {
    let client = one_state(client).await?;
    let kind = kind.as_str();
    let after: Option<i64> = match &page.after {
        Some(id) => {
            let select = client.prepare_cached(sql::KEY).await?;
            let found = client.query_opt(&select, &[&tenant, &kind, id, &now]).await?;
            Some(found.ok_or(StoreError::Cursor)?.try_get(0)?)
        }
        None => None,
    };
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
    for row in client.query(sql::KEYS, &[&after]).await? {
        let key: i64 = row.try_get(0)?;
        bytes += row.try_get::<_, i64>(1)?;
        if bytes > most_bytes && !page.is_empty() {
            break;
        }
        let select = client.prepare_cached(sql::RECORD_OF_KEY).await?;
        let (_, record) = keyed_record(&client.query_one(&select, &[&key]).await?)?;
        let select = client.prepare_cached(sql::ALL_ROWS).await?;
        let rows = client.query(&select, &[&key]).await?;
        let rows = rows.iter().map(self::row).collect::<Result<Vec<_>, _>>()?;
        page.push((key, FullRecord { record, rows }));
    }
    client.commit().await?;
    Ok(page)
}

/// A transaction whose statements all see the same state of the database.
async fn one_state(client: &mut Object) -> Result<Transaction<'_>, Failure> {
    let transaction = client.build_transaction();
    let transaction = transaction.isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    Ok(transaction.start().await?)
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

/// Items of several records, each with the place of its record in the list.
const CHAIN_ROWS: &str = "SELECT i.section, i.position, i.id, i.tag, i.body, k.place FROM \
     unnest($1::bigint[]) WITH ORDINALITY AS k (key, place) JOIN toolwire_item i ON i.record = \
     k.key AND i.section < 2 ORDER BY k.place, i.section, i.position";
