//! The calls of a stream.
//!
//! Neither `index` nor `id` is reliable: vendors leave out one or both, send the
//! id late, repeat it, or give every call the same index. So there is a record
//! for each call, in the order in which they began, and a fragment finds its
//! record by whatever it has.

use super::blocks::CurrentBlock;
use super::json_balance::JsonBalance;
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{CallForm, CallHead, Event, Head, Piece, Tail};
use crate::wire::{Extra, Pos, Raw, Str, TextBuffer};

/// A piece of a call.
#[derive(Debug)]
pub(super) struct CallFragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<Str<'a>>,
    pub(super) name: Option<Str<'a>>,
    /// What its text is, if the fragment says.
    pub(super) form: Option<CallForm>,
    /// Arguments or input.
    pub(super) text: Option<Str<'a>>,
    /// Its place in a list of several, for fragments that have nothing else.
    pub(super) place: Option<usize>,
    /// Whether it is a deprecated function call, which has no id.
    pub(super) legacy: bool,
    pub(super) extra: Vec<Extra<'a>>,
}

impl CallFragment<'_> {
    /// Treats members that a vendor repeats empty as absent.
    fn without_empty(mut self) -> Self {
        self.id = self.id.filter(|id| !id.is_empty());
        self.name = self.name.filter(|name| !name.is_empty());
        self.text = self.text.filter(|text| !text.is_empty());
        self
    }
}

/// A call has arguments but names no tool.
#[derive(Debug)]
pub(super) struct UnnamedCall;

/// Puts the calls of a stream together.
#[derive(Debug, Default)]
pub(super) struct CallAssembler {
    list: Vec<CallRecord>,
    /// How many have been opened. They are opened in the upstream's order.
    opened: usize,
    /// The indexes of those that are open.
    open: Vec<usize>,
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
        self.last = match self.find(&fragment) {
            Some(found) => found,
            None => {
                self.list.push(CallRecord::new(&fragment));
                self.list.len() - 1
            }
        };
        if let Some(record) = self.list.get_mut(self.last) {
            record.take(fragment, sink);
        }
        self.open_ready(current, sink);
    }

    /// Closes the calls that are whole.
    pub(super) fn close_whole(&mut self, sink: &mut dyn EventSink) {
        let list = &mut self.list;
        self.open.retain(|&at| match list.get_mut(at) {
            Some(record) if record.is_whole() => {
                record.close(sink);
                false
            }
            Some(_) => true,
            None => false,
        });
    }

    /// Forgets positions in the last chunk.
    pub(super) fn forget_positions(&mut self) {
        for record in self.list.iter_mut().skip(self.opened) {
            record.forget_positions();
        }
        for at in &self.open {
            if let Some(record) = self.list.get_mut(*at)
                && !record.extra.is_empty()
            {
                record.forget_positions();
            }
        }
    }

    /// Whether the JSON of a call is incomplete.
    pub(super) fn is_cut(&self) -> bool {
        self.list.iter().any(|record| record.form == CallForm::Json && record.balance.is_cut())
    }

    /// Opens the calls that still wait and closes all, at the end of the stream.
    pub(super) fn finish(
        &mut self,
        current: &mut CurrentBlock,
        sink: &mut dyn EventSink,
    ) -> Result<(), UnnamedCall> {
        for at in std::mem::take(&mut self.open) {
            if let Some(record) = self.list.get_mut(at) {
                record.close(sink);
            }
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
            let found = self.latest(|record| record.legacy)?;
            return (!self.begins_another(found, fragment)).then_some(found);
        }
        if let Some(index) = fragment.index {
            return self.find_by_index(index, fragment);
        }
        if let Some(id) = &fragment.id {
            return self.latest(|record| record.has_id(id)).or_else(|| {
                // The id came late, or the vendor makes up an id for every
                // fragment. A new call would have a name.
                let last = self.list.get(self.last)?;
                let goes_on = fragment.name.is_none() && (last.id.is_none() || !last.is_whole());
                goes_on.then_some(self.last)
            });
        }
        let found = match fragment.place {
            Some(place) => self.latest(|record| record.place == Some(place))?,
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
                let own = |record: &CallRecord| record.index.is_none_or(|own| own == index);
                if let Some(known) = self.latest(|record| own(record) && record.has_id(id)) {
                    return Some(known);
                }
                self.latest(|record| record.index == Some(index))?
            }
            (None, None) => self.latest(|record| record.index == Some(index))?,
        };
        (!self.begins_another(found, fragment)).then_some(found)
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

    fn latest(&self, is_it: impl Fn(&CallRecord) -> bool) -> Option<usize> {
        self.list.iter().rposition(is_it)
    }

    /// Opens the waiting calls, up to the first that is not ready.
    fn open_ready(&mut self, current: &mut CurrentBlock, sink: &mut dyn EventSink) {
        while self.list.get(self.opened).is_some_and(CallRecord::is_ready) {
            self.close_whole(sink);
            current.close(sink);
            if let Some(record) = self.list.get_mut(self.opened) {
                record.open(current.number(), sink);
            }
            self.open.push(self.opened);
            self.opened += 1;
        }
    }
}

