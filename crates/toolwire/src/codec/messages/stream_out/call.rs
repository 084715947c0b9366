//! A call while it is being written.

use super::super::calls_out::{call_head, write_input};
use super::super::content_out::Pen;
use super::blocks::Live;
use super::events::{Grows, Tap};
use crate::ledger::Code;
use crate::model::{Arguments, Call, CallForm, CallHead};
use crate::wire::{Extra, Object, Pos, Raw, Str, TextBuffer, write_escaped};

/// A call. Arguments that begin as an object do are written as they come, byte
/// for byte; any others when they are whole, as the object that the API wants.
#[derive(Debug)]
pub(super) struct CallLive {
    /// The block as it begins.
    head: Vec<u8>,
    form: Form,
    /// Arguments that have not been written.
    held: TextBuffer,
    /// Space for text that is escaped twice.
    inner: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// JSON of which only space has come.
    Unseen,
    /// JSON that begins as an object does.
    Object,
    /// JSON that begins otherwise. It is held to its end.
    Other,
    /// The input of a freeform tool.
    Freeform { begun: bool },
    /// The whole input, as JSON, is in `inner`.
    Ready,
}

impl CallLive {
    pub(super) fn open(call: &CallHead<'_>, minted: &str, pen: &mut Pen<'_>) -> Self {
        let CallHead { id, name, namespace, form, caller, extra } = call;
        let head = Head {
            at: Pos::START,
            id: id.as_ref(),
            name,
            namespace: namespace.as_ref(),
            caller: caller.as_ref(),
            extra,
        };
        let form = match form {
            CallForm::Json => Form::Unseen,
            CallForm::Freeform => {
                pen.ledger.emulated(Pos::START, Code::FreeformWrapped);
                Form::Freeform { begun: false }
            }
        };
        let head = head.write(minted, pen);
        Self { head, form, held: TextBuffer::default(), inner: Vec::new() }
    }

    /// A call that came in one piece.
    pub(super) fn whole(call: &Call<'_>, minted: &str, pen: &mut Pen<'_>) -> Self {
        let Call { at, id, name, namespace, arguments, caller, cache: _, extra } = call;
        let head = Head {
            at: *at,
            id: id.as_ref(),
            name,
            namespace: namespace.as_ref(),
            caller: caller.as_ref(),
            extra,
        };
        let head = head.write(minted, pen);
        let mut inner = Vec::new();
        write_input(arguments, *at, &mut inner, pen);
        Self { head, form: Form::Ready, held: TextBuffer::default(), inner }
    }

    pub(super) fn grow(&mut self, text: &Str<'_>, live: Live<'_>) {
        let Some((tap, out)) = live else {
            self.held.push(text);
            return;
        };
        match self.form {
            Form::Object if !text.is_empty() => tap.delta(out, |out| text.write_inside(out)),
            Form::Freeform { begun: _ } if !text.is_empty() => self.freeform(text, tap, out),
            Form::Unseen => {
                self.held.push(text);
                self.look(tap, out);
            }
            Form::Other => self.held.push(text),
            Form::Object | Form::Freeform { begun: _ } | Form::Ready => {}
        }
    }

    pub(super) fn enter(&mut self, tap: &mut Tap, out: &mut Vec<u8>) {
        tap.begin(Grows::Input, out, |out| out.extend_from_slice(&self.head));
        if self.held.is_empty() {
            return;
        }
        match self.form {
            Form::Unseen => self.look(tap, out),
            Form::Freeform { begun: _ } => {
                let held = std::mem::take(&mut self.held);
                self.freeform(&held.text(), tap, out);
            }
            Form::Object | Form::Other | Form::Ready => {}
        }
    }

    pub(super) fn leave(&mut self, tap: &mut Tap, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
        match self.form {
            Form::Unseen | Form::Object => return,
            Form::Freeform { begun: true } => {
                tap.delta(out, |out| out.extend_from_slice(FREEFORM_END));
                return;
            }
            Form::Freeform { begun: false } => {
                tap.delta(out, |out| {
                    out.extend_from_slice(FREEFORM);
                    out.extend_from_slice(FREEFORM_END);
                });
                return;
            }
            Form::Other => {
                let arguments = Arguments::Text(self.held.text());
                write_input(&arguments, Pos::START, &mut self.inner, pen);
            }
            Form::Ready => {}
        }
        // It was written as JSON, which is text.
        let input = std::str::from_utf8(&self.inner).unwrap_or_default();
        if input != "{}" {
            tap.delta(out, |out| write_escaped(input, out));
        }
    }

    /// Decides what the arguments are by how they begin.
    fn look(&mut self, tap: &mut Tap, out: &mut Vec<u8>) {
        let text = self.held.text();
        match first(&text) {
            None => {}
            Some('{') => {
                self.form = Form::Object;
                tap.delta(out, |out| text.write_inside(out));
                self.held.clear();
            }
            Some(_) => self.form = Form::Other,
        }
    }

    /// Writes more of a text inside an object that is itself inside a literal.
    fn freeform(&mut self, text: &Str<'_>, tap: &Tap, out: &mut Vec<u8>) {
        self.inner.clear();
        text.write_inside(&mut self.inner);
        let inner = std::str::from_utf8(&self.inner).unwrap_or_default();
        let begun = self.form == Form::Freeform { begun: true };
        self.form = Form::Freeform { begun: true };
        tap.delta(out, |out| {
            if !begun {
                out.extend_from_slice(FREEFORM);
            }
            write_escaped(inner, out);
        });
    }
}

/// What of a call comes before its arguments.
struct Head<'h> {
    at: Pos,
    id: Option<&'h Str<'h>>,
    name: &'h Str<'h>,
    namespace: Option<&'h Str<'h>>,
    caller: Option<&'h Raw<'h>>,
    extra: &'h [Extra<'h>],
}

impl Head<'_> {
    fn write(&self, minted: &str, pen: &mut Pen<'_>) -> Vec<u8> {
        let Self { at, id, name, namespace, caller, extra } = *self;
        let mut bytes = Vec::new();
        let mut block = Object::new(&mut bytes);
        call_head(at, id, minted, name, namespace, &mut block, pen);
        drop(block.object("input"));
        if let Some(caller) = caller {
            pen.ledger.dropped(caller.pos(), Code::ProgrammaticCallers).info();
        }
        pen.ledger.only(extra);
        drop(block);
        bytes
    }
}

/// The first character that is no space.
fn first(text: &Str<'_>) -> Option<char> {
    let start = text.spelled().trim_ascii_start();
    match start.chars().next() {
        // An escape stands for a character; text begins with one seldom.
        Some('\\') => text.decode().trim_ascii_start().chars().next(),
        other => other,
    }
}

/// `{"input":"` and `"}` inside a literal.
const FREEFORM: &[u8] = br#"{\"input\":\""#;
const FREEFORM_END: &[u8] = br#"\"}"#;
