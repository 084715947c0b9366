//! Parts of bodies that come again and again, each in the file once.
//!
//! The table takes care of parts that nobody needs any more.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, params};

use super::failure::Failure;
use crate::engine::shared_parts::{Cut, RecentParts};
use crate::engine::sql;
use crate::plan::Record;

/// The parts that the writer knows.
#[derive(Default)]
pub(super) struct SharedParts {
    recent: RecentParts,
}

impl SharedParts {
    /// What to cut out of a record's body: the part, if it has come before. Makes sure that
    /// the file has it.
    pub(super) fn cut(
        &self,
        connection: &Connection,
        record: &Record,
        part: &Range<usize>,
    ) -> Result<Option<Cut>, Failure> {
        let Some(cut) = self.recent.cut(record, part) else { return Ok(None) };
        let key = cut.key;
        if !connection.prepare_cached(sql::HAS_SHARED)?.exists(params![key])? {
            let mut insert = connection.prepare_cached(sql::INSERT_SHARED)?;
            insert.execute(params![key, cut.part(&record.body)])?;
        }
        Ok(Some(cut))
    }
}

/// Puts the part back into a body that was read.
pub(super) fn restore(
    connection: &Connection,
    key: i64,
    record: &mut Record,
) -> Result<(), Failure> {
    let mut select = connection.prepare_cached(sql::SHARED)?;
    let found: Option<(Vec<u8>, i64)> =
        select.query_row(params![key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((part, at)) = found else { return Ok(()) };
    let at = usize::try_from(at).unwrap_or(0).min(record.body.len());
    let after = record.body.split_off(at);
    record.body = [record.body.as_ref(), &part, &after].concat().into();
    Ok(())
}
