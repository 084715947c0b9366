//! Calls that went up renamed or wrapped come down as the client declared
//! them, while they are being made.
//!
//! What can be unwrapped piece by piece is; a call whose shape shows only at
//! its end is held until then and given in one piece.

use std::borrow::Cow;

use super::freeform::{FreeformInput, FreeformStep};
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{
    Arguments, CallForm, CallHead, Event, Head, Item, NativeKind, Own, Piece, Role, Tail, Turn,
};
use crate::restore::{ArgumentShape, Ids, RAW_KEY, REPEATED, Restore};
use crate::wire::{Pos, Str, TextBuffer};

/// The way back for the calls of one stream.
#[derive(Debug, Default)]
pub(super) struct CallRestorer {
    restore: Restore,
    /// What becomes of each block that the reader opened.
    blocks: Vec<Block>,
    /// How many blocks the writer has got.
    written: usize,
    /// The ids of the calls so far.
    ids: Ids<'static>,
}

#[derive(Debug)]
enum Block {
    /// Passes as it is, under this number.
    Pass(usize),
    /// Arguments that may turn out to be wrapped as text: held until they show
    /// that they are not.
    Peek { number: usize, held: TextBuffer },
    /// Arguments that are wrapped as text, or in another way that shows at the
    /// end only.
    Hold { number: usize, shape: ArgumentShape, held: TextBuffer },
    /// The input of a freeform tool, unwrapped as it comes.
    Unwrap { number: usize, input: Box<FreeformInput> },
    /// A call that becomes something else as a whole.
    Whole { head: Box<CallHead<'static>>, shape: ArgumentShape, held: TextBuffer },
}

impl CallRestorer {
    pub(super) fn new(restore: Restore) -> Self {
        Self { restore, ..Self::default() }
    }

    /// Hands an event on as the client is to see it.
    pub(super) fn event(&mut self, event: Event<'_>, sink: &mut impl EventSink) {
        match event {
            Event::Open { block: _, head: Head::Call(head) } => self.open_call(head, sink),
            Event::Open { block: _, head } => {
                let number = self.number();
                self.blocks.push(Block::Pass(number));
                sink.event(Event::Open { block: number, head });
            }
            Event::Delta { block, piece } => self.delta(block, piece, sink),
            Event::Close { block, tail } => self.close(block, tail, sink),
            Event::Whole(mut turn) => {
                for item in &mut turn.items {
                    if let Item::Call(call) = item {
                        self.distinct(&mut call.id, sink);
                        self.restore.call(call);
                    }
                }
                sink.event(Event::Whole(turn));
            }
            other @ (Event::Start(_)
            | Event::About { tier: _, extra: _ }
            | Event::Usage(_)
            | Event::Stop { stop: _, extra: _ }
            | Event::End
            | Event::Error(_)) => sink.event(other),
        }
    }

    fn number(&mut self) -> usize {
        self.written += 1;
        self.written - 1
    }

    /// Gives a call another id if its own has been used.
    fn distinct(&mut self, id: &mut Option<Str<'_>>, sink: &mut impl EventSink) {
        let Some(known) = id else { return };
        if let Some(fresh) = self.ids.another(Cow::Owned(known.decode().into_owned())) {
            sink.ledger().renamed(known.pos(), Code::CallId).detail(REPEATED);
            *known = fresh.at(known.pos());
        }
    }

    fn open_call(&mut self, mut head: CallHead<'_>, sink: &mut impl EventSink) {
        self.distinct(&mut head.id, sink);
        let original = self.restore.original(&head.name.decode());
        let (shape, native) = match original {
            Some(original) => {
                let pos = head.name.pos();
                head.name = Str::plain(original.name.clone()).at(pos);
                if let Some(namespace) = &original.namespace {
                    head.namespace = Some(Str::plain(namespace.clone()).at(pos));
                }
                (original.shape, is_native(original.shape))
            }
            None => (ArgumentShape::Same, false),
        };
        if native && head.form == CallForm::Json {
            let head = Box::new(head.into_owned());
            self.blocks.push(Block::Whole { head, shape, held: TextBuffer::default() });
            return;
        }
        let number = self.number();
        let block = match (shape, head.form) {
            (_, CallForm::Freeform) => Block::Pass(number),
            (ArgumentShape::Freeform, CallForm::Json) => {
                head.form = CallForm::Freeform;
                Block::Unwrap { number, input: Box::default() }
            }
            (ArgumentShape::Wrapped, CallForm::Json) => {
                Block::Hold { number, shape, held: TextBuffer::default() }
            }
            (ArgumentShape::Same | ArgumentShape::Native(_), CallForm::Json) => {
                Block::Peek { number, held: TextBuffer::default() }
            }
        };
        self.blocks.push(block);
        sink.event(Event::Open { block: number, head: Head::Call(head) });
    }

