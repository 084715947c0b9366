//! Lists of tools that come again.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::codec::codec;
use crate::model::{Own, Protocol, Shift, Tool, ToolKind};
use crate::schema;
use crate::wire::ValueEnds;

/// The lists of tools that requests had lately.
///
/// An agent sends the same list with every request of its work, and the list is
/// often most of the request. One that comes again, byte for byte, is compared with
/// what was read before instead of being read. If it is translated, its tools are kept too,
/// which takes two or three times the memory of its bytes.
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
    /// Its tools, once somebody has asked for them, placed as if it were a document.
    /// Nothing if they cannot be read, or if there are too many.
    pub(super) read: OnceLock<Option<Vec<Tool<'static>>>>,
}

impl ToolList {
    fn read(&self) -> Option<&[Tool<'static>]> {
        let read = || {
            let tools = (codec(self.protocol).decode_tools)(&self.text).ok()?;
            let parts: usize = tools.iter().map(parts).sum();
            let mut tools = (parts <= MAX_PARTS).then(|| tools.into_owned())?;
            tools.iter_mut().for_each(note_plain_schemas);
            Some(tools)
        };
        self.read.get_or_init(read).as_deref()
    }
}

/// Notes which schemas every protocol takes as they are, which takes a look at all of
/// each.
fn note_plain_schemas(tool: &mut Tool<'_>) {
    match &mut tool.kind {
        ToolKind::Function { schema: Some(schema) } => {
            if schema::root(Some(schema)).1.is_none() {
                schema.set_plain_schema();
            }
        }
        ToolKind::Namespace { tools } => tools.iter_mut().for_each(note_plain_schemas),
        ToolKind::Function { schema: None }
        | ToolKind::Freeform { grammar: _ }
        | ToolKind::Native(_)
        | ToolKind::Hosted(_)
        | ToolKind::Unknown(_) => {}
    }
}

/// How many tools and unknown members a tool has, itself included. The smallest of them
/// take much more memory than the bytes they were read from.
fn parts(tool: &Tool<'_>) -> usize {
    let inside = match &tool.kind {
        ToolKind::Namespace { tools } => tools.iter().map(parts).sum(),
        ToolKind::Freeform { grammar } => grammar.as_ref().map_or(0, |grammar| grammar.extra.len()),
        ToolKind::Function { schema: _ }
        | ToolKind::Native(_)
        | ToolKind::Hosted(_)
        | ToolKind::Unknown(_) => 0,
    };
    let cache = tool.cache.as_ref().map_or(0, |cache| cache.extra.len());
    1 + tool.extra.len() + cache + inside
}

/// A list of tools that came before, and where it is in a document.
#[derive(Clone, Debug)]
pub(crate) struct KnownTools {
    start: usize,
    list: Arc<ToolList>,
}

impl KnownTools {
    pub(super) fn new(start: usize, list: Arc<ToolList>) -> Self {
        Self { start, list }
    }

    /// Where the list begins.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// How many bytes it has.
    pub(crate) fn length(&self) -> usize {
        self.list.text.len()
    }

    /// The tools of the list, as whoever reads the document would read them.
    pub(crate) fn tools(&self) -> Option<Vec<Tool<'_>>> {
        Some(self.list.read()?.iter().map(|tool| tool.shifted(self.start)).collect())
    }

    /// Where the long values of the list end.
    pub(super) fn ends(&self) -> &ValueEnds {
        &self.list.ends
    }
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

/// How many tools and unknown members of a list are kept, so that they take no more than a
/// few hundred kilobytes.
const MAX_PARTS: usize = 512;

#[cfg(test)]
mod tests;
