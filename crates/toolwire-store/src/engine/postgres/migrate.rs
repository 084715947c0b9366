//! Bringing the tables up to date.

use deadpool_postgres::GenericClient;

use super::connection::Connection;
use super::failure::Failure;
use super::{change, read};
use crate::engine::sql;
use crate::error::OpenError;

/// Whether there are migrations that a database has not seen.
pub(super) async fn is_due(connection: &mut Connection) -> Result<bool, Failure> {
    let client = connection.object()?;
    if !has_tables(client).await? {
        return Ok(true);
    }
    Ok(known_version(client).await? < VERSION)
}

/// Runs the migrations that a database has not seen, in one transaction. Other
/// gateways that start at the same time wait for it.
pub(super) async fn run(connection: &mut Connection) -> Result<(), Failure> {
    let transaction = connection.object()?.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    if !has_tables(&transaction).await? {
        transaction.batch_execute("CREATE TABLE toolwire_store (version BIGINT NOT NULL)").await?;
    }
    // Another gateway may have been first.
    let found = known_version(&transaction).await?;
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > found) {
        transaction.batch_execute(migration).await?;
        if number == PACKED {
            pack(&transaction).await?;
        }
        let insert = "INSERT INTO toolwire_store (version) VALUES ($1)";
        transaction.execute(insert, &[&number]).await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn has_tables(client: &impl GenericClient) -> Result<bool, Failure> {
    let exists = "SELECT to_regclass('toolwire_store') IS NOT NULL";
    Ok(client.query_one(exists, &[]).await?.try_get(0)?)
}

/// The version of a database, unless it is newer than this program.
async fn known_version(client: &impl GenericClient) -> Result<i64, Failure> {
    let found = version(client).await?;
    if found > VERSION {
        return Err(Failure::Open(OpenError::Newer { found, known: VERSION }));
    }
    Ok(found)
}

pub(super) async fn version(client: &impl GenericClient) -> Result<i64, Failure> {
    let select = "SELECT COALESCE(max(version), 0) FROM toolwire_store";
    Ok(client.query_one(select, &[]).await?.try_get(0)?)
}

/// Makes one value of the items of each response.
async fn pack(client: &impl GenericClient) -> Result<(), Failure> {
    let responses = "SELECT DISTINCT i.record, r.tenant, r.id FROM toolwire_item i JOIN toolwire_record r ON \
                     r.key = i.record WHERE i.section < 2";
    for found in client.query(responses, &[]).await? {
        let key: i64 = found.try_get(0)?;
        let (tenant, id): (&str, &str) = (found.try_get(1)?, found.try_get(2)?);
        let rows = client.query(sql::ALL_ROWS, &[&key]).await?;
        let rows = rows.iter().map(read::row).collect::<Result<Vec<_>, _>>()?;
        change::set_items(client, key, tenant, id, &rows).await?;
    }
    client.execute("DELETE FROM toolwire_item WHERE section < 2", &[]).await?;
    Ok(())
}

/// The migrations in order. One that was released never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
];

/// The migration since which the items of a response are one value.
const PACKED: i64 = 2;

/// The version of the tables that this program knows.
const VERSION: i64 = MIGRATIONS.len() as i64;

/// The lock that migrations hold. The number is "toolwire" in ASCII.
const LOCK: i64 = 0x746f_6f6c_7769_7265;
