//! What has been sent on of one call of a stream.

use super::call_identity::CallIdentity;
use super::fragment::CallFragment;
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{CallHead, Event, Head, Piece, Tail};
use crate::wire::{Extra, Pos, Raw, Str, TextBuffer};

/// One call.
#[derive(Debug)]
pub(super) struct CallRecord {
    name_at: Pos,
    state: CallState,
    /// The arguments that came before it was opened.
    pub(super) held: TextBuffer,
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
    pub(super) fn new() -> Self {
        Self {
            name_at: Pos::NONE,
            state: CallState::Waiting,
            held: TextBuffer::default(),
            extra: Vec::new(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, CallState::Open(_))
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, CallState::Closed)
    }

    /// Whether it can be opened. A name may come in pieces until the arguments
    /// begin.
    pub(super) fn is_ready(&self, call: &CallIdentity) -> bool {
        !call.name.is_empty() && !self.held.is_empty() && (call.id.is_some() || call.legacy)
    }

    /// Takes a fragment, before the call itself does.
    pub(super) fn take(
        &mut self,
        call: &CallIdentity,
        fragment: &CallFragment<'_>,
        sink: &mut dyn EventSink,
    ) {
        let CallFragment { index: _, id: _, name, form: _, text, place: _, legacy: _, extra } =
            fragment;
        if let Some(name) = name {
            self.take_name(call, name, sink);
        }
        if !extra.is_empty() {
            self.extra.extend(extra.iter().cloned().map(Extra::into_owned));
        }
        let Some(text) = text else { return };
        match self.state {
            CallState::Waiting => self.held.push(text),
            CallState::Open(block) => {
                let piece = Piece::Arguments(text.borrowed());
                sink.event(Event::Delta { block, piece });
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

    fn take_name(&mut self, call: &CallIdentity, name: &Str<'_>, sink: &mut dyn EventSink) {
        if call.name.is_empty() {
            self.name_at = name.pos();
        }
        if call.refuses_name(name) && call.name.text() != *name {
            sink.ledger()
                .dropped(name.pos(), Code::ToolName)
                .detail("The upstream changed the name of a call whose arguments had begun.");
        }
    }

    pub(super) fn open(&mut self, call: &CallIdentity, block: usize, sink: &mut dyn EventSink) {
        self.state = CallState::Open(block);
        let head = CallHead {
            id: call.id.as_ref().map(Str::borrowed),
            name: call.name.text().at(self.name_at),
            namespace: None,
            form: call.form,
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
        for field in &mut self.extra {
            field.value = std::mem::replace(&mut field.value, Raw::made("")).at(Pos::NONE);
        }
    }
}
