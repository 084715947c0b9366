//! A call of a stream.

use super::super::calls_out::{write_call_head, write_input};
use super::block::Destination;
use super::events::{BlockDeltas, BlockEvents};
use crate::ledger::{Code, Ledger};
use crate::model::{Arguments, Call, CallForm, CallHead};
use crate::wire::{Object, Pos, Str, TextBuffer, write_escaped};

/// A call while it is written. Arguments that begin like an object are written
/// as they come, byte for byte. Any others are written when they are complete,
/// as the object that the API wants.
#[derive(Debug)]
pub(super) struct StreamedCall {
    /// The block as it begins.
    start: Vec<u8>,
    form: ArgumentForm,
    /// Arguments that have not been written.
    waiting: TextBuffer,
    /// Space for text that is escaped twice.
    scratch: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentForm {
    /// JSON of which only space has come.
    Unknown,
    /// JSON that begins like an object.
    Object,
    /// JSON that begins otherwise. It waits until it is complete.
    Other,
    /// The input of a freeform tool.
    Freeform { is_begun: bool },
    /// The whole input, as JSON, is in `scratch`.
    Complete,
}

impl StreamedCall {
    pub(super) fn new(call: &CallHead<'_>, minted_id: &str, ledger: &mut Ledger) -> Self {
        let form = match call.form {
            CallForm::Json => ArgumentForm::Unknown,
            CallForm::Freeform => {
                ledger.emulated(Pos::START, Code::FreeformWrapped);
                ArgumentForm::Freeform { is_begun: false }
            }
        };
        let start = write_start(call, Pos::START, minted_id, ledger);
        Self { start, form, waiting: TextBuffer::default(), scratch: Vec::new() }
    }

    /// A call that came in one piece.
    pub(super) fn whole(call: &Call<'_>, minted_id: &str, ledger: &mut Ledger) -> Self {
        let start = write_start(&CallHead::of(call), call.at, minted_id, ledger);
        let mut scratch = Vec::new();
        write_input(&call.arguments, call.at, &mut scratch, ledger);
        Self { start, form: ArgumentForm::Complete, waiting: TextBuffer::default(), scratch }
    }

    pub(super) fn push(&mut self, text: &Str<'_>, destination: Destination<'_>) {
        let Some((events, out)) = destination else {
            self.waiting.push(text);
            return;
        };
        match self.form {
            ArgumentForm::Object if !text.is_empty() => {
                events.delta(out, |out| text.write_inside(out));
            }
            ArgumentForm::Freeform { is_begun: _ } if !text.is_empty() => {
                self.write_freeform(text, events, out);
            }
            ArgumentForm::Unknown => {
                self.waiting.push(text);
                self.detect_form(events, out);
            }
            ArgumentForm::Other => self.waiting.push(text),
            ArgumentForm::Object
            | ArgumentForm::Freeform { is_begun: _ }
            | ArgumentForm::Complete => {}
        }
    }

    /// The block's turn has come: writes what may be written of what is waiting.
    pub(super) fn start(&mut self, events: &mut BlockEvents, out: &mut Vec<u8>) {
        events.open(BlockDeltas::Input, out, |out| out.extend_from_slice(&self.start));
        if self.waiting.is_empty() {
            return;
        }
        match self.form {
            ArgumentForm::Unknown => self.detect_form(events, out),
            ArgumentForm::Freeform { is_begun: _ } => {
                let waiting = std::mem::take(&mut self.waiting);
                self.write_freeform(&waiting.text(), events, out);
            }
            ArgumentForm::Object | ArgumentForm::Other | ArgumentForm::Complete => {}
        }
    }

    pub(super) fn finish(&mut self, events: &BlockEvents, out: &mut Vec<u8>, ledger: &mut Ledger) {
        match self.form {
            ArgumentForm::Unknown | ArgumentForm::Object => return,
            ArgumentForm::Freeform { is_begun: true } => {
                events.delta(out, |out| out.extend_from_slice(FREEFORM_END));
                return;
            }
            ArgumentForm::Freeform { is_begun: false } => {
                events.delta(out, |out| {
                    out.extend_from_slice(FREEFORM_START);
                    out.extend_from_slice(FREEFORM_END);
                });
                return;
            }
            ArgumentForm::Other => {
                let arguments = Arguments::Text(self.waiting.text());
                write_input(&arguments, Pos::START, &mut self.scratch, ledger);
            }
            ArgumentForm::Complete => {}
        }
        // It was written as JSON, which is text.
        let input = std::str::from_utf8(&self.scratch).unwrap_or_default();
        if input != "{}" {
            events.delta(out, |out| write_escaped(input, out));
        }
    }

    /// Decides the form of the arguments by how they begin.
    fn detect_form(&mut self, events: &BlockEvents, out: &mut Vec<u8>) {
        let text = self.waiting.text();
        match first_character(&text) {
            None => {}
            Some('{') => {
                self.form = ArgumentForm::Object;
                events.delta(out, |out| text.write_inside(out));
                self.waiting.clear();
            }
            Some(_) => self.form = ArgumentForm::Other,
        }
    }

    /// Writes more of a text inside an object that is itself inside a literal.
    fn write_freeform(&mut self, text: &Str<'_>, events: &BlockEvents, out: &mut Vec<u8>) {
        self.scratch.clear();
        text.write_inside(&mut self.scratch);
        let inside = std::str::from_utf8(&self.scratch).unwrap_or_default();
        let is_begun = self.form == ArgumentForm::Freeform { is_begun: true };
        self.form = ArgumentForm::Freeform { is_begun: true };
        events.delta(out, |out| {
            if !is_begun {
                out.extend_from_slice(FREEFORM_START);
            }
            write_escaped(inside, out);
        });
    }
}

/// The block of a call as it begins.
fn write_start(call: &CallHead<'_>, at: Pos, minted_id: &str, ledger: &mut Ledger) -> Vec<u8> {
    let CallHead { id, name, namespace, form: _, caller, extra } = call;
    let mut bytes = Vec::new();
    let mut block = Object::new(&mut bytes);
    write_call_head(at, id.as_ref(), minted_id, name, namespace.as_ref(), &mut block, ledger);
    drop(block.object("input"));
    ledger.lost_info(caller, Code::ProgrammaticCallers);
    ledger.only(extra);
    drop(block);
    bytes
}

/// The first character that is not space.
fn first_character(text: &Str<'_>) -> Option<char> {
    let start = text.spelled().trim_ascii_start();
    match start.chars().next() {
        // Arguments rarely begin with an escaped character.
        Some('\\') => text.decode().trim_ascii_start().chars().next(),
        other => other,
    }
}

/// `{"input":"` and `"}` inside a literal.
const FREEFORM_START: &[u8] = br#"{\"input\":\""#;
const FREEFORM_END: &[u8] = br#"\"}"#;
