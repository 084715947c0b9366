//! Everything in one file.
//!
//! One thread writes (`writer.rs`), a few connections read (`readers.rs`). The
//! write-ahead log lets both go on at the same time, and a read sees every
//! write that has returned before it began.

mod change;
mod connection;
mod failure;
mod migrate;
mod new_row;
mod pace;
mod read;
mod readers;
mod shared;
mod syncer;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{Connection, params};

use self::connection::Connector;
use self::failure::Failure;
use self::readers::Readers;
use self::shared::SharedParts;
use self::writer::Writer;
use super::{ItemsQuery, sql};
use crate::change::{Change, Moment};
use crate::error::{OpenError, StoreError};
use crate::id::Tenant;
use crate::model::{ChainLink, Item, Page, Stats, Usage};
use crate::options::SqliteOptions;
use crate::record::{FullRecord, Kind, Record, Row, count};

pub(crate) struct Sqlite {
    path: PathBuf,
    writer: Writer,
    readers: Readers,
    shared: Arc<SharedParts>,
}

impl Sqlite {
    pub(crate) async fn open(options: SqliteOptions) -> Result<Self, OpenError> {
        let connector = Connector::new(options);
        let first = connector.clone();
        let opened = tokio::task::spawn_blocking(move || first.open_to_write());
        let opened = opened.await.map_err(|error| OpenError::Failed(error.to_string()))?;
        let connection = match opened {
            Ok(connection) => Some(connection),
            // Whatever may pass is tried again with each write.
            Err(failure) => match failure.into_open_error(connector.path()) {
                Some(error) => return Err(error),
                None => None,
            },
        };
        let writer = Writer::start(connector.clone(), connection);
        let writer = writer.map_err(|error| OpenError::Failed(error.to_string()))?;
        let path = connector.path().to_owned();
        Ok(Self { path, writer, readers: Readers::new(connector), shared: Arc::default() })
    }

    pub(crate) async fn write(
        &self,
        tenant: &Tenant,
        moment: Moment,
        changes: Vec<Change>,
    ) -> Result<(), StoreError> {
        let (tenant, shared) = (tenant.clone(), Arc::clone(&self.shared));
        self.writer
            .run(move |connection| {
                changes.iter().try_for_each(|change| {
                    change::apply(connection, &shared, tenant.as_str(), moment, change)
                })
            })
            .await
    }

