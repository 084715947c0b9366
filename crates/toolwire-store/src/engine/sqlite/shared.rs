//! Parts of bodies that come again and again, each in the file once.
//!
//! The table takes care of parts that nobody needs any more.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, params};

use super::failure::Failure;
use super::read;
use crate::engine::shared_parts::{Cut, RecentParts};
use crate::engine::sql;
use crate::record::Record;

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
        let Some(cut) = self.known_cut(record, part) else { return Ok(None) };
        let key = cut.key;
        if !connection.prepare_cached(sql::HAS_SHARED)?.exists(params![key])? {
            let mut insert = connection.prepare_cached(sql::INSERT_SHARED)?;
            insert.execute(params![key, cut.part(&record.body)])?;
        }
        Ok(Some(cut))
    }

    /// The same, but the file may lack the part.
    pub(super) fn known_cut(&self, record: &Record, part: &Range<usize>) -> Option<Cut> {
        self.recent.cut(record, part)
    }
}

/// Puts the part back into a body that was read, if it was cut out of it. A part that is
/// gone is an error, because what is left looks like a body.
pub(super) fn restore(
    connection: &Connection,
    key: i64,
    record: &mut Record,
) -> Result<(), Failure> {
    let mut select = connection.prepare_cached(sql::SHARED)?;
    let found: Option<(Option<Vec<u8>>, Option<i64>)> =
        select.query_row(params![key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((part, at)) = found else { return Ok(()) };
    let at = at.and_then(|at| usize::try_from(at).ok());
    let cut = at.and_then(|at| record.body.split_at_checked(at));
    let (before, after) = cut.ok_or_else(|| read::unknown(SHARED_AT))?;
    let part = part.ok_or_else(|| read::unknown(PART))?;
    record.body = [before, &part, after].concat().into();
    Ok(())
}

/// The columns of the statement that reads a part and its place.
const PART: usize = 0;
const SHARED_AT: usize = 1;
