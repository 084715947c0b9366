//! Lists of tools that come again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::Protocol;
use crate::wire::ValueEnds;

/// The lists of tools that requests had lately.
///
/// An agent sends the same list with every request of its work, and the list is
/// often most of the request. One that comes again, byte for byte, is compared with
/// what was read before instead of being read.
#[derive(Debug, Default)]
pub struct ToolLists {
    /// How many bytes to keep in all.
    room: usize,
    /// The one that came last is first.
    recent: Mutex<Vec<Arc<ToolList>>>,
}

/// A list of tools that is JSON.
#[derive(Debug)]
pub(super) struct ToolList {
    pub(super) protocol: Protocol,
    pub(super) text: Box<str>,
    /// How many tools it declares.
    pub(super) tools: usize,
    /// How many bytes the declarations have together.
    pub(super) tool_bytes: usize,
    /// Where its long values end, counted from its beginning.
    pub(super) ends: ValueEnds,
}

impl ToolLists {
    /// Keeps lists that have up to `room` bytes together.
    pub fn with_room(room: usize) -> Self {
        Self { room, recent: Mutex::default() }
    }

    pub(super) fn keeps(&self, length: usize) -> bool {
        length <= self.room / 4
    }

    /// The list that `text` begins with, if it came before. Where a list ends, no
    /// longer one can go on.
    pub(super) fn find(&self, protocol: Protocol, text: &str) -> Option<Arc<ToolList>> {
        let mut recent = self.lock();
        let is_it =
            |list: &Arc<ToolList>| list.protocol == protocol && text.starts_with(&*list.text);
        let place = recent.iter().position(is_it)?;
        recent.get_mut(..=place)?.rotate_right(1);
        recent.first().cloned()
    }

    /// Keeps a list. Those that came longest ago make room for it.
    pub(super) fn keep(&self, list: ToolList) {
        let mut recent = self.lock();
        recent.insert(0, Arc::new(list));
        let mut room = self.room;
        let fits = recent.iter().take(MAX_LISTS).take_while(|list| {
            let left = room.checked_sub(list.text.len());
            room = left.unwrap_or(0);
            left.is_some()
        });
        let count = fits.count();
        recent.truncate(count);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<ToolList>>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many lists a new one is compared with.
const MAX_LISTS: usize = 32;

#[cfg(test)]
mod tests;
