//! Lists of tools that come again.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::codec::codec;
use crate::ledger::{Ledger, Note};
use crate::model::{Own, Protocol, Shift, Tool, ToolKind};
use crate::profile::Profile;
use crate::restore::Restore;
use crate::schema;
use crate::toolset::Toolset;
use crate::wire::{Array, Placed as _, Pos, Raw, ValueEnds};

/// The lists of tools that requests had lately.
///
/// An agent sends the same list with every request of its work, and the list is
/// often most of the request. One that comes again, byte for byte, is compared with
/// what was read before instead of being read. If it is translated, its tools are kept too,
/// how upstreams got them and how answers repeat them, which takes several times the memory
/// of its bytes.
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
    /// As upstreams got it that took it lately.
    pub(super) written: Mutex<Vec<(Profile, Option<WrittenTools>)>>,
    /// Its elements as answers repeat them, once one has.
    pub(super) echoed: OnceLock<Arc<[u8]>>,
}

/// A list of tools as an upstream gets it, if the tools cross as they are.
#[derive(Clone, Debug)]
pub(crate) struct WrittenTools {
    elements: Arc<[u8]>,
    /// What there is to report, which is at most how strict the tools are.
    notes: Arc<[Note]>,
    /// Where the list is in the request.
    at: Pos,
}

impl WrittenTools {
    /// Writes the tools, and reports what there is to report.
    pub(crate) fn write(&self, list: &mut Array<'_>, ledger: &mut Ledger) {
        list.elements(&self.elements);
        ledger.repeat(&self.notes, self.at);
    }
}

impl ToolList {
    /// A list of which it is known how many tools it declares, and how many bytes they have.
    pub(super) fn new(
        protocol: Protocol,
        text: &str,
        (tools, tool_bytes): (usize, usize),
        ends: ValueEnds,
    ) -> Self {
        Self {
            protocol,
            text: text.into(),
            tools,
            tool_bytes,
            ends,
            read: OnceLock::new(),
            written: Mutex::default(),
            echoed: OnceLock::new(),
        }
    }

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

    fn written(&self, profile: &Profile) -> Option<WrittenTools> {
        let tools = self.read()?;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, list)) = written.iter().find(|(known, _)| known == profile) {
            return list.clone();
        }
        let list = self.write_plain(tools, profile).map(|list| {
            // Most models of one protocol get the same.
            let mut others = written.iter().filter_map(|(_, other)| other.as_ref());
            let same = others.find(|other| other.elements == list.elements);
            let elements = same.map_or(list.elements, |same| Arc::clone(&same.elements));
            WrittenTools { elements, ..list }
        });
        if written.len() == MAX_WRITTEN {
            written.remove(0);
        }
        written.push((profile.clone(), list.clone()));
        list
    }

    /// Writes a list of functions that have nothing special, unless there is something to
    /// restore, or to report besides how strict they are.
    fn write_plain(&self, tools: &[Tool<'static>], profile: &Profile) -> Option<WrittenTools> {
        if !tools.iter().all(Tool::is_plain_function) {
            return None;
        }
        let (mut out, mut ledger) = (Vec::new(), Ledger::default());
        let encode = codec(profile.protocol).encode_tools;
        encode(tools, self.protocol, profile, &mut out, &mut ledger);
        let toolset = Toolset::of_list(tools, self.protocol, profile);
        let stricts = tools.iter().filter_map(|tool| Some(tool.strict.as_ref()?.pos()));
        let is_unchanged = ledger.is_only_about(&stricts.collect::<Vec<_>>())
            && ledger.required_features().is_empty()
            && toolset.names.are_kept()
            && Restore::of(&toolset, self.protocol, profile).is_empty();
        let elements = out.strip_prefix(b"[")?.strip_suffix(b"]")?;
        let notes = is_unchanged.then(|| ledger.to_repeat(&self.text))?;
        Some(WrittenTools { elements: elements.into(), notes, at: Pos::NONE })
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

    /// Where the list is.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.length()
    }

    /// How many bytes it has.
    pub(crate) fn length(&self) -> usize {
        self.list.text.len()
    }

    /// The tools of the list, as whoever reads the document would read them.
    pub(crate) fn tools(&self) -> Option<Vec<Tool<'_>>> {
        Some(self.list.read()?.iter().map(|tool| tool.shifted(self.start)).collect())
    }

    /// The list as an upstream gets it, if these are its tools and they cross as they are.
    pub(crate) fn written(&self, tools: &[Tool<'_>], profile: &Profile) -> Option<WrittenTools> {
        self.same(tools)?;
        let written = self.list.written(profile)?;
        Some(WrittenTools { at: Pos::new(self.start), ..written })
    }

    /// The elements of the list as answers repeat them, if these are its tools. `write` writes
    /// them from the tools and the list as it is spelled, and from nothing else, because what
    /// it writes is kept.
    pub(crate) fn echoed(
        &self,
        tools: &[Tool<'_>],
        write: fn(&[Tool<'_>], &Raw<'_>) -> Vec<u8>,
    ) -> Option<Arc<[u8]>> {
        let known = self.same(tools)?;
        let list = &*self.list;
        let spelled = || Raw::made(&*list.text).at(Pos::START);
        Some(list.echoed.get_or_init(|| write(known, &spelled()).into()).clone())
    }

    /// The tools of the list, if these are the same.
    fn same(&self, tools: &[Tool<'_>]) -> Option<&[Tool<'static>]> {
        let known = self.list.read()?;
        let stands = |tool: &Tool<'_>, known: &Tool<'_>| tool.at == known.at.advance(self.start);
        let is_same = tools.len() == known.len()
            && tools.first().zip(known.first()).is_some_and(|(tool, known)| stands(tool, known))
            && tools.last().zip(known.last()).is_some_and(|(tool, known)| stands(tool, known));
        is_same.then_some(known)
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

/// For how many models a list is kept as they get it. An agent uses two or three at a
/// time.
const MAX_WRITTEN: usize = 4;

/// How many lists a new one is compared with.
const MAX_LISTS: usize = 32;

/// How many tools and unknown members of a list are kept, so that they take no more than a
/// few hundred kilobytes.
const MAX_PARTS: usize = 512;

#[cfg(test)]
mod tests;