/// One call.
#[derive(Debug)]
struct CallRecord {
    index: Option<u64>,
    place: Option<usize>,
    id: Option<Str<'static>>,
    name: TextBuffer,
    name_at: Pos,
    form: CallForm,
    legacy: bool,
    state: CallState,
    /// The arguments that came before it was opened.
    held: TextBuffer,
    balance: JsonBalance,
    /// Members that have not been sent on.
    extra: Vec<Extra<'static>>,
}

#[derive(Clone, Copy, Debug)]
enum CallState {
    /// The name or the id may be incomplete.
    Waiting,
    Open(usize),
    Closed,
}

impl CallRecord {
    fn new(fragment: &CallFragment<'_>) -> Self {
        Self {
            index: fragment.index,
            place: fragment.place,
            id: None,
            name: TextBuffer::default(),
            name_at: Pos::NONE,
            form: CallForm::Json,
            legacy: fragment.legacy,
            state: CallState::Waiting,
            held: TextBuffer::default(),
            balance: JsonBalance::default(),
            extra: Vec::new(),
        }
    }

    fn has_id(&self, id: &Str<'_>) -> bool {
        self.id.as_ref().is_some_and(|own| own == id)
    }

    fn is_whole(&self) -> bool {
        self.form == CallForm::Json && self.balance.is_whole()
    }

    /// Whether it can be opened. A name may come in pieces until the arguments
    /// begin.
    fn is_ready(&self) -> bool {
        !self.name.is_empty() && !self.held.is_empty() && (self.id.is_some() || self.legacy)
    }

    fn take(&mut self, fragment: CallFragment<'_>, sink: &mut dyn EventSink) {
        let CallFragment { index, id, name, form, text, place: _, legacy: _, extra } = fragment;
        self.index = self.index.or(index);
        if self.id.is_none() {
            self.id = id.map(Str::into_owned);
        }
        if let Some(name) = name {
            self.take_name(&name, sink);
        }
        if let Some(form) = form
            && self.held.is_empty()
            && matches!(self.state, CallState::Waiting)
        {
            self.form = form;
        }
        self.extra.extend(extra.into_iter().map(Extra::into_owned));
        let Some(text) = text else { return };
        match self.state {
            CallState::Waiting => {
                self.balance.push(&text);
                self.held.push(&text);
            }
            CallState::Open(block) => {
                self.balance.push(&text);
                sink.event(Event::Delta { block, piece: Piece::Arguments(text) });
            }
            CallState::Closed => {
                let note = sink
                    .ledger()
                    .degraded(text.pos(), Code::ArgumentsTruncated)
                    .detail("What came behind the end of the arguments was left out.");
                if text.is_blank() {
                    note.info();
                }
            }
        }
    }

    fn take_name(&mut self, name: &Str<'_>, sink: &mut dyn EventSink) {
        if self.name.text() == *name {
            return;
        }
        if self.held.is_empty() && matches!(self.state, CallState::Waiting) {
            if self.name.is_empty() {
                self.name_at = name.pos();
            }
            self.name.push(name);
        } else {
            sink.ledger()
                .dropped(name.pos(), Code::ToolName)
                .detail("The upstream changed the name of a call whose arguments had begun.");
        }
    }

    fn open(&mut self, block: usize, sink: &mut dyn EventSink) {
        self.state = CallState::Open(block);
        let head = CallHead {
            id: self.id.as_ref().map(Str::borrowed),
            name: self.name.text().at(self.name_at),
            namespace: None,
            form: self.form,
            caller: None,
            extra: std::mem::take(&mut self.extra),
        };
        sink.event(Event::Open { block, head: Head::Call(head) });
        if !self.held.is_empty() {
            let piece = Piece::Arguments(self.held.text());
            sink.event(Event::Delta { block, piece });
        }
        // The arguments may be large, so free them.
        self.held = TextBuffer::default();
    }

    fn close(&mut self, sink: &mut dyn EventSink) {
        if let CallState::Open(block) = std::mem::replace(&mut self.state, CallState::Closed) {
            let tail = Tail { sealed: None, extra: std::mem::take(&mut self.extra) };
            sink.event(Event::Close { block, tail });
        }
    }

    fn forget_positions(&mut self) {
        self.name_at = Pos::NONE;
        self.id = self.id.take().map(|id| id.at(Pos::NONE));
        for field in &mut self.extra {
            field.value = std::mem::replace(&mut field.value, Raw::made("")).at(Pos::NONE);
        }
    }
}
