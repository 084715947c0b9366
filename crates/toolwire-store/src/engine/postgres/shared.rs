//! Parts of bodies that come again and again, each in the database once for each gateway.
//!
//! A record refers to its part, and a foreign key keeps the part for as long as it does.
//! Whoever stores a record locks the part against being deleted (`FOR KEY SHARE`, which
//! any number of transactions may hold), and whoever prunes leaves out what is locked.
//! So nobody waits while holding a part, and there is no deadlock.
//!
//! A gateway remembers which parts the database has. If another one has pruned a part in
//! the meantime, the foreign key refuses the record, and both are written together.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::{Error, Statement};

use super::failure::Failure;
use crate::change::Change;
use crate::engine::shared_parts::{Cut, RecentParts};
use crate::record::{FullRecord, count};

/// The parts that a gateway knows.
pub(super) struct SharedParts {
    recent: RecentParts,
    /// The last part that was looked at for pruning.
    last_pruned: AtomicI64,
}

/// A step of a write, and what is cut out of the body that it inserts.
pub(super) struct CutChange {
    pub(super) change: Change,
    pub(super) cut: Option<Cut>,
}

/// A record to insert, and what is cut out of its body.
#[derive(Clone, Copy)]
pub(super) struct NewRecord<'c> {
    pub(super) full: &'c FullRecord,
    pub(super) cut: Option<&'c Cut>,
}

/// What to think of a part that the database had before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownParts {
    /// It is still there. If not, the write fails.
    Trusted,
    WrittenAgain,
}

/// The parts that have to be written before the records that refer to them.
pub(super) struct NewParts<'c> {
    keys: Vec<i64>,
    bytes: Vec<&'c [u8]>,
}

impl CutChange {
    /// The record that it inserts.
    pub(super) fn new_record(&self) -> Option<NewRecord<'_>> {
        let Change::Insert { full, repeats: _ } = &self.change else { return None };
        Some(NewRecord { full, cut: self.cut.as_ref() })
    }
}

impl SharedParts {
    pub(super) fn new() -> Self {
        Self { recent: RecentParts::default(), last_pruned: AtomicI64::new(BEFORE_ALL) }
    }

    /// Decides what is cut out of the bodies of a write.
    pub(super) fn cut(&self, changes: Vec<Change>) -> Vec<CutChange> {
        let cut = |change| {
            let cut = if let Change::Insert { full, repeats: Some(place) } = &change {
                self.recent.cut(&full.record, place)
            } else {
                None
            };
            CutChange { change, cut }
        };
        changes.into_iter().map(cut).collect()
    }

    /// The parts that have to be written before these records.
    pub(super) fn new_parts<'c>(
        &self,
        records: impl Iterator<Item = NewRecord<'c>>,
        known: KnownParts,
    ) -> NewParts<'c> {
        let cuts = records.filter_map(|new| Some((new.cut?, &new.full.record.body)));
        let new = cuts.filter(|(cut, _)| {
            known == KnownParts::WrittenAgain || !self.recent.is_written(cut.key)
        });
        // Everybody writes them in the same order, so that nobody waits for another who
        // waits for them.
        let parts: BTreeMap<_, _> = new.map(|(cut, body)| (cut.key, cut.part(body))).collect();
        let (keys, bytes) = parts.into_iter().unzip();
        NewParts { keys, bytes }
    }

    /// Remembers that the database has these.
    pub(super) fn note_written(&self, parts: &NewParts<'_>) {
        parts.keys.iter().for_each(|key| self.recent.note_written(*key));
    }

    /// Remembers that the database may lack what these records refer to.
    pub(super) fn note_gone<'c>(&self, records: impl Iterator<Item = NewRecord<'c>>) {
        records.filter_map(|new| new.cut).for_each(|cut| self.recent.note_gone(cut.key));
    }

    /// Deletes parts that no record has any more. It looks at some of them, and goes on
    /// with others the next time.
    pub(super) async fn prune(&self, client: &mut Object) -> Result<(), Failure> {
        let after = self.last_pruned.load(Ordering::Relaxed);
        let select = client.prepare_cached(SOME_PARTS).await?;
        let looked_at = client.query(&select, &[&after, &PARTS_AT_A_TIME]).await?;
        let (mut last, mut unneeded) = (BEFORE_ALL, Vec::new());
        for row in &looked_at {
            last = row.try_get(0)?;
            if row.try_get(1)? {
                unneeded.push(last);
            }
        }
        if !unneeded.is_empty() {
            delete_unneeded(client, &unneeded).await?;
        }
        let is_end = count(looked_at.len()) < PARTS_AT_A_TIME;
        self.last_pruned.store(if is_end { BEFORE_ALL } else { last }, Ordering::Relaxed);
        Ok(())
    }
}

/// Records may have come since these were found to be unneeded, so each is locked, and
/// looked at again when no more can come.
async fn delete_unneeded(client: &mut Object, unneeded: &[i64]) -> Result<(), Failure> {
    let transaction = client.transaction().await?;
    let lock = transaction.prepare_cached(LOCK_PARTS).await?;
    let locked = transaction.query(&lock, &[&unneeded]).await?;
    let locked = locked.iter().map(|row| row.try_get(0)).collect::<Result<Vec<i64>, _>>()?;
    let delete = transaction.prepare_cached(DELETE_PARTS).await?;
    transaction.execute(&delete, &[&locked]).await?;
    Ok(transaction.commit().await?)
}

impl NewParts<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The statement that writes them, if there are any.
    pub(super) async fn prepare(
        &self,
        client: &impl GenericClient,
    ) -> Result<Option<Statement>, Error> {
        if self.is_empty() {
            return Ok(None);
        }
        Ok(Some(client.prepare_cached(INSERT_PARTS).await?))
    }

    /// Writes them with their statement. Until the end of the transaction nobody deletes
    /// them.
    pub(super) async fn write(
        &self,
        client: &impl GenericClient,
        statement: Option<&Statement>,
    ) -> Result<(), Error> {
        if let Some(statement) = statement {
            client.execute(statement, &[&self.keys, &self.bytes]).await?;
        }
        Ok(())
    }
}

/// A part that is there is changed to itself, which locks it.
const INSERT_PARTS: &str = "INSERT INTO toolwire_shared (key, bytes) SELECT * FROM unnest($1::bigint[], \
     $2::bytea[]) ON CONFLICT (key) DO UPDATE SET bytes = toolwire_shared.bytes";

/// Whether no record has a part. The order makes the planner use the index, also if it
/// expects that the first record it meets has the part.
macro_rules! is_unneeded {
    () => {
        "(SELECT r.shared FROM toolwire_record r WHERE r.shared >= s.key ORDER BY r.shared LIMIT 1) IS DISTINCT \
         FROM s.key"
    };
}

const SOME_PARTS: &str = concat!(
    "SELECT s.key, ",
    is_unneeded!(),
    " FROM (SELECT key FROM toolwire_shared WHERE key > $1 ORDER BY key LIMIT $2) s ORDER BY s.key"
);

const LOCK_PARTS: &str =
    "SELECT key FROM toolwire_shared WHERE key = ANY ($1::bigint[]) FOR UPDATE SKIP LOCKED";

const DELETE_PARTS: &str =
    concat!("DELETE FROM toolwire_shared s WHERE s.key = ANY ($1::bigint[]) AND ", is_unneeded!());

/// How many parts are looked at in one go.
const PARTS_AT_A_TIME: i64 = 1000;

/// Keys are not negative.
const BEFORE_ALL: i64 = -1;

#[cfg(test)]
mod tests;
