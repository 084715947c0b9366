//! Where the calls of a stream are found.

use std::collections::BTreeMap;

use super::call_identity::CallIdentity;
use crate::wire::Str;

/// The latest call of each index, place and id, as its number. An answer may
/// have thousands of calls, and every fragment looks for its own.
#[derive(Debug, Default)]
pub(super) struct CallDirectory {
    pub(super) by_index: BTreeMap<u64, usize>,
    pub(super) by_place: BTreeMap<usize, usize>,
    by_id: BTreeMap<String, CallsWithId>,
    /// The call of the pieces that come with an index which is not their call's.
    strays: BTreeMap<u64, usize>,
    /// Whether there were such pieces.
    pub(super) has_strays: bool,
    /// The latest deprecated function call.
    pub(super) legacy: Option<usize>,
}

/// The calls that came with one id. Some vendors give all of theirs the same.
#[derive(Debug, Default)]
struct CallsWithId {
    latest: usize,
    by_index: BTreeMap<u64, usize>,
    /// The call that has no index yet.
    unnumbered: Option<usize>,
}

impl CallDirectory {
    /// Adds a call, or what has become known of it.
    pub(super) fn add(&mut self, number: usize, call: &CallIdentity) {
        if let Some(index) = call.index {
            let latest = self.by_index.entry(index).or_default();
            *latest = number.max(*latest);
            self.strays.remove(&index);
        }
        if let Some(place) = call.place {
            let latest = self.by_place.entry(place).or_default();
            *latest = number.max(*latest);
        }
        if call.legacy {
            self.legacy = self.legacy.max(Some(number));
        }
        let Some(id) = &call.id else { return };
        let calls = self.by_id.entry(id.decode().into_owned()).or_default();
        calls.latest = number.max(calls.latest);
        match call.index {
            Some(index) => {
                calls.unnumbered = calls.unnumbered.filter(|unnumbered| *unnumbered != number);
                let latest = calls.by_index.entry(index).or_default();
                *latest = number.max(*latest);
            }
            None => calls.unnumbered = calls.unnumbered.max(Some(number)),
        }
    }

    /// Adds a call by the index that a piece of it came with, which is not its own.
    pub(super) fn add_stray(&mut self, index: u64, number: usize) {
        self.has_strays = true;
        self.strays.insert(index, number);
    }

    /// The call of the pieces that come with an index which is not their call's.
    pub(super) fn with_stray(&self, index: u64) -> Option<usize> {
        if self.has_strays { self.strays.get(&index).copied() } else { None }
    }

    /// The latest call with an id.
    pub(super) fn with_id(&self, id: &Str<'_>) -> Option<usize> {
        self.by_id.get(id.decode().as_ref()).map(|calls| calls.latest)
    }

    /// The latest call with an id that has this index or none.
    pub(super) fn with_id_at(&self, id: &Str<'_>, index: u64) -> Option<usize> {
        let calls = self.by_id.get(id.decode().as_ref())?;
        calls.by_index.get(&index).copied().max(calls.unnumbered)
    }
}
