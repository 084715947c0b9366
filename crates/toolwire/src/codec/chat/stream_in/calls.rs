//! The calls of a stream.
//!
//! Neither `index` nor `id` is reliable: vendors leave out one or both, send the
//! id late, repeat it, or give every call the same index. So there is a record
//! for each call, in the order in which they began, and a fragment finds its
//! record by whatever it has.

use super::blocks::CurrentBlock;
use super::call_directory::CallDirectory;
use super::call_record::CallRecord;
use super::fragment::CallFragment;
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::wire::Pos;

/// A call has arguments but names no tool.
#[derive(Debug)]
pub(super) struct UnnamedCall;

/// Puts the calls of a stream together.
#[derive(Debug, Default)]
pub(super) struct CallAssembler {
    list: Vec<CallRecord>,
    /// Where each call of the list is found.
    directory: CallDirectory,
    /// How many have been opened. They are opened in the upstream's order.
    opened: usize,
    /// Open calls whose arguments looked whole after their last fragment.
    whole: Vec<usize>,
    /// The calls that the last chunk had fragments of.
    touched: Vec<usize>,
    /// The index of the one that the last fragment belonged to.
    last: usize,
}

impl CallAssembler {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a fragment to its call.
    pub(super) fn take(
        &mut self,
        fragment: CallFragment<'_>,
        current: &mut CurrentBlock,
        sink: &mut dyn EventSink,
    ) {
        let fragment = fragment.without_empty();
        if self.is_empty_fragment(&fragment) {
            return;
        }
        let found = self.find(&fragment).or_else(|| self.find_misnumbered(&fragment));
        let is_new = found.is_none();
        self.last = found.unwrap_or_else(|| {
            self.list.push(CallRecord::new(&fragment));
            self.list.len() - 1
        });
        if let Some(record) = self.list.get_mut(self.last) {
            let known = (is_new, record.index, record.id.is_some());
            record.take(fragment, sink);
            if known != (false, record.index, record.id.is_some()) {
                self.directory.add(self.last, record);
            }
        }
        if self.touched.last() != Some(&self.last) {
            self.touched.push(self.last);
        }
        self.notice_whole(self.last);
        self.open_ready(current, sink);
    }

    /// Closes the calls that are whole.
    pub(super) fn close_whole(&mut self, sink: &mut dyn EventSink) {
        self.whole.sort_unstable();
        for at in self.whole.drain(..) {
            if let Some(record) = self.list.get_mut(at)
                && record.is_whole()
            {
                record.close(sink);
            }
        }
    }

    /// Forgets positions in the last chunk.
    pub(super) fn forget_positions(&mut self) {
        for at in self.touched.drain(..) {
            if let Some(record) = self.list.get_mut(at)
                && (at >= self.opened || !record.extra.is_empty())
            {
                record.forget_positions();
            }
        }
    }

    /// Whether the JSON of a call is incomplete.
    pub(super) fn is_cut(&self) -> bool {
        self.list.iter().any(CallRecord::is_cut)
    }

    /// Whether the JSON of the call is incomplete that the last fragment belonged to.
    pub(super) fn is_last_cut(&self) -> bool {
        self.list.get(self.last).is_some_and(CallRecord::is_cut)
    }

    /// Opens the calls that still wait and closes all, at the end of the stream.
    pub(super) fn finish(
        &mut self,
        current: &mut CurrentBlock,
        sink: &mut dyn EventSink,
    ) -> Result<(), UnnamedCall> {
        for record in self.list.iter_mut().take(self.opened) {
            record.close(sink);
        }
        for record in self.list.iter_mut().skip(self.opened) {
            if record.name.is_empty() && record.held.is_empty() {
                sink.ledger()
                    .dropped(Pos::START, Code::UnknownItem)
                    .detail("The upstream began a call and named no tool.");
                continue;
            }
            if record.name.is_empty() {
                return Err(UnnamedCall);
            }
            record.open(current.number(), sink);
            record.close(sink);
        }
        self.opened = self.list.len();
        Ok(())
    }

    fn is_empty_fragment(&self, fragment: &CallFragment<'_>) -> bool {
        let CallFragment { index: _, id, name, form: _, text, place: _, legacy: _, extra } =
            fragment;
        id.is_none() && name.is_none() && text.is_none() && extra.is_empty()
    }

