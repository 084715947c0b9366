//! Parts of bodies that come again and again, which engines keep once.
//!
//! A part is written when it comes for the second time, so that one that never comes
//! again costs nothing.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::record::Record;

/// The parts that have come lately, the last one first.
#[derive(Default)]
pub(super) struct RecentParts {
    recent: Mutex<Vec<Part>>,
}

struct Part {
    tenant: String,
    bytes: Bytes,
    /// Its key, if it has come again. Nobody else has the same one, so whatever has
    /// this key in the store is this part.
    key: Option<i64>,
    /// Whether the database had it when it was last heard of.
    #[cfg(feature = "postgres")]
    is_written: bool,
}

/// What is cut out of a body: the part with this key.
pub(super) struct Cut {
    pub(super) key: i64,
    place: Range<usize>,
}

impl Cut {
    pub(super) fn new(key: i64, place: Range<usize>) -> Self {
        Self { key, place }
    }

    /// Where it is in the body.
    pub(super) fn place(&self) -> Range<usize> {
        self.place.clone()
    }

    pub(super) fn part<'b>(&self, body: &'b [u8]) -> &'b [u8] {
        body.get(self.place.clone()).unwrap_or_default()
    }
}

impl RecentParts {
    /// What to cut out of a record's body: the part, if it has come before.
    pub(super) fn cut(&self, record: &Record, place: &Range<usize>) -> Option<Cut> {
        let bytes = record.body.get(place.clone())?;
        if !SIZES.contains(&bytes.len()) {
            return None;
        }
        Some(Cut::new(self.key(&record.tenant, bytes)?, place.clone()))
    }

    /// The key of a part, unless it comes for the first time.
    fn key(&self, tenant: &str, bytes: &[u8]) -> Option<i64> {
        let mut recent = self.recent();
        let known = recent.iter().position(|part| part.bytes == bytes && part.tenant == tenant);
        let Some(known) = known else {
            recent.truncate(MOST_PARTS - 1);
            recent.insert(0, Part::new(tenant, bytes));
            return None;
        };
        recent.get_mut(..=known)?.rotate_right(1);
        let part = recent.first_mut()?;
        part.key = part.key.or_else(random_key);
        part.key
    }

    fn recent(&self) -> MutexGuard<'_, Vec<Part>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "postgres")]
impl RecentParts {
    /// Whether the database had a part when it was last heard of.
    pub(super) fn is_written(&self, key: i64) -> bool {
        self.recent().iter().any(|part| part.key == Some(key) && part.is_written)
    }

    /// Remembers that the database has a part.
    pub(super) fn note_written(&self, key: i64) {
        self.note(key, |part| part.is_written = true);
    }

    /// Remembers that the database may have a part no longer.
    pub(super) fn note_gone(&self, key: i64) {
        self.note(key, |part| part.is_written = false);
    }

    fn note(&self, key: i64, note: impl FnOnce(&mut Part)) {
        if let Some(part) = self.recent().iter_mut().find(|part| part.key == Some(key)) {
            note(part);
        }
    }
}

impl Part {
    fn new(tenant: &str, bytes: &[u8]) -> Self {
        Self {
            tenant: tenant.to_owned(),
            bytes: Bytes::copy_from_slice(bytes),
            key: None,
            #[cfg(feature = "postgres")]
            is_written: false,
        }
    }
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
