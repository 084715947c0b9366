//! A stream: its blocks.

use super::ResponsesStreamWriter;
use super::event_writer::{self, EventWriter};
use super::items::{GroupKind, GroupMember};
use super::reasoning::ReasoningWriter;
use crate::codec::responses::calls_out::call_type;
use crate::codec::responses::citations_out::{annotations, report_citation};
use crate::codec::responses::content_out::{PartRole, write_part};
use crate::codec::responses::items_out::{ItemProgress, ItemWriter};
use crate::ledger::{Code, Ledger};
use crate::model::{Arguments, CallForm, CallHead, Event, Head, Item, Part, Piece, Tail};
use crate::wire::{Array, Pos, Raw, Read, Str, Write};

/// A block.
#[derive(Debug)]
pub(super) struct StreamBlock {
    /// The item it belongs to.
    pub(super) group: usize,
    /// The entry of the fold that it is.
    pub(super) entry: usize,
    pub(super) open: bool,
    pub(super) kind: BlockKind,
}

/// What a block is.
#[derive(Debug)]
pub(super) enum BlockKind {
    Part(MessagePart),
    Call {
        custom: bool,
        /// Where its events belong.
        place: Vec<u8>,
    },
    Reasoning(ReasoningWriter),
}

/// A text or a refusal.
#[derive(Debug)]
pub(super) struct MessagePart {
    refusal: bool,
    /// Where its events belong, once the client has been told about it.
    pub(super) place: Option<Vec<u8>>,
}

impl MessagePart {
    /// The part before it has any text.
    pub(super) fn empty(&self) -> &'static str {
        if self.refusal {
            r#"{"type":"refusal","refusal":""}"#
        } else {
            r#"{"type":"output_text","text":"","annotations":[],"logprobs":[]}"#
        }
    }
}

impl ResponsesStreamWriter {
    /// Begins a block.
    pub(super) fn open(&mut self, head: &Head<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let (group, kind) = match head {
            Head::Text(part) => self.open_part(part, out, ledger),
            Head::Refusal(part) => {
                self.refused = true;
                let (group, mut kind) = self.open_part(part, out, ledger);
                kind.refusal = true;
                (group, kind)
            }
            Head::Reasoning { id: _ } => {
                let (group, reasoning) = self.open_reasoning(out, ledger);
                return self.add_block(group, BlockKind::Reasoning(reasoning));
            }
            Head::Call(head) => {
                let (group, kind) = self.open_call(head, out, ledger);
                return self.add_block(group, kind);
            }
        };
        // The client is told about a text when it has something to say.
        let shows = kind.refusal;
        let block = self.blocks.len();
        self.add_block(group, BlockKind::Part(kind));
        if shows {
            self.announce(group, Some(block), out);
        }
    }

    fn add_block(&mut self, group: usize, kind: BlockKind) {
        let entry = self.fold.len().saturating_sub(1);
        let block = self.blocks.len();
        self.blocks.push(StreamBlock { group, entry, open: true, kind });
        if let Some(group) = self.groups.get_mut(group) {
            group.members.push(GroupMember::new(entry, 0, Some(block)));
            group.open += 1;
        }
    }

