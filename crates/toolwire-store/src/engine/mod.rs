//! The engines, and what each of them can do.

mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod shared_parts;
mod sql;
mod sqlite;
mod stored_body;

use crate::change::{Change, Moment};
use crate::error::{OpenError, StoreError};
use crate::id::Tenant;
use crate::model::{ChainLink, Item, Order, Page, Stats, Usage};
use crate::options::EngineOptions;
use crate::record::{FullRecord, Kind, Record, Row, Section};
use crate::store::too_much_to_read;

/// Where a store keeps things.
pub(crate) enum Engine {
    Memory(memory::Memory),
    Sqlite(sqlite::Sqlite),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Postgres),
}

/// The database of an address, and where it is, in words.
#[cfg(feature = "postgres")]
pub(crate) fn database(address: &str) -> Result<String, OpenError> {
    postgres::database(address)
}

#[cfg(not(feature = "postgres"))]
pub(crate) fn database(_: &str) -> Result<String, OpenError> {
    Err(without_postgres())
}

#[cfg(not(feature = "postgres"))]
fn without_postgres() -> OpenError {
    let reason = "this toolwire was built without Postgres (feature `postgres`)";
    OpenError::Failed(reason.to_owned())
}

/// Which rows of a record to read.
#[derive(Clone)]
pub(crate) struct ItemsQuery {
    pub(crate) tenant: Tenant,
    pub(crate) kind: Kind,
    pub(crate) id: String,
    pub(crate) section: Section,
    pub(crate) cursor: Cursor,
    pub(crate) limit: Limit,
    pub(crate) now: i64,
}

/// Where a list of rows begins.
#[derive(Clone)]
pub(crate) enum Cursor {
    Start,
    /// After the row with this id.
    Id(String),
    /// After this position.
    Position(i64),
}

/// Where a list of rows ends.
#[derive(Clone)]
pub(crate) struct Limit {
    pub(crate) order: Order,
    pub(crate) rows: Option<usize>,
    /// How many bytes the items of the record may have in all.
    pub(crate) bytes: i64,
}

impl Limit {
    /// A number of rows, oldest first.
    pub(crate) fn rows(rows: usize) -> Self {
        Self { order: Order::OldestFirst, rows: Some(rows), bytes: i64::MAX }
    }

    /// How many rows to ask for: one more than wanted, to see whether there are
    /// more.
    fn rows_to_read(&self) -> i64 {
        self.rows.map_or(i64::MAX, |rows| crate::record::count(rows).saturating_add(1))
    }

    /// Cuts off the row too many. Returns whether there was one.
    fn cut<T>(&self, rows: &mut Vec<T>) -> bool {
        let more = self.rows.is_some_and(|limit| rows.len() > limit);
        if let Some(limit) = self.rows {
            rows.truncate(limit);
        }
        more
    }
}

impl ItemsQuery {
    /// The rows of a whole record that are asked for, and whether there are more.
    fn page(&self, mut rows: Vec<Row>) -> Result<(Vec<Row>, bool), StoreError> {
        rows.retain(|row| row.section == self.section);
        let after = match &self.cursor {
            Cursor::Start => None,
            Cursor::Position(position) => Some(*position),
            Cursor::Id(id) => {
                let row = rows.iter().find(|row| row.id == *id && !id.is_empty());
                Some(row.ok_or(StoreError::Cursor)?.position)
            }
        };
        match self.limit.order {
            Order::OldestFirst => rows.retain(|row| after.is_none_or(|after| row.position > after)),
            Order::NewestFirst => {
                rows.retain(|row| after.is_none_or(|after| row.position < after));
                rows.reverse();
            }
        }
        let more = self.limit.cut(&mut rows);
        Ok((rows, more))
    }
}

/// Puts the responses of a chain in order. The oldest must be a beginning, and
/// together they must not have more bytes than the limit.
fn chain_within(
    mut found: Vec<FoundLink>,
    bytes: i64,
    limit: i64,
) -> Result<Vec<ChainLink>, StoreError> {
    found.sort_by_key(|found| std::cmp::Reverse(found.depth));
    if found.first().is_none_or(|oldest| oldest.continues) {
        return Err(StoreError::NotFound);
    }
    if bytes > limit {
        return Err(too_much_to_read(limit));
    }
    Ok(found.into_iter().map(|found| found.link).collect())
}

/// A response of a chain.
struct FoundLink {
    depth: i64,
    /// Whether there is one before it.
    continues: bool,
    link: ChainLink,
}

impl ChainLink {
    /// Sorts rows into what was sent and what was answered.
    fn take_rows(&mut self, rows: Vec<Row>) {
        for row in rows {
            match row.section {
                Section::Input => self.input.push(row.into_item()),
                Section::Output => self.output.push(row.into_item()),
                Section::Entry | Section::Event => {}
            }
        }
    }
}

