//! A stream: from events to the protocol.
//!
//! Every event says at once what there is to say: pieces have numbers, so that
//! several may grow at a time.

pub(super) mod from_response;

use toolwire::codec::StreamWriter;
use toolwire::model::{
    CallForm, CallHead, Event, Head, Part, Piece, ResponseContext, Start, Tail, Turn,
};
use toolwire::stateful::WrittenEnding;
use toolwire::wire::sse::write_event;
use toolwire::wire::{Array, Object, Pos, Str};
use toolwire::{Code, Ledger};

use super::content_out::same_vendor;
use super::response_out::Pieces;
use super::{calls_out, error_out, reasoning_out, stop_out, usage_out};

/// A stream being written.
pub(super) struct FourthStreamWriter {
    context: ResponseContext,
    pieces: Pieces,
    /// What each block is.
    kinds: Vec<BlockKind>,
}

#[derive(Clone, Copy)]
enum BlockKind {
    Text,
    Refusal,
    Reasoning,
    Call(CallForm),
}

impl FourthStreamWriter {
    pub(super) fn new(context: ResponseContext) -> Self {
        let pieces = Pieces { scope: String::new(), same_vendor: false, calls: 0 };
        Self { context, pieces, kinds: Vec::new() }
    }
}

impl StreamWriter for FourthStreamWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        match event {
            Event::Start(start) => self.start(start, out),
            Event::Open { block, head } => self.open(*block, head, out, ledger),
            Event::Delta { block, piece } => self.grow(*block, piece, out, ledger),
            Event::Close { block, tail } => {
                let Tail { sealed, extra } = tail;
                ledger.only(extra);
                write(out, "ended", |event| {
                    event.put("n", &(*block as u64));
                    if let Some(sealed) = sealed {
                        event.put("seal", &reasoning_out::seal(sealed, None));
                    }
                });
            }
            Event::Whole(turn) => self.whole(turn, out, ledger),
            Event::About { tier, extra } => {
                if let Some(tier) = tier {
                    ledger.dropped(tier.pos(), Code::Tier).info();
                }
                ledger.only(extra);
            }
            Event::Usage(usage) => {
                write(out, "spent", |event| usage_out::encode(usage, event, ledger));
            }
            Event::Stop { stop, extra } => {
                let calls = self.pieces.calls > 0;
                write(out, "because", |event| stop_out::encode(stop, calls, event, ledger));
                ledger.only(extra);
            }
            Event::End => {}
            Event::Error(error) => write_event(Some("fault"), out, |out| {
                error_out::encode(error, out);
            }),
        }
    }

    fn write_end(&mut self, out: &mut Vec<u8>) -> Option<WrittenEnding> {
        write(out, "closed", |_event| {});
        None
    }

    fn retract_end(&mut self) {
        // It writes an error wherever there is one.
    }
}

impl FourthStreamWriter {
    fn start(&mut self, start: &Start<'_>, out: &mut Vec<u8>) {
        let Start { origin, id, model, created } = start;
        self.pieces.scope = id.as_ref().map(|id| id.decode().into_owned()).unwrap_or_default();
        self.pieces.same_vendor = same_vendor(*origin);
        let asked = self.context.model.as_deref().map(Str::from);
        write(out, "opened", |event| {
            event.maybe("ref", id.as_ref());
            event.maybe("by", model.as_ref().or(asked.as_ref()));
            event.maybe("when", created.as_ref());
        });
    }

    fn open(&mut self, block: usize, head: &Head<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let (scope, calls) = (&self.pieces.scope, self.pieces.calls);
        let kind = write(out, "began", |event| {
            event.put("n", &(block as u64));
            let mut piece = event.object("piece");
            match head {
                Head::Text(part) => {
                    lose_part(part, ledger);
                    piece.put("say", "");
                    BlockKind::Text
                }
                Head::Refusal(part) => {
                    lose_part(part, ledger);
                    piece.put("decline", "");
                    BlockKind::Refusal
                }
                Head::Reasoning { id } => {
                    if let Some(id) = id {
                        ledger.dropped(id.pos(), Code::ItemId).info();
                    }
                    drop(piece.array("think"));
                    BlockKind::Reasoning
                }
                Head::Call(CallHead { id, name, namespace, form, caller, extra }) => {
                    let mut action = piece.object("do");
                    let (id, namespace) = (id.as_ref(), namespace.as_ref());
                    let at = name.pos();
                    calls_out::write_head(
                        at, id, name, namespace, scope, calls, &mut action, ledger,
                    );
                    if *form == CallForm::Freeform {
                        action.put("write", "");
                    }
                    if let Some(caller) = caller {
                        ledger.dropped(caller.pos(), Code::ProgrammaticCallers).info();
                    }
                    ledger.only(extra);
                    BlockKind::Call(*form)
                }
            }
        });
        self.pieces.calls += usize::from(matches!(kind, BlockKind::Call(_)));
        self.kinds.push(kind);
    }

    fn grow(&mut self, block: usize, piece: &Piece<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let kind = self.kinds.get(block).copied().unwrap_or(BlockKind::Text);
        let (part, text) = match piece {
            Piece::Text { text, logprobs } => {
                if let Some(logprobs) = logprobs {
                    ledger.dropped(logprobs.pos(), Code::Logprobs).info();
                }
                (None, text)
            }
            Piece::Summary { part, text } | Piece::Reasoning { part, text } => (Some(*part), text),
            Piece::Arguments(text) => (None, text),
            Piece::Citation(raw) => {
                ledger.dropped(raw.pos(), Code::Citations);
                return;
            }
        };
        let member = match (kind, piece) {
            (BlockKind::Refusal, _) => "decline",
            (BlockKind::Reasoning, Piece::Summary { part: _, text: _ }) => "gist",
            (BlockKind::Reasoning, _) => "think",
            (BlockKind::Call(CallForm::Json), _) => "with",
            (BlockKind::Call(CallForm::Freeform), _) => "write",
            (BlockKind::Text, _) => "say",
        };
        write(out, "grew", |event| {
            event.put("n", &(block as u64));
            event.maybe("part", part.map(|part| part as u64).as_ref());
            event.put(member, text);
        });
    }

    /// Something that comes in one piece has no number.
    fn whole(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let items = &turn.items;
        let mut labels = Turn { items: Vec::new(), ..turn.clone() };
        for item in items {
            labels.items = vec![item.clone()];
            let mut list = Vec::new();
            self.pieces.write_turn(&labels, &mut Array::elements_only(&mut list), ledger);
            // What a turn loses is reported with its first item.
            labels = Turn::new(Pos::NONE, turn.role.clone(), Vec::new());
            if !list.is_empty() {
                write(out, "began", |event| event.key("piece").extend_from_slice(&list));
            }
        }
    }
}

fn lose_part(part: &Part<'_>, ledger: &mut Ledger) {
    let Part { message: _, phase, extra } = part;
    if let Some(phase) = phase {
        ledger.dropped(phase.pos(), Code::Phase).info();
    }
    ledger.only(extra);
}

fn write<T>(out: &mut Vec<u8>, name: &str, members: impl FnOnce(&mut Object<'_>) -> T) -> T {
    let mut result = None;
    write_event(Some(name), out, |out| result = Some(members(&mut Object::new(out))));
    result.expect("the event is written at once")
}