    fn open_part(
        &mut self,
        part: &Part<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> (usize, MessagePart) {
        let Part { message: _, phase, extra } = part;
        let number = self.message_group(out, ledger);
        ledger.only(extra);
        ledger.lost(phase, Code::Phase);
        (number, MessagePart { refusal: false, place: None })
    }

    fn open_call(
        &mut self,
        head: &CallHead<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> (usize, BlockKind) {
        let empty = Str::plain("");
        let arguments = match head.form {
            CallForm::Json => Arguments::Text(empty),
            CallForm::Freeform => Arguments::Freeform(empty),
        };
        let call = head.clone().into_call(Pos::NONE, arguments);
        let number = self.begin_group(GroupKind::Call, out, ledger);
        let (kind, prefix) = call_type(&call.arguments, &self.settings.profile);
        let output = self.place_group(number, prefix);
        self.begin_item_added(number, out);
        let mut writer = ItemWriter::new(&self.id, number as u64);
        writer.progress = ItemProgress::Running;
        let item = [Item::Call(call)];
        let mut cx = self.settings.context(ledger);
        writer.write(&item, &mut Array::elements_only(out), &mut cx);
        EventWriter::end(out);
        let id = self.groups.get(number).map_or("", |group| group.id.as_str());
        let place = event_writer::place(id, output);
        (number, BlockKind::Call { custom: kind == "custom_tool_call", place })
    }

    /// Writes a piece of a block. The fold has the piece already.
    pub(super) fn delta(
        &mut self,
        number: usize,
        piece: &Piece<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let (events, fold) = (&mut self.events, &self.fold);
        let Some(StreamBlock { group, entry, open: _, kind }) = self.blocks.get_mut(number) else {
            return;
        };
        match (kind, piece) {
            (BlockKind::Part(part), Piece::Text { text, logprobs }) => {
                let Some(place) = &part.place else {
                    if text.is_empty() {
                        return;
                    }
                    let group = *group;
                    self.announce(group, Some(number), out);
                    return self.delta_shown(number, text, logprobs.as_ref(), out, ledger);
                };
                write_text(events, part.refusal, place, text, logprobs.as_ref(), out, ledger);
            }
            (BlockKind::Part(_), Piece::Citation(citation)) => {
                // It is written when the text is complete, because it says where
                // in the text it belongs.
                report_citation(citation, ledger);
            }
            (BlockKind::Call { custom, place }, Piece::Arguments(text)) => {
                let head = if *custom { event_writer::INPUT } else { event_writer::ARGUMENTS };
                events.text_delta(head, place, text, out);
            }
            (BlockKind::Reasoning(reasoning), Piece::Summary { part, text }) => {
                let group = self.groups.get(*group);
                reasoning.summary.push(*part, text, (fold, *entry), group, events, out);
            }
            (BlockKind::Reasoning(reasoning), Piece::Reasoning { part, text }) => {
                let group = self.groups.get(*group);
                reasoning.content.push(*part, text, (fold, *entry), group, events, out);
            }
            // The grammar of events allows no other combination.
            (BlockKind::Part(_), Piece::Summary { part: _, text: _ })
            | (BlockKind::Part(_), Piece::Reasoning { part: _, text: _ })
            | (BlockKind::Part(_), Piece::Arguments(_))
            | (BlockKind::Call { custom: _, place: _ }, _)
            | (BlockKind::Reasoning(_), _) => {}
        }
    }

    fn delta_shown(
        &mut self,
        number: usize,
        text: &Str<'_>,
        logprobs: Option<&Raw<'_>>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let Some(block) = self.blocks.get(number) else { return };
        if let BlockKind::Part(MessagePart { refusal, place: Some(place) }) = &block.kind {
            write_text(&mut self.events, *refusal, place, text, logprobs, out, ledger);
        }
    }

    /// Ends a block.
    pub(super) fn close(
        &mut self,
        number: usize,
        tail: &Tail<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        ledger.only(&tail.extra);
        let Some(block) = self.blocks.get_mut(number) else { return };
        block.open = false;
        let (owner, entry) = (block.group, block.entry);
        match &mut block.kind {
            BlockKind::Part(_) => self.close_part(number, out),
            BlockKind::Call { custom: _, place: _ } => self.close_call(number, entry, out, ledger),
            BlockKind::Reasoning(reasoning) => {
                reasoning.finish((&self.fold, entry), &mut self.events, out);
            }
        }
        let last = owner + 1 == self.groups.len();
        let Some(group) = self.groups.get_mut(owner) else { return };
        group.open = group.open.saturating_sub(1);
        // Whether the last item is complete is known only when the model stops.
        if group.open == 0 && !last {
            self.finish_group(owner, ItemProgress::Whole, out, ledger);
        }
    }

    fn close_call(&mut self, number: usize, entry: usize, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let empty = self.fold.text(entry).is_empty();
        let json = self.blocks.get(number).is_some_and(|block| match &block.kind {
            BlockKind::Call { custom, place: _ } => !custom,
            BlockKind::Part(_) | BlockKind::Reasoning(_) => false,
        });
        if empty && json {
            // No text at all means an empty object.
            let piece = Piece::Arguments(Str::plain("{}"));
            self.fold.event(&Event::Delta { block: number, piece: piece.clone() });
            self.delta(number, &piece, out, ledger);
        }
        let (events, fold) = (&mut self.events, &self.fold);
        let Some(block) = self.blocks.get(number) else { return };
        let BlockKind::Call { custom, place } = &block.kind else { return };
        let text = fold.text(entry);
        EventWriter::make_room(text.size_hint(), out);
        if *custom {
            let kind = "response.custom_tool_call_input.done";
            return events.write(kind, place, out, |event| event.put("input", &text));
        }
        events.write("response.function_call_arguments.done", place, out, |event| {
            if let Some(Item::Call(call)) = fold.item(entry) {
                event.put("name", &call.name);
            }
            event.put("arguments", &text);
        });
    }

    /// Writes the events that end a part, if the client has been told about it.
    pub(super) fn close_part(&mut self, number: usize, out: &mut Vec<u8>) {
        let (events, fold) = (&mut self.events, &self.fold);
        let Some(block) = self.blocks.get(number) else { return };
        let BlockKind::Part(MessagePart { refusal, place: Some(place) }) = &block.kind else {
            return;
        };
        let Some(item) = fold.item(block.entry) else { return };
        let mut unreported = Ledger::default();
        let mut cx = self.settings.context(&mut unreported);
        let text = fold.text(block.entry);
        EventWriter::make_room(2 * text.size_hint(), out);
        if *refusal {
            events.write("response.refusal.done", place, out, |event| event.put("refusal", &text));
        } else if let Item::Text(found) = &item {
            let citations = found.citations.as_ref();
            let notes = citations.and_then(|list| annotations(list, &found.text, cx.ledger));
            let notes = notes.and_then(|notes| {
                let list = Vec::<Raw<'_>>::read(&mut notes.reader()).ok()?;
                Some(list.into_iter().map(Raw::into_owned).collect::<Vec<_>>())
            });
            for (index, annotation) in (0u64..).zip(notes.unwrap_or_default()) {
                events.write("response.output_text.annotation.added", place, out, |event| {
                    event.put("annotation_index", &index);
                    event.put("annotation", &annotation);
                });
            }
            events.write("response.output_text.done", place, out, |event| {
                event.put("text", &text);
                event.put("logprobs", found.logprobs.as_ref().unwrap_or(&Raw::made("[]")));
            });
        }
        events.write("response.content_part.done", place, out, |event| {
            let part = &mut Array::elements_only(event.key("part"));
            write_part(&item, PartRole::Answer, part, &mut cx);
        });
    }
}

fn write_text(
    events: &mut EventWriter,
    refusal: bool,
    place: &[u8],
    text: &Str<'_>,
    logprobs: Option<&Raw<'_>>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    if refusal {
        ledger.lost(&logprobs, Code::Logprobs);
        return events.text_delta(event_writer::REFUSAL, place, text, out);
    }
    if text.is_empty() && logprobs.is_none() {
        return;
    }
    events.delta(event_writer::TEXT, place, out);
    text.write_inside(out);
    out.extend_from_slice(b"\",\"logprobs\":");
    match logprobs {
        Some(logprobs) => logprobs.write(out),
        None => out.extend_from_slice(b"[]"),
    }
    out.extend_from_slice(b"}\n\n");
}
