//! An answer that is written as a stream.

use super::calls::CallWriter;
use super::chunk::ChunkWriter;
use super::deferred::{CitedTexts, EnvelopeBuffer, ReasoningKind};
use crate::codec::chat::response_losses_out::report_item_loss;
use crate::codec::chat::response_out::write_tier;
use crate::codec::chat::turns_out::report_member_losses;
use crate::codec::chat::{stop_out, usage_out};
use crate::ledger::{Code, Ledger};
use crate::model::{
    CallForm, CallHead, Head, Item, Part, Piece, Protocol, Reasoning, ResponseContext, Start, Stop,
    Tail, Turn, Usage,
};
use crate::wire::{At, Extra, Object, Pos, Str};

/// What has been written of an answer, and what has to wait for its end.
#[derive(Debug)]
pub(super) struct StreamedAnswer {
    chunks: ChunkWriter,
    origin: Protocol,
    stream_usage: bool,
    /// By number.
    blocks: Vec<BlockState>,
    calls: CallWriter,
    texts: CitedTexts,
    has_refusal: bool,
    /// The number of the message that the last text belongs to.
    message: Option<usize>,
    envelopes: EnvelopeBuffer,
    usage: Vec<u8>,
    tier: Vec<u8>,
    finish_reason: Option<&'static str>,
    explanation: Option<Str<'static>>,
}

#[derive(Clone, Copy, Debug)]
enum BlockState {
    /// The text with that number.
    Text(usize),
    Refusal,
    /// The reasoning with that number.
    Reasoning(usize),
    Call {
        ordinal: usize,
        form: CallForm,
        /// Whether no arguments have been written.
        bare: bool,
    },
    /// One that the client has no room for.
    Omitted,
}

impl StreamedAnswer {
    pub(super) fn new(start: &Start<'_>, context: &ResponseContext) -> Self {
        let Start { origin, id: _, model: _, created: _ } = start;
        Self {
            chunks: ChunkWriter::new(start, context),
            origin: *origin,
            stream_usage: context.stream_usage,
            blocks: Vec::new(),
            calls: CallWriter::new(start, context),
            texts: CitedTexts::default(),
            has_refusal: false,
            message: None,
            envelopes: EnvelopeBuffer::default(),
            usage: Vec::new(),
            tier: Vec::new(),
            finish_reason: None,
            explanation: None,
        }
    }

    pub(super) fn open(
        &mut self,
        number: usize,
        head: &Head<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let block = match head {
            Head::Text(part) => self.open_text(part, out, ledger),
            Head::Refusal(part) => {
                Self::report_part_losses(part, ledger);
                self.has_refusal = true;
                BlockState::Refusal
            }
            Head::Reasoning { id: _ } => BlockState::Reasoning(self.open_reasoning()),
            Head::Call(head) => self.open_call(head, out, ledger),
        };
        debug_assert_eq!(number, self.blocks.len(), "blocks are opened in order");
        self.blocks.push(block);
    }

    pub(super) fn push(
        &mut self,
        number: usize,
        piece: &Piece<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let Some(block) = self.blocks.get_mut(number) else { return };
        match (block, piece) {
            (BlockState::Text(at), Piece::Text { text, logprobs }) => {
                self.texts.push(*at, text);
                let logprobs = logprobs.as_ref().filter(|list| !list.is_empty());
                if !text.is_empty() || logprobs.is_some() {
                    self.chunks.content(text, logprobs, out);
                }
            }
            (BlockState::Refusal, Piece::Text { text, logprobs }) => {
                let logprobs = logprobs.as_ref().filter(|list| !list.is_empty());
                if !text.is_empty() {
                    self.chunks.refusal(text, logprobs, out);
                }
            }
            (BlockState::Text(at), Piece::Citation(citation)) => {
                self.texts.cite(*at, citation, ledger);
            }
            (BlockState::Reasoning(at), Piece::Summary { part, text }) => {
                let at = *at;
                self.write_reasoning(at, ReasoningKind::Summary, *part, text, out);
            }
            (BlockState::Reasoning(at), Piece::Reasoning { part, text }) => {
                let at = *at;
                self.write_reasoning(at, ReasoningKind::Full, *part, text, out);
            }
            (BlockState::Call { ordinal, form, bare }, Piece::Arguments(text)) => {
                if text.is_empty() {
                    return;
                }
                *bare = false;
                let (ordinal, form) = (*ordinal, *form);
                self.calls.write_arguments(ordinal, form, text, &mut self.chunks, out);
            }
            (BlockState::Omitted, Piece::Arguments(_)) => {}
            (block, piece) => debug_assert!(false, "{block:?} does not grow by {piece:?}"),
        }
    }

    pub(super) fn close(
        &mut self,
        number: usize,
        tail: &Tail<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let Tail { sealed, extra } = tail;
        ledger.only(extra);
        let Some(block) = self.blocks.get(number) else { return };
        match block {
            BlockState::Call { ordinal, form: CallForm::Json, bare: true } => {
                let ordinal = *ordinal;
                let empty = Str::plain("{}");
                self.calls.write_arguments(ordinal, CallForm::Json, &empty, &mut self.chunks, out);
            }
            BlockState::Reasoning(at) => self.envelopes.seal(*at, sealed.as_ref()),
            BlockState::Text(_)
            | BlockState::Refusal
            | BlockState::Call { ordinal: _, form: _, bare: _ }
            | BlockState::Omitted => {}
        }
    }

