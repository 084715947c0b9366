//! Everything in a database that several gateways may share.
//!
//! Every call has a time limit. A connection that has failed is not used again,
//! so that calls succeed as soon as the database is back.

mod address;
mod change;
mod connection;
mod failure;
mod group_pace;
mod groups;
mod migrate;
mod prune;
mod read;
mod record_values;
mod response;
mod response_columns;
mod shared;
mod tls;

use std::sync::Arc;

use deadpool_postgres::GenericClient;

pub(super) use self::address::database;
use self::connection::Connections;
use self::failure::Failure;
use self::groups::{Outcome, ResponseGroups};
use self::prune::Pruning;
use self::shared::{CutChange, SharedParts};
use super::{ItemsQuery, sql};
use crate::change::{Change, Moment};
use crate::error::{OpenError, StoreError};
use crate::id::Tenant;
use crate::model::{ChainLink, Item, Page, Stats, Usage};
use crate::options::PostgresOptions;
use crate::record::{FullRecord, Kind, Record, Row, count};

pub(crate) struct Postgres {
    connections: Arc<Connections>,
    groups: ResponseGroups,
    shared: Arc<SharedParts>,
}

/// Runs work on a connection within the time limit, and once more if the
/// connection broke or the server asks for it. The work may begin anew, so it
/// must not have ended anything before.
macro_rules! with_client {
    ($self:expr, $client:ident => $work:expr) => {{
        let connections = &$self.connections;
        let attempt = async || {
            let mut connection = connections.get().await?;
            let $client = connection.object()?;
            let result: Result<_, Failure> = async { $work }.await;
            connection.finish(result)
        };
        let work = async {
            match attempt().await {
                Err(failure) if failure.is_transient() => attempt().await,
                result => result,
            }
        };
        connections.limited(work).await.map_err(Failure::into_store_error)
    }};
}

impl Postgres {
    pub(crate) async fn open(options: &PostgresOptions) -> Result<Self, OpenError> {
        let connections = Arc::new(Connections::new(options)?);
        let first = async {
            let connection = connections.get().await?;
            connection.finish(Ok(()))
        };
        if let Err(failure) = connections.limited(first).await
            && let Some(error) = failure.into_open_error()
        {
            return Err(error);
        }
        let shared = Arc::new(SharedParts::new());
        let groups = ResponseGroups::start(Arc::clone(&connections), Arc::clone(&shared));
        Ok(Self { connections, groups, shared })
    }

    pub(crate) async fn write(
        &self,
        tenant: &Tenant,
        moment: Moment,
        changes: Vec<Change>,
    ) -> Result<(), StoreError> {
        let (changes, mut may_be_written) = (Arc::new(self.shared.cut(changes)), false);
        // A write that stores a response can be told apart from any other, so it can be
        // tried again after an attempt whose end is not known.
        let new = changes.iter().filter_map(CutChange::new_record).map(|new| new.full);
        let response = new.map(|full| &full.record).find(|new| new.kind == Kind::Response);
        let write = async {
            if response::only_response(&changes).is_some() {
                match self.groups.store(&changes).await {
                    Outcome::Stored => return Ok(()),
                    Outcome::NotStored => {}
                    Outcome::Unknown => may_be_written = true,
                }
            }
            let mut attempt = 0;
            loop {
                attempt += 1;
                let mut connection = self.connections.get().await?;
                let client = connection.object()?;
                let (shared, tenant) = (&self.shared, tenant.as_str());
                let mut written = change::write(client, shared, tenant, moment, &changes).await;
                if may_be_written
                    && let (Err(Failure::Refused(StoreError::Conflict)), Some(response)) =
                        (&written, response)
                {
                    // The attempt before may have taken the id itself. But it may also be that
                    // somebody else has taken it, or has changed what else is written.
                    let conflict = StoreError::Conflict.into();
                    let stored = change::is_stored(client, response).await;
                    written = stored.and_then(|stored| stored.then_some(()).ok_or(conflict));
                }
                match connection.finish(written) {
                    Ok(()) => return Ok(()),
                    Err(failure) if attempt > 1 || !failure.is_transient() => return Err(failure),
                    Err(failure) if failure.may_be_done() => {
                        if response.is_none() {
                            return Err(failure);
                        }
                        may_be_written = true;
                    }
                    Err(_) => {}
                }
            }
        };
        self.connections.limited(write).await.map_err(Failure::into_store_error)
    }

    pub(crate) async fn delete(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        now: i64,
    ) -> Result<Option<u64>, StoreError> {
        let connections = &self.connections;
        with_client!(self, client => {
            prune::delete(connections, client, tenant, (kind, id), now).await
        })
    }

