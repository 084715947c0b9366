//! Bringing the tables up to date.

use rusqlite::{Connection, TransactionBehavior};

use super::failure::Failure;
use crate::error::OpenError;

/// Runs the migrations that a file has not seen. Each happens whole or not at
/// all, whoever else opens the file at the same time.
pub(super) fn run(connection: &mut Connection) -> Result<(), Failure> {
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = version(&transaction)?;
        if found > VERSION {
            return Err(Failure::Open(OpenError::Newer { found, known: VERSION }));
        }
        if found == 0 && !is_empty(&transaction)? {
            let reason = "the file is a database of another program";
            return Err(Failure::Open(OpenError::Failed(reason.to_owned())));
        }
        let Some((number, migration)) = (1..).zip(MIGRATIONS).find(|(number, _)| *number > found)
        else {
            return Ok(());
        };
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", number)?;
        transaction.commit()?;
    }
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// The migrations in order. One that was released never changes.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql")];

/// The version of the tables that this program knows.
const VERSION: i64 = MIGRATIONS.len() as i64;
