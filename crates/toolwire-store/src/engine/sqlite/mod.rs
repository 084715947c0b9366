//! Everything in one file.
//!
//! One thread writes (`writer.rs`), a few connections read (`readers.rs`). The
//! write-ahead log lets both go on at the same time. A response that is new and complete
//! is only appended to a file beside the tables (`append_log/`), and moves into them a
//! little later. A read sees every write that has returned before it began.

mod append_log;
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

use self::append_log::{AppendLog, Applier, OtherLogs};
use self::connection::Connector;
use self::failure::Failure;
use self::readers::Readers;
use self::shared::SharedParts;
use self::writer::Writer;
use super::{ItemsQuery, sql};
use crate::change::{Change, Moment};
use crate::error::{OpenError, StoreError};
use crate::id::{Tenant, response_of_item};
use crate::model::{ChainLink, Item, Page, Stats, Usage};
use crate::options::{SqliteOptions, Sync};
use crate::record::{FullRecord, Kind, Record, Row, count};

pub(crate) struct Sqlite {
    path: PathBuf,
    writer: Writer,
    readers: Readers,
    shared: Arc<SharedParts>,
    /// There is none if every write waits for the disk, or on a system without locks that
    /// only advise.
    log: Option<Arc<AppendLog>>,
    applier: Option<Applier>,
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
        let path = connector.path().to_owned();
        let log = match connector.sync() {
            Sync::Normal if cfg!(unix) => Some(Arc::new(AppendLog::new(&path))),
            // Elsewhere nobody can read a file that somebody has locked.
            Sync::Full | Sync::Normal => None,
        };
        let failed = |error: std::io::Error| OpenError::Failed(error.to_string());
        let writer = Writer::start(connector.clone(), connection, log.clone()).map_err(failed)?;
        let applier = log.clone().map(|log| Applier::start(log, writer.clone()));
        let applier = applier.transpose().map_err(failed)?;
        let (readers, shared) = (Readers::new(connector), Arc::default());
        Ok(Self { path, writer, readers, shared, log, applier })
    }

    pub(crate) async fn write(
        &self,
        tenant: &Tenant,
        moment: Moment,
        changes: Vec<Change>,
    ) -> Result<(), StoreError> {
        if let (Some(log), Some(applier)) = (&self.log, &self.applier)
            && log.append(&changes, &self.shared)
        {
            applier.appended();
            return Ok(());
        }
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
        let others = self.other_logs();
        self.writer
            .run(move |connection| {
                let deleted = change::delete(connection, tenant.as_str(), kind, &id, now)?;
                if deleted.is_some() || !others.are_there() {
                    return Ok(deleted);
                }
                others.apply(connection)?;
                change::delete(connection, tenant.as_str(), kind, &id, now)
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
        let (tenant, searched) = (tenant.clone(), id.to_owned());
        let found = self.find(Some(id), move |connection| {
            read::record(connection, tenant.as_str(), kind, &searched, now)
        });
        Ok(found.await?.map(|(_, record)| record))
    }

    pub(crate) async fn items(
        &self,
        query: ItemsQuery,
    ) -> Result<(Record, Vec<Row>, bool), StoreError> {
        let id = query.id.clone();
        let found =
            self.find(Some(&id), move |connection| unless_missing(read::items(connection, &query)));
        found.await?.ok_or(StoreError::NotFound)
    }

    pub(crate) async fn chain(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
        limit: i64,
    ) -> Result<Vec<ChainLink>, StoreError> {
        let (tenant, searched) = (tenant.clone(), id.to_owned());
        let found = self.find(Some(id), move |connection| {
            unless_missing(read::chain(connection, tenant.as_str(), &searched, now, limit))
        });
        found.await?.ok_or(StoreError::NotFound)
    }

    pub(crate) async fn item(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
    ) -> Result<Option<Item>, StoreError> {
        let response = response_of_item(id);
        let (tenant, id) = (tenant.clone(), id.to_owned());
        let found = self.find(response.as_deref(), move |connection| {
            read::item(connection, tenant.as_str(), &id, now)
        });
        found.await
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
        self.settle().await?;
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
        self.settle().await?;
        let path = self.path.clone();
        let flushed = tokio::task::spawn_blocking(move || syncer::sync_log(&path)).await;
        let flushed = flushed.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        flushed.map_err(|error| Failure::Io(error).into_store_error())
    }

    pub(crate) async fn stats(&self, now: i64) -> Result<Stats, StoreError> {
        self.settle().await?;
        self.readers.read(move |connection| read::stats(connection, now)).await
    }

    pub(crate) async fn export(
        &self,
        after: i64,
        bytes: i64,
    ) -> Result<Vec<(i64, FullRecord)>, StoreError> {
        self.settle().await?;
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

    /// Finds something of a response, or of any if nobody knows of which. What was appended
    /// moves into the tables first, by whichever process.
    async fn find<T: Send + 'static>(
        &self,
        response: Option<&str>,
        read: impl Fn(&Connection) -> Result<Option<T>, Failure> + Clone + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        let may_be_appended = |log: &Arc<AppendLog>| match response {
            Some(id) => log.may_have(id),
            None => log.may_have_any(),
        };
        if self.log.as_ref().is_some_and(may_be_appended) {
            self.settle().await?;
        }
        let (first, others) = (read.clone(), self.other_logs());
        let found = self.readers.read(move |connection| {
            let found = first(connection)?;
            let may_be_elsewhere = found.is_none() && others.are_there();
            Ok((found, may_be_elsewhere))
        });
        let (found, may_be_elsewhere) = found.await?;
        if !may_be_elsewhere {
            return Ok(found);
        }
        let others = self.other_logs();
        self.writer.run(move |connection| others.apply(connection)).await?;
        self.readers.read(read).await
    }

    /// Whatever was appended is in the tables after this.
    async fn settle(&self) -> Result<(), StoreError> {
        match &self.log {
            // The writer moves it before it does anything else.
            Some(log) if log.may_have_any() => self.writer.run(|_| Ok(())).await,
            Some(_) | None => Ok(()),
        }
    }

    fn other_logs(&self) -> OtherLogs {
        OtherLogs::new(&self.path, self.log.clone())
    }
}

/// What was found, if anything was.
fn unless_missing<T>(found: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match found {
        Err(Failure::Refused(StoreError::NotFound)) => Ok(None),
        found => found.map(Some),
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