    /// The call that a fragment belongs to, or `None` if it begins another.
    fn find(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        if fragment.legacy {
            let found = self.directory.legacy?;
            return (!self.begins_another(found, fragment)).then_some(found);
        }
        if let Some(index) = fragment.index {
            return self.find_by_index(index, fragment);
        }
        if let Some(id) = &fragment.id {
            return self.directory.with_id(id).or_else(|| {
                // The id came late, or the vendor makes up an id for every
                // fragment. A new call would have a name.
                let last = self.list.get(self.last)?;
                let goes_on = fragment.name.is_none() && (last.id.is_none() || !last.is_whole());
                goes_on.then_some(self.last)
            });
        }
        let found = match fragment.place {
            Some(place) => self.directory.by_place.get(&place).copied()?,
            None => self.list.get(self.last).map(|_| self.last)?,
        };
        (!self.begins_another(found, fragment)).then_some(found)
    }

    fn find_by_index(&self, index: u64, fragment: &CallFragment<'_>) -> Option<usize> {
        // Almost every fragment belongs to the same call as the last one.
        let last = self.list.get(self.last).filter(|record| record.index == Some(index));
        let found = match (last, &fragment.id) {
            (Some(_), None) => self.last,
            (_, Some(id)) => {
                if last.is_some_and(|record| record.has_id(id)) {
                    return Some(self.last);
                }
                if let Some(known) = self.directory.with_id_at(id, index) {
                    return Some(known);
                }
                self.directory.by_index.get(&index).copied()?
            }
            (None, None) => self.directory.by_index.get(&index).copied()?,
        };
        (!self.begins_another(found, fragment)).then_some(found)
    }

    /// The call of a fragment whose index no call has. Some vendors number the fragments of
    /// a call otherwise than its beginning, but only a beginning has a name.
    /// vectors/streams/chat-index-ahead-of-its-call,
    /// vectors/streams/chat-index-behind-its-call
    fn find_misnumbered(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        let is_unknown = |index: &u64| !self.directory.by_index.contains_key(index);
        if fragment.name.is_some() || !fragment.index.as_ref().is_some_and(is_unknown) {
            return None;
        }
        let with_id = fragment.id.as_ref().and_then(|id| self.directory.with_id(id));
        with_id.or_else(|| {
            // An id alone may be that of a call whose name is yet to come.
            let last = self.list.get(self.last)?;
            let goes_on = fragment.id.is_none() || fragment.text.is_some();
            (goes_on && !last.name.is_empty() && !last.is_whole()).then_some(self.last)
        })
    }

    /// Whether a fragment that points to a call begins another.
    fn begins_another(&self, found: usize, fragment: &CallFragment<'_>) -> bool {
        let Some(record) = self.list.get(found) else { return true };
        let whole = record.is_whole();
        if let Some(id) = &fragment.id {
            // Some vendors make up an id for every fragment, but only the first
            // fragment of a call has a name.
            return record.id.is_some() && !record.has_id(id) && (whole || fragment.name.is_some());
        }
        match &fragment.name {
            // Arguments after a whole object are those of the next call, even
            // of the same tool; a name alone is only repeated.
            Some(name) if whole => {
                record.name.text() != *name || fragment.text.as_ref().is_some_and(|t| !t.is_blank())
            }
            Some(_) | None => false,
        }
    }

    /// Remembers a call that may be closed when the next one begins.
    fn notice_whole(&mut self, at: usize) {
        let whole = self.list.get(at).is_some_and(|record| record.is_open() && record.is_whole());
        if whole && self.whole.last() != Some(&at) {
            self.whole.push(at);
        }
    }

    /// Opens the waiting calls, up to the first that is not ready.
    fn open_ready(&mut self, current: &mut CurrentBlock, sink: &mut dyn EventSink) {
        while self.list.get(self.opened).is_some_and(CallRecord::is_ready) {
            self.close_whole(sink);
            current.close(sink);
            if let Some(record) = self.list.get_mut(self.opened) {
                record.open(current.number(), sink);
            }
            self.notice_whole(self.opened);
            self.opened += 1;
        }
    }
}