    pub(crate) async fn record(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        now: i64,
    ) -> Result<Option<Record>, StoreError> {
        with_client!(self, client => {
            let found = read::record(&*client, tenant.as_str(), kind, id, now).await?;
            Ok(found.map(|(_, record)| record))
        })
    }

    pub(crate) async fn items(
        &self,
        query: ItemsQuery,
    ) -> Result<(Record, Vec<Row>, bool), StoreError> {
        with_client!(self, client => read::items(client, &query).await)
    }

    pub(crate) async fn chain(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
        limit: i64,
    ) -> Result<Vec<ChainLink>, StoreError> {
        with_client!(self, client => read::chain(client, tenant.as_str(), id, now, limit).await)
    }

    pub(crate) async fn item(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
    ) -> Result<Option<Item>, StoreError> {
        with_client!(self, client => read::item(client, tenant.as_str(), id, now).await)
    }

    pub(crate) async fn threads(
        &self,
        tenant: &Tenant,
        kind: Kind,
        page: &Page,
        now: i64,
    ) -> Result<(Vec<Record>, bool), StoreError> {
        with_client!(self, client => read::threads(client, tenant.as_str(), kind, page, now).await)
    }

    pub(crate) async fn usage(&self, tenant: Option<&Tenant>) -> Result<Usage, StoreError> {
        with_client!(self, client => {
            let row = match tenant {
                Some(tenant) => {
                    let select = client.prepare_cached(sql::USAGE).await?;
                    client.query_one(&select, &[&tenant.as_str()]).await?
                }
                None => client.query_one(sql::TOTAL_USAGE, &[]).await?,
            };
            Ok(Usage { records: read::number(&row, 0)?, bytes: read::number(&row, 1)? })
        })
    }

    pub(crate) async fn renew(
        &self,
        owner: &str,
        until: i64,
        ids: &[String],
    ) -> Result<Vec<String>, StoreError> {
        with_client!(self, client => {
            let renew = client.prepare_cached(RENEW).await?;
            let rows = client.query(&renew, &[&until, &owner, &ids]).await?;
            let ids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>();
            let mut ids = ids?;
            ids.sort();
            Ok(ids)
        })
    }

    pub(crate) async fn claim(
        &self,
        owner: &str,
        now: i64,
        until: i64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        with_client!(self, client => {
            let claim = client.prepare_cached(sql::CLAIM).await?;
            let rows = client.query(&claim, &[&owner, &until, &now, &count(limit)]).await?;
            rows.iter().map(|row| Ok(read::keyed_record(row)?.1)).collect()
        })
    }

    pub(crate) async fn prune(&self, now: i64, limit: usize) -> Result<u64, StoreError> {
        let pruning = Pruning::new(limit);
        let result = with_client!(self, client => {
            pruning.run(&self.connections, client, now).await?;
            self.shared.prune(client).await
        });
        match (pruning.pruned(), result) {
            (0, result) => result.map(|()| 0),
            // The next call will tell what has gone wrong behind these.
            (pruned, _) => Ok(pruned),
        }
    }

    pub(crate) async fn try_to_write(&self, trial: Vec<u8>) -> Result<(), StoreError> {
        with_client!(self, client => {
            let transaction = client.transaction().await?;
            let key: i64 = transaction.query_one(INSERT_TRIAL, &[&trial]).await?.try_get(0)?;
            transaction.execute(sql::DELETE_SHARED, &[&key]).await?;
            Ok(transaction.commit().await?)
        })
    }

    pub(crate) async fn stats(&self, now: i64) -> Result<Stats, StoreError> {
        with_client!(self, client => read::stats(client, now).await)
    }

    pub(crate) async fn export(
        &self,
        after: i64,
        bytes: i64,
    ) -> Result<Vec<(i64, FullRecord)>, StoreError> {
        with_client!(self, client => read::export(client, after, bytes).await)
    }

    pub(crate) async fn import(&self, records: Vec<FullRecord>) -> Result<u64, StoreError> {
        let mut imported = 0;
        for page in records.chunks(read::PAGE_RECORDS) {
            imported += with_client!(self, client => {
                let transaction = client.transaction().await?;
                let mut imported = 0;
                for full in page {
                    imported += u64::from(change::insert(&transaction, full).await?);
                }
                transaction.commit().await?;
                Ok(imported)
            })?;
        }
        Ok(imported)
    }
}

const RENEW: &str =
    "UPDATE toolwire_record SET lease = $1 WHERE owner = $2 AND id = ANY ($3::text[]) RETURNING id";

/// Something that is no part, since no part has a key that is negative. Gateways do not wait
/// for each other's.
const INSERT_TRIAL: &str = "INSERT INTO toolwire_shared (key, bytes) VALUES (-1 - CAST(random() * 1e15 AS BIGINT), \
     $1) RETURNING key";
