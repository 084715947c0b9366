//! Bringing the tables up to date.

use deadpool_postgres::GenericClient;

use super::connection::Connection;
use super::failure::Failure;
use super::{change, read};
use crate::engine::sql;
use crate::error::OpenError;

/// Whether there are migrations that a database has not seen.
pub(super) async fn is_due(connection: &mut Connection) -> Result<bool, Failure> {
    Ok(known_tables(connection.object()?).await? < VERSION)
}

/// Keeps the tables as they are for as long as a new connection lasts, or until a
/// migration ends it. Fails if they are newer than this program, which would misread them.
pub(super) async fn hold_version(client: &impl GenericClient) -> Result<(), Failure> {
    client.execute(HOLD_VERSION, &[&LOCK, &VERSION_LOCK]).await?;
    known_version(client).await.map(|_| ())
}

/// Runs the migrations that a database has not seen, in one transaction. Other
/// gateways that start at the same time wait for it, and those that know only the
/// tables as they were lose their connections.
pub(super) async fn run(connection: &mut Connection) -> Result<(), Failure> {
    connection.object()?.batch_execute(LIMITS).await?;
    let transaction = connection.object()?.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    if known_tables(&transaction).await? < VERSION {
        end_holders(&transaction).await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&VERSION_LOCK]).await?;
    }
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

/// Ends the connections of gateways that know only the tables as they were. Those of a role
/// that this one may not act for have to be ended by somebody else.
async fn end_holders(client: &impl GenericClient) -> Result<(), Failure> {
    let others = client.query(OTHER_ROLES, &[&VERSION_LOCK]).await?;
    if !others.is_empty() {
        let roles = others.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
        let roles = roles.join(", ");
        return Err(Failure::Open(OpenError::Failed(format!(
            "the tables have to be brought up to date, but connections of another role use them as they are \
             ({roles}): stop what is connected as that role, or let all gateways of a database use one role"
        ))));
    }
    client.execute(END_HOLDERS, &[&VERSION_LOCK]).await?;
    Ok(())
}

/// The version of a database that may have no tables yet.
async fn known_tables(client: &impl GenericClient) -> Result<i64, Failure> {
    if has_tables(client).await? { known_version(client).await } else { Ok(0) }
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

/// A migration may take hours, and so may waiting for another gateway's. But the server does
/// not notice that a gateway has lost its power, which must not be in everybody's way.
const LIMITS: &str = "SET statement_timeout = 0; SET lock_timeout = 0; \
     SET idle_in_transaction_session_timeout = '60s'";

/// The migrations in order. One that was released never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
];

/// The migration since which the items of a response are one value.
const PACKED: i64 = 2;

/// The version of the tables that this program knows.
const VERSION: i64 = MIGRATIONS.len() as i64;

/// The lock that migrations hold. The number is "toolwire" in ASCII.
const LOCK: i64 = 0x746f_6f6c_7769_7265;

/// The lock that connections share, and that a migration has alone. The number is
/// "version!" in ASCII.
const VERSION_LOCK: i64 = 0x7665_7273_696f_6e21;

/// Waits for a migration that runs, and takes the shared lock before the next one can
/// begin.
const HOLD_VERSION: &str = "SELECT pg_advisory_lock_shared($1), pg_advisory_lock_shared($2), pg_advisory_unlock_shared($1)";

/// The connections that hold a lock. Postgres shows its number in two halves.
macro_rules! holders {
    () => {
        " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.database = \
         (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.objsubid = 1 AND \
         (CAST(l.classid AS BIGINT) << 32) | CAST(l.objid AS BIGINT) = $1 AND l.granted"
    };
}

const END_HOLDERS: &str = concat!("SELECT pg_terminate_backend(l.pid)", holders!());

/// The roles of connections that this one must not end.
const OTHER_ROLES: &str = concat!(
    "SELECT DISTINCT CAST(a.usename AS TEXT)",
    holders!(),
    " AND NOT pg_has_role(a.usesysid, 'USAGE') AND NOT (pg_has_role('pg_signal_backend', 'USAGE') AND NOT (SELECT \
     rolsuper FROM pg_roles WHERE oid = a.usesysid)) ORDER BY 1"
);
