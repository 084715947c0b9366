//! Parts of bodies that come again and again, each kept once.
//!
//! A part is written when it comes for the second time, so that one that never comes
//! again costs nothing. The table takes care of parts that nobody needs any more.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};

use super::failure::Failure;
use crate::engine::sql;
use crate::plan::{Record, count};

/// The parts that have come lately, the last one first.
#[derive(Default)]
pub(super) struct SharedParts {
    recent: Mutex<Vec<Part>>,
}

struct Part {
    tenant: String,
    bytes: Bytes,
    /// Its key, if it has come again. Nobody else has the same one, so whatever has
    /// this key in the file is this part.
    key: Option<i64>,
}

/// A body without its part.
pub(super) struct CutBody {
    pub(super) key: i64,
    pub(super) at: i64,
    pub(super) rest: Vec<u8>,
}

impl SharedParts {
    /// Cuts the part out of a record's body if it has come before, and makes sure that
    /// the file has it.
    pub(super) fn cut(
        &self,
        connection: &Connection,
        record: &Record,
        part: &Range<usize>,
    ) -> Result<Option<CutBody>, Failure> {
        let Record { tenant, body, .. } = record;
        let Some(bytes) = body.get(part.clone()) else { return Ok(None) };
        if !SIZES.contains(&bytes.len()) {
            return Ok(None);
        }
        let Some(key) = self.key(tenant, bytes) else { return Ok(None) };
        if !connection.prepare_cached(sql::HAS_SHARED)?.exists(params![key])? {
            connection.prepare_cached(sql::INSERT_SHARED)?.execute(params![key, bytes])?;
        }
        let (before, after) = (body.get(..part.start), body.get(part.end..));
        let rest = [before.unwrap_or_default(), after.unwrap_or_default()].concat();
        Ok(Some(CutBody { key, at: count(part.start), rest }))
    }

    /// The key of a part, unless it comes for the first time.
    fn key(&self, tenant: &str, bytes: &[u8]) -> Option<i64> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = recent.iter().position(|part| part.bytes == bytes && part.tenant == tenant);
        let Some(known) = known else {
            recent.truncate(MOST_PARTS - 1);
            let bytes = Bytes::copy_from_slice(bytes);
            recent.insert(0, Part { tenant: tenant.to_owned(), bytes, key: None });
            return None;
        };
        recent.get_mut(..=known)?.rotate_right(1);
        let part = recent.first_mut()?;
        part.key = part.key.or_else(random_key);
        part.key
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

fn random_key() -> Option<i64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).ok()?;
    Some(i64::from_le_bytes(bytes) & i64::MAX)
}

/// Smaller parts are not worth it, and larger ones would fill the memory.
const SIZES: Range<usize> = 1024..256 * 1024;

/// How many parts are remembered.
const MOST_PARTS: usize = 16;