    fn delta(&mut self, block: usize, piece: Piece<'_>, sink: &mut impl EventSink) {
        let Some(state) = self.blocks.get_mut(block) else { return };
        if let Block::Pass(number) = state {
            return sink.event(Event::Delta { block: *number, piece });
        }
        let Piece::Arguments(text) = piece else { return };
        match state {
            Block::Pass(_) => {}
            Block::Hold { number: _, shape: _, held }
            | Block::Whole { head: _, shape: _, held } => {
                held.push(&text);
            }
            Block::Unwrap { number, input } => {
                if let FreeformStep::Text(found) = input.push(&text) {
                    let text = Str::plain(found).at(text.pos());
                    sink.event(Event::Delta { block: *number, piece: Piece::Arguments(text) });
                }
            }
            Block::Peek { number, held } => {
                let number = *number;
                if held.is_empty() && looks_raw(&text) == Looks::Plain {
                    *state = Block::Pass(number);
                    let piece = Piece::Arguments(text);
                    return sink.event(Event::Delta { block: number, piece });
                }
                held.push(&text);
                // Blanks decide nothing, and there may be any number of them.
                if text.is_blank() {
                    return;
                }
                match looks_raw(&held.text()) {
                    Looks::Open => {}
                    Looks::Raw => {
                        let held = std::mem::take(held);
                        *state = Block::Hold { number, shape: ArgumentShape::Same, held };
                    }
                    Looks::Plain => {
                        let held = std::mem::take(held);
                        *state = Block::Pass(number);
                        let piece = Piece::Arguments(held.text().at(text.pos()));
                        sink.event(Event::Delta { block: number, piece });
                    }
                }
            }
        }
    }

    fn close(&mut self, block: usize, tail: Tail<'_>, sink: &mut impl EventSink) {
        let Some(state) = self.blocks.get_mut(block) else { return };
        let (number, rest) = match state {
            Block::Pass(number) => (*number, None),
            Block::Peek { number, held } => (*number, Some(held.text().into_owned())),
            Block::Hold { number, shape, held } => {
                (*number, Some(restored(*shape, held.text()).into_owned()))
            }
            Block::Unwrap { number, input } => {
                let ended = input.finish();
                if ended.odd {
                    sink.ledger().degraded(Pos::START, Code::ArgumentsNotObject).detail(
                        "The model wrote more than the one text of a freeform call; what came behind it is left out.",
                    );
                }
                (*number, ended.rest.map(Str::plain))
            }
            Block::Whole { head, shape, held } => {
                if let Some(turn) = whole(head, *shape, held) {
                    return sink.event(Event::Whole(turn));
                }
                // The arguments do not have the tool's shape: the client gets
                // the call as the model made it.
                let (head, text) = (head.as_ref().clone(), held.text().into_owned());
                let number = self.number();
                sink.event(Event::Open { block: number, head: Head::Call(head) });
                (number, Some(text))
            }
        };
        if let Some(text) = rest.filter(|text| !text.is_empty()) {
            sink.event(Event::Delta { block: number, piece: Piece::Arguments(text) });
        }
        sink.event(Event::Close { block: number, tail });
    }
}

/// The arguments in the shape that the client declared.
fn restored(shape: ArgumentShape, text: Str<'_>) -> Str<'_> {
    let mut arguments = Arguments::Text(text);
    if let Some(raw) = crate::restore::unwrap_raw(&arguments) {
        arguments = Arguments::Text(raw);
    }
    if let Some(changed) = shape.restore(&arguments) {
        arguments = changed;
    }
    match arguments {
        Arguments::Text(text) | Arguments::Freeform(text) => text,
        Arguments::Json(json) | Arguments::Native(_, json) => Str::plain(json.into_text()),
    }
}

/// The input of a freeform call that is not wrapped as it was asked to be.
pub(super) fn freeform_input(json: String) -> String {
    restored(ArgumentShape::Freeform, Str::plain(json)).into_decoded().into_owned()
}

/// The call of a tool whose shape its vendor fixed.
fn whole(
    head: &CallHead<'static>,
    shape: ArgumentShape,
    held: &TextBuffer,
) -> Option<Turn<'static>> {
    let arguments = shape.restore(&Arguments::Text(held.text()))?;
    let call = head.clone().into_call(Pos::START, arguments.into_owned());
    Some(Turn::new(Pos::START, Role::Assistant, vec![Item::Call(call)]))
}

/// Whether calls of the tool become items of their own kind.
fn is_native(shape: ArgumentShape) -> bool {
    match shape {
        ArgumentShape::Native(kind) => match kind {
            NativeKind::Bash | NativeKind::TextEditor | NativeKind::Memory => false,
            NativeKind::LocalShell
            | NativeKind::Shell
            | NativeKind::ApplyPatch
            | NativeKind::ToolSearch
            | NativeKind::Computer => true,
        },
        ArgumentShape::Same | ArgumentShape::Freeform | ArgumentShape::Wrapped => false,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// Like arguments.
    Plain,
    /// Like arguments wrapped as text.
    Raw,
    /// It cannot be said yet.
    Open,
}

/// What arguments look like from their beginning.
fn looks_raw(text: &Str<'_>) -> Looks {
    // Almost every call shows in its first bytes that it is not wrapped: `{"c`.
    let spelled = text.spelled().as_bytes();
    if let [b'{', b'\\', b'"', first, ..] = spelled
        && *first != b'_'
        && *first != b'\\'
    {
        return Looks::Plain;
    }
    let decoded = text.decode();
    let mut rest = decoded.trim_start();
    for expected in ["{", "\"", RAW_KEY, "\""] {
        if rest.len() < expected.len() {
            return if expected.starts_with(rest) { Looks::Open } else { Looks::Plain };
        }
        match rest.strip_prefix(expected) {
            Some(after) => rest = if expected == "{" { after.trim_start() } else { after },
            None => return Looks::Plain,
        }
    }
    Looks::Raw
}
