//! The calls of a stream.

use super::blocks::CurrentBlock;
use super::call_finder::CallFinder;
use super::call_identity::CallIdentity;
use super::call_record::CallRecord;
use super::fragment::CallFragment;
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::wire::Pos;

/// Puts the calls of a stream together.
#[derive(Debug, Default)]
pub(super) struct CallAssembler {
    finder: CallFinder,
    /// What has been sent on of each call.
    list: Vec<CallRecord>,
    /// How many have been opened. They are opened in the upstream's order.
    opened: usize,
    /// Open calls whose arguments looked whole after their last fragment.
    whole: Vec<usize>,
    /// The calls that the last chunk had fragments of.
    touched: Vec<usize>,
    /// Whether arguments came for a call that names no tool.
    has_unnamed: bool,
}

impl CallAssembler {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether arguments came for a call that names no tool. A name must come before them.
    pub(super) fn has_unnamed(&self) -> bool {
        self.has_unnamed
    }

    /// Adds a fragment to its call.
    pub(super) fn take(
        &mut self,
        fragment: CallFragment<'_>,
        current: &mut CurrentBlock,
        sink: &mut dyn EventSink,
    ) {
        let mut fragment = fragment.without_empty();
        if fragment.is_empty() {
            return;
        }
        let number = self.finder.find_or_begin(&fragment);
        if number == self.list.len() {
            self.list.push(CallRecord::new());
        }
        if let (Some(record), Some(call)) = (self.list.get_mut(number), self.finder.get(number)) {
            record.take(call, &fragment, sink);
            if record.is_closed() {
                // It was left out, so it must not leave the call cut.
                fragment.text = None;
            }
        }
        let call = self.finder.take(number, &fragment);
        self.has_unnamed |= call.is_some_and(CallIdentity::is_unnamed);
        let is_whole = call.is_some_and(CallIdentity::is_whole);
        if self.touched.last() != Some(&number) {
            self.touched.push(number);
        }
        if is_whole {
            self.notice_whole(number);
        }
        if self.opened < self.list.len() {
            self.open_ready(current, sink);
        }
    }

    /// Closes the calls that are whole.
    pub(super) fn close_whole(&mut self, sink: &mut dyn EventSink) {
        self.whole.sort_unstable();
        for at in self.whole.drain(..) {
            if let Some(record) = self.list.get_mut(at)
                && self.finder.get(at).is_some_and(CallIdentity::is_whole)
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
                self.finder.forget_positions(at);
            }
        }
    }

    /// Whether the JSON of a call is incomplete.
    pub(super) fn is_cut(&self) -> bool {
        self.finder.iter().any(CallIdentity::is_cut)
    }

    /// Whether the JSON of the call is incomplete that the last fragment belonged to.
    pub(super) fn is_last_cut(&self) -> bool {
        self.finder.last().is_some_and(CallIdentity::is_cut)
    }

    /// Opens the calls that still wait and closes all, at the end of the stream.
    pub(super) fn finish(&mut self, current: &mut CurrentBlock, sink: &mut dyn EventSink) {
        for record in self.list.iter_mut().take(self.opened) {
            record.close(sink);
        }
        for (record, call) in self.list.iter_mut().zip(self.finder.iter()).skip(self.opened) {
            if call.name.is_empty() {
                sink.ledger()
                    .dropped(Pos::START, Code::UnknownItem)
                    .detail("The upstream began a call and named no tool.");
                continue;
            }
            record.open(call, current.number(), sink);
            record.close(sink);
        }
        self.opened = self.list.len();
    }

    /// Remembers a call that may be closed when the next one begins.
    fn notice_whole(&mut self, at: usize) {
        let is_open = self.list.get(at).is_some_and(CallRecord::is_open);
        let is_whole = self.finder.get(at).is_some_and(CallIdentity::is_whole);
        if is_open && is_whole && self.whole.last() != Some(&at) {
            self.whole.push(at);
        }
    }

    /// Opens the waiting calls, up to the first that is not ready.
    fn open_ready(&mut self, current: &mut CurrentBlock, sink: &mut dyn EventSink) {
        while self.is_ready(self.opened) {
            self.close_whole(sink);
            current.close(sink);
            if let (Some(record), Some(call)) =
                (self.list.get_mut(self.opened), self.finder.get(self.opened))
            {
                record.open(call, current.number(), sink);
            }
            self.notice_whole(self.opened);
            self.opened += 1;
        }
    }

    fn is_ready(&self, at: usize) -> bool {
        let (record, call) = (self.list.get(at), self.finder.get(at));
        record.zip(call).is_some_and(|(record, call)| record.is_ready(call))
    }
}