/// Hands a call on to the engine in use.
macro_rules! each {
    ($engine:expr, $name:ident => $call:expr) => {
        match $engine {
            Engine::Memory($name) => $call,
            Engine::Sqlite($name) => $call.await,
            #[cfg(feature = "postgres")]
            Engine::Postgres($name) => $call.await,
        }
    };
}

impl Engine {
    pub(crate) async fn open(options: &EngineOptions) -> Result<Self, OpenError> {
        match options {
            EngineOptions::Memory => Ok(Self::Memory(memory::Memory::default())),
            EngineOptions::Sqlite(options) => {
                Ok(Self::Sqlite(sqlite::Sqlite::open(options.clone()).await?))
            }
            #[cfg(feature = "postgres")]
            EngineOptions::Postgres(options) => {
                Ok(Self::Postgres(postgres::Postgres::open(options).await?))
            }
            #[cfg(not(feature = "postgres"))]
            EngineOptions::Postgres(_) => Err(without_postgres()),
        }
    }

    pub(crate) async fn write(
        &self,
        tenant: &Tenant,
        moment: Moment,
        changes: Vec<Change>,
    ) -> Result<(), StoreError> {
        each!(self, engine => engine.write(tenant, moment, changes))
    }

    /// Deletes a record. Returns how many bytes it had.
    pub(crate) async fn delete(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        now: i64,
    ) -> Result<Option<u64>, StoreError> {
        each!(self, engine => engine.delete(tenant, kind, id, now))
    }

    pub(crate) async fn record(
        &self,
        tenant: &Tenant,
        kind: Kind,
        id: &str,
        now: i64,
    ) -> Result<Option<Record>, StoreError> {
        each!(self, engine => engine.record(tenant, kind, id, now))
    }

    /// A record with some of its rows, and whether there are more.
    pub(crate) async fn items(
        &self,
        query: ItemsQuery,
    ) -> Result<(Record, Vec<Row>, bool), StoreError> {
        each!(self, engine => engine.items(query))
    }

    pub(crate) async fn chain(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
        limit: i64,
    ) -> Result<Vec<ChainLink>, StoreError> {
        each!(self, engine => engine.chain(tenant, id, now, limit))
    }

    pub(crate) async fn item(
        &self,
        tenant: &Tenant,
        id: &str,
        now: i64,
    ) -> Result<Option<Item>, StoreError> {
        each!(self, engine => engine.item(tenant, id, now))
    }

    pub(crate) async fn threads(
        &self,
        tenant: &Tenant,
        kind: Kind,
        page: &Page,
        now: i64,
    ) -> Result<(Vec<Record>, bool), StoreError> {
        each!(self, engine => engine.threads(tenant, kind, page, now))
    }

    pub(crate) async fn usage(&self, tenant: Option<&Tenant>) -> Result<Usage, StoreError> {
        each!(self, engine => engine.usage(tenant))
    }

    pub(crate) async fn renew(
        &self,
        owner: &str,
        until: i64,
        ids: &[String],
    ) -> Result<Vec<String>, StoreError> {
        each!(self, engine => engine.renew(owner, until, ids))
    }

    pub(crate) async fn claim(
        &self,
        owner: &str,
        now: i64,
        until: i64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        each!(self, engine => engine.claim(owner, now, until, limit))
    }

    pub(crate) async fn prune(&self, now: i64, limit: usize) -> Result<u64, StoreError> {
        each!(self, engine => engine.prune(now, limit))
    }

    /// Writes so many bytes and deletes them in the same transaction.
    pub(crate) async fn try_to_write(&self, trial: Vec<u8>) -> Result<(), StoreError> {
        each!(self, engine => engine.try_to_write(trial))
    }

    /// Has the disk confirm what was written until now.
    pub(crate) async fn flush(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(engine) => engine.flush().await,
            Self::Memory(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Ok(()),
        }
    }

    pub(crate) async fn stats(&self, now: i64) -> Result<Stats, StoreError> {
        each!(self, engine => engine.stats(now))
    }

    /// Whole records with their keys, in the order of the keys, which is the
    /// order in which they were written. As many as fit, but at least one.
    pub(crate) async fn export(
        &self,
        after: i64,
        bytes: i64,
    ) -> Result<Vec<(i64, FullRecord)>, StoreError> {
        each!(self, engine => engine.export(after, bytes))
    }

    /// Stores records as they are. Returns how many there were not yet.
    pub(crate) async fn import(&self, records: Vec<FullRecord>) -> Result<u64, StoreError> {
        each!(self, engine => engine.import(records))
    }
}