    pub(super) fn write_whole(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let Turn { at, role: _, slot: _, items, id: _, name: _, status: _, phase, extra: _ } = turn;
        report_member_losses(turn, ledger);
        ledger.lost(phase, Code::Phase);
        for item in items {
            match item {
                Item::Call(call) => self.calls.write_whole(call, &mut self.chunks, out, ledger),
                Item::Reasoning(reasoning) => self.write_whole_reasoning(reasoning, out, ledger),
                Item::Text(text) => {
                    let part = Part { message: 0, phase: None, extra: Vec::new() };
                    if let BlockState::Text(at) = self.open_text(&part, out, ledger) {
                        self.texts.push(at, &text.text);
                    }
                    ledger.only(&text.extra);
                    self.chunks.content(&text.text, text.logprobs.as_ref(), out);
                }
                Item::Refusal(refusal) => {
                    self.has_refusal = true;
                    ledger.only(&refusal.extra);
                    self.chunks.refusal(&refusal.text, None, out);
                }
                Item::Hosted(_)
                | Item::Opaque(_)
                | Item::Json(_)
                | Item::Audio(_)
                | Item::Image(_)
                | Item::Document(_)
                | Item::SearchResult(_)
                | Item::ToolReference(_)
                | Item::Tools(_)
                | Item::Result(_) => report_item_loss(item, *at, ledger),
            }
        }
    }

    pub(super) fn set_tier(
        &mut self,
        tier: Option<&Str<'_>>,
        extra: &[Extra<'_>],
        ledger: &mut Ledger,
    ) {
        if tier.is_some() {
            self.tier.clear();
            write_tier(&mut Object::members_only(&mut self.tier), tier, self.origin, ledger);
        }
        ledger.only(extra);
    }

    pub(super) fn set_usage(&mut self, usage: &Usage<'_>, ledger: &mut Ledger) {
        if self.stream_usage {
            self.usage.clear();
            usage_out::write(&mut Object::members_only(&mut self.usage), usage, ledger);
        }
    }

    /// Takes the reason to stop. It is written at the end, because it tells the
    /// client that the answer is complete.
    pub(super) fn set_stop(
        &mut self,
        stop: &At<Stop<'_>>,
        extra: &[Extra<'_>],
        ledger: &mut Ledger,
    ) {
        ledger.only(extra);
        let word = self.calls.finish_reason(&stop.value, self.origin);
        self.finish_reason = Some(word);
        stop_out::report_losses(stop, self.origin, ledger);
        if let Stop::Refusal { category: _, explanation: Some(text) } = &stop.value
            && !self.has_refusal
        {
            self.explanation = Some(text.clone().into_owned());
        }
    }

    pub(super) fn end(&mut self, out: &mut Vec<u8>, ledger: &mut Ledger) {
        if let Some(text) = self.explanation.take() {
            self.chunks.refusal(&text, None, out);
        }
        self.write_deferred(out, ledger);
        let word = self.finish_reason.take().unwrap_or("stop");
        self.chunks.finish(word, &self.tier, out);
        if self.stream_usage {
            if self.usage.is_empty() {
                ledger.dropped(Pos::START, Code::UsageMissing).key("usage").info();
            } else {
                self.chunks.usage(&self.usage, &self.tier, out);
            }
        }
    }

    fn report_part_losses(part: &Part<'_>, ledger: &mut Ledger) {
        let Part { message: _, phase, extra } = part;
        ledger.lost(phase, Code::Phase);
        ledger.only(extra);
    }

    fn open_text(&mut self, part: &Part<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) -> BlockState {
        Self::report_part_losses(part, ledger);
        if self.message.is_some_and(|last| last != part.message) {
            ledger.degraded(Pos::START, Code::MessageBoundary);
        }
        self.message = Some(part.message);
        if !self.calls.is_empty() {
            ledger.moved(Pos::START, Code::Interleaving);
        }
        self.chunks.begin_content(out);
        BlockState::Text(self.texts.open())
    }

    fn open_reasoning(&mut self) -> usize {
        self.envelopes.open(self.calls.len(), !self.texts.is_empty(), self.has_refusal)
    }

    fn write_reasoning(
        &mut self,
        at: usize,
        kind: ReasoningKind,
        part: usize,
        text: &Str<'_>,
        out: &mut Vec<u8>,
    ) {
        let with_gap = self.envelopes.push(at, kind, part, text);
        if text.is_empty() {
            return;
        }
        self.chunks.delta(out, |out| {
            out.extend_from_slice(br#""reasoning_content":""#);
            if with_gap {
                out.extend_from_slice(br"\n\n");
            }
            text.write_inside(out);
            out.push(b'"');
        });
    }

    fn open_call(
        &mut self,
        head: &CallHead<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> BlockState {
        match self.calls.open(head, &mut self.chunks, out, ledger) {
            Some(ordinal) => BlockState::Call { ordinal, form: head.form, bare: true },
            None => BlockState::Omitted,
        }
    }

    fn write_whole_reasoning(
        &mut self,
        reasoning: &Reasoning<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let Reasoning { at: _, summary, content, sealed, place: _, extra } = reasoning;
        let at = self.open_reasoning();
        for (kind, texts) in [(ReasoningKind::Summary, summary), (ReasoningKind::Full, content)] {
            for (part, text) in texts.iter().enumerate() {
                self.write_reasoning(at, kind, part, text, out);
            }
        }
        ledger.only(extra);
        self.envelopes.seal(at, sealed.as_ref());
    }

    /// Writes what is known only at the end: the place of each piece of sealed
    /// reasoning, and the texts that citations are about.
    fn write_deferred(&mut self, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let mut members = Vec::new();
        {
            let mut object = Object::members_only(&mut members);
            self.texts.write(&mut object);
            self.envelopes.write(&mut object, !self.texts.is_empty(), self.has_refusal, ledger);
        }
        if !members.is_empty() {
            self.chunks.delta(out, |out| out.extend_from_slice(&members));
        }
    }
}