    pub(crate) async fn delete(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        now: i64,
    ) -> Result<Option<u64>, StoreError> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        self.writer
            .run(move |connection| {
                let mut delete = connection.prepare_cached(sql::DELETE)?;
                let mut deleted = delete.query(params![tenant.as_str(), kind.as_str(), id, now])?;
                let Some(row) = deleted.next()? else { return Ok(None) };
                let bytes: i64 = row.get(0)?;
                Ok(Some(u64::try_from(bytes).unwrap_or(0)))
            })
            .await
    }

    pub(crate) async fn record(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        now: i64,
    ) -> Result<Option<Record>, StoreError> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        let record = self
            .readers
            .read(move |connection| read::record(connection, tenant.as_str(), kind, &id, now));
        Ok(record.await?.map(|(_, record)| record))
    }

    pub(crate) async fn items(
        &self,
        query: ItemsQuery,
    ) -> Result<(Record, Vec<Row>, bool), StoreError> {
        self.readers.read(move |connection| read::items(connection, &query)).await
    }

    pub(crate) async fn chain(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
        limit: i64,
    ) -> Result<Vec<ChainLink>, StoreError> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        self.readers
            .read(move |connection| read::chain(connection, tenant.as_str(), &id, now, limit))
            .await
    }

    pub(crate) async fn item(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
    ) -> Result<Option<Item>, StoreError> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        self.readers.read(move |connection| read::item(connection, tenant.as_str(), &id, now)).await
    }

    pub(crate) async fn threads(
        &self,
        tenant: &Tenant,
        kind: Kind,
        page: &Page,
        now: i64,
    ) -> Result<(Vec<Record>, bool), StoreError> {
        let (tenant, page) = (tenant.clone(), page.clone());
        self.readers
            .read(move |connection| read::threads(connection, tenant.as_str(), kind, &page, now))
            .await
    }

    pub(crate) async fn usage(&self, tenant: Option<&Tenant>) -> Result<Usage, StoreError> {
        let tenant = tenant.cloned();
        self.readers.read(move |connection| read::usage(connection, tenant.as_ref())).await
    }

    pub(crate) async fn renew(
        &self,
        owner: &str,
        until: i64,
        ids: &[String],
    ) -> Result<Vec<String>, StoreError> {
        let (owner, ids) = (owner.to_owned(), serde_json::Value::from(ids).to_string());
        self.writer
            .run(move |connection| {
                let mut renew = connection.prepare_cached(RENEW)?;
                let renewed = renew.query_map(params![until, owner, ids], |row| row.get(0))?;
                let mut renewed = renewed.collect::<Result<Vec<String>, _>>()?;
                renewed.sort();
                Ok(renewed)
            })
            .await
    }

    pub(crate) async fn claim(
        &self,
        owner: &str,
        now: i64,
        until: i64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let owner = owner.to_owned();
        self.writer
            .run(move |connection| {
                let mut claim = connection.prepare_cached(sql::CLAIM)?;
                let claimed = claim
                    .query_map(params![owner, until, now, count(limit)], read::keyed_record)?;
                claimed.map(|claimed| Ok(claimed?.1)).collect()
            })
            .await
    }

    pub(crate) async fn prune(&self, now: i64, limit: usize) -> Result<u64, StoreError> {
        let pruned = self
            .writer
            .run(move |connection| {
                let chains = prune_lineages(connection, now, limit)?;
                let mut prune = connection.prepare_cached(sql::PRUNE_ALONE)?;
                let alone = prune.execute(params![now, count(limit.saturating_sub(chains))])?;
                Ok(chains + alone)
            })
            .await?;
        if pruned > 0 {
            self.writer.shrink().await;
        }
        Ok(u64::try_from(pruned).unwrap_or(0))
    }

    pub(crate) async fn try_to_write(&self, trial: Vec<u8>) -> Result<(), StoreError> {
        self.writer
            .run(move |connection| {
                let mut insert = connection.prepare_cached(sql::INSERT_SHARED)?;
                insert.execute(params![NO_PART, trial])?;
                connection.prepare_cached(sql::DELETE_SHARED)?.execute(params![NO_PART])?;
                Ok(())
            })
            .await
    }

    pub(crate) async fn flush(&self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let flushed = tokio::task::spawn_blocking(move || syncer::sync_log(&path)).await;
        let flushed = flushed.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        flushed.map_err(|error| Failure::Io(error).into_store_error())
    }

    pub(crate) async fn stats(&self, now: i64) -> Result<Stats, StoreError> {
        self.readers.read(move |connection| read::stats(connection, now)).await
    }

    pub(crate) async fn export(
        &self,
        after: i64,
        bytes: i64,
    ) -> Result<Vec<(i64, FullRecord)>, StoreError> {
        self.readers.read(move |connection| read::export(connection, after, bytes)).await
    }

    pub(crate) async fn import(&self, records: Vec<FullRecord>) -> Result<u64, StoreError> {
        self.writer
            .run(move |connection| {
                let mut imported = 0;
                for full in &records {
                    imported += u64::from(change::insert(connection, full)?);
                }
                Ok(imported)
            })
            .await
    }
}

/// Deletes lineages that have expired. Returns how many of them had records.
fn prune_lineages(connection: &Connection, now: i64, limit: usize) -> Result<usize, Failure> {
    let mut count_pruned = connection.prepare_cached(sql::PRUNED)?;
    let mut prune = connection.prepare_cached(sql::PRUNE)?;
    loop {
        let pruned: i64 = count_pruned.query_row(params![now, count(limit)], |row| row.get(0))?;
        let lineages = prune.execute(params![now, count(limit)])?;
        // Zero means that nothing is left, and lineages without records do not count.
        if pruned > 0 || lineages < limit.max(1) {
            return Ok(usize::try_from(pruned).unwrap_or(0));
        }
    }
}

/// The ids are a list in JSON, since SQLite takes no other.
const RENEW: &str = "UPDATE toolwire_record SET lease = $1 WHERE owner = $2 AND id IN (SELECT value FROM \
     json_each($3)) RETURNING id";

/// The key of what is no part. Parts have none that is negative.
const NO_PART: i64 = -1;
