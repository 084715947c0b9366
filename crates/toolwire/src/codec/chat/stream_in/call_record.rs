//! One call of a stream.

use super::fragment::CallFragment;
use super::json_balance::JsonBalance;
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{CallForm, CallHead, Event, Head, Piece, Tail};
use crate::wire::{Extra, Pos, Raw, Str, TextBuffer};

/// One call.
#[derive(Debug)]
pub(super) struct CallRecord {
    pub(super) index: Option<u64>,
    pub(super) place: Option<usize>,
    pub(super) id: Option<Str<'static>>,
    pub(super) name: TextBuffer,
    name_at: Pos,
    pub(super) form: CallForm,
    pub(super) legacy: bool,
    state: CallState,
    /// The arguments that came before it was opened.
    pub(super) held: TextBuffer,
    pub(super) balance: JsonBalance,
    /// Members that have not been sent on.
    pub(super) extra: Vec<Extra<'static>>,
}

#[derive(Clone, Copy, Debug)]
enum CallState {
    /// The name or the id may be incomplete.
    Waiting,
    Open(usize),
    Closed,
}

impl CallRecord {
    pub(super) fn new(fragment: &CallFragment<'_>) -> Self {
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

    pub(super) fn has_id(&self, id: &Str<'_>) -> bool {
        self.id.as_ref().is_some_and(|own| own == id)
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, CallState::Open(_))
    }

    pub(super) fn is_whole(&self) -> bool {
        self.form == CallForm::Json && self.balance.is_whole()
    }

    pub(super) fn is_cut(&self) -> bool {
        self.form == CallForm::Json && self.balance.is_cut()
    }

    /// Whether it can be opened. A name may come in pieces until the arguments
    /// begin.
    pub(super) fn is_ready(&self) -> bool {
        !self.name.is_empty() && !self.held.is_empty() && (self.id.is_some() || self.legacy)
    }

    pub(super) fn take(&mut self, fragment: CallFragment<'_>, sink: &mut dyn EventSink) {
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

    pub(super) fn take_name(&mut self, name: &Str<'_>, sink: &mut dyn EventSink) {
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

    pub(super) fn open(&mut self, block: usize, sink: &mut dyn EventSink) {
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

    pub(super) fn close(&mut self, sink: &mut dyn EventSink) {
        if let CallState::Open(block) = std::mem::replace(&mut self.state, CallState::Closed) {
            let tail = Tail { sealed: None, extra: std::mem::take(&mut self.extra) };
            sink.event(Event::Close { block, tail });
        }
    }

    pub(super) fn forget_positions(&mut self) {
        self.name_at = Pos::NONE;
        self.id = self.id.take().map(|id| id.at(Pos::NONE));
        for field in &mut self.extra {
            field.value = std::mem::replace(&mut field.value, Raw::made("")).at(Pos::NONE);
        }
    }
}
