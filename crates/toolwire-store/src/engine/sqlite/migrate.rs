//! Bringing the tables up to date.

use rusqlite::{Connection, TransactionBehavior, params};

use super::failure::Failure;
use super::{change, read};
use crate::engine::sql;
use crate::error::OpenError;
use crate::packed;

/// Runs the migrations that a file has not seen. Each happens whole or not at
/// all, whoever else opens the file at the same time. References must not be
/// enforced, because a table that is made anew would take with it what refers to it.
pub(super) fn run(connection: &mut Connection) -> Result<(), Failure> {
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = known_version(&transaction)?;
        if found == 0 && !is_empty(&transaction)? {
            let reason = "the file is a database of another program";
            return Err(Failure::Open(OpenError::Failed(reason.to_owned())));
        }
        let Some((number, migration)) = (1..).zip(MIGRATIONS).find(|(number, _)| *number > found)
        else {
            return Ok(());
        };
        transaction.execute_batch(migration)?;
        if number == PACKED {
            pack(&transaction)?;
        }
        transaction.pragma_update(None, "user_version", number)?;
        transaction.commit()?;
    }
}

/// The version of a file, unless it is newer than this program. Another program may have
/// brought it up to date since it was opened.
pub(super) fn known_version(connection: &Connection) -> Result<i64, Failure> {
    let found = version(connection)?;
    if found > VERSION {
        return Err(Failure::Open(OpenError::Newer { found, known: VERSION }));
    }
    Ok(found)
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// Makes one value of the items of each response.
fn pack(connection: &Connection) -> Result<(), Failure> {
    let mut keys = connection.prepare(
        "SELECT DISTINCT i.record, r.tenant, r.id FROM toolwire_item i JOIN toolwire_record r ON r.key = \
         i.record WHERE i.section < 2",
    )?;
    let mut keys = keys.query([])?;
    while let Some(found) = keys.next()? {
        let (key, tenant, id): (i64, String, String) =
            (found.get(0)?, found.get(1)?, found.get(2)?);
        let mut select = connection.prepare_cached(sql::ALL_ROWS)?;
        let rows = select.query_map([key], read::row)?.collect::<Result<Vec<_>, _>>()?;
        let mut insert = connection
            .prepare_cached("INSERT INTO toolwire_packed (record, items) VALUES ($1, $2)")?;
        insert.execute(params![key, packed::pack(rows.iter())])?;
        change::list_items(connection, key, &tenant, &id, &rows)?;
    }
    connection.execute("DELETE FROM toolwire_item WHERE section < 2", [])?;
    Ok(())
}

/// The migrations in order. One that was released never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
];

/// The migration since which the items of a response are one value.
const PACKED: i64 = 2;

/// The version of the tables that this program knows.
const VERSION: i64 = MIGRATIONS.len() as i64;
