//! An answer that is being written for a client as a stream.

use super::chunk::{ChunkWriter, DONE};
use super::deferred::{CitedTexts, EnvelopeBuffer};
use crate::codec::chat::calls_out::put_arguments;
use crate::codec::chat::response_out::{
    call_losses, head_losses, item_loss, legacy_loss, write_tier,
};
use crate::codec::chat::turns_out::member_losses;
use crate::codec::chat::{stop_out, usage_out};
use crate::ledger::{Code, Ledger};
use crate::model::{
    Arguments, Call, CallForm, CallHead, Head, Item, Part, Piece, Protocol, Reasoning,
    ResponseContext, Start, Stop, Tail, Turn, Usage,
};
use crate::wire::{At, Extra, Object, Pos, Raw, Str, ids};

/// What has been written of an answer, and what must wait for its end.
#[derive(Debug)]
pub(super) struct StreamedAnswer {
    chunks: ChunkWriter,
    origin: Protocol,
    /// The upstream's id.
    upstream: String,
    legacy: bool,
    stream_usage: bool,
    /// By their numbers.
    blocks: Vec<BlockState>,
    calls: usize,
    texts: CitedTexts,
    refused: bool,
    /// The message that the last text belongs to.
    message: Option<usize>,
    envelopes: EnvelopeBuffer,
    usage: Vec<u8>,
    tier: Vec<u8>,
    finish: Option<&'static str>,
    explanation: Option<Str<'static>>,
}

#[derive(Clone, Copy, Debug)]
enum BlockState {
    /// The text of that number.
    Text(usize),
    Refusal,
    /// The thought of that number.
    Reasoning(usize),
    Call {
        ordinal: usize,
        form: CallForm,
        /// Whether no arguments have been written.
        bare: bool,
    },
    /// One that the client has no place for.
    Omitted,
}

impl StreamedAnswer {
    pub(super) fn new(start: &Start<'_>, context: &ResponseContext) -> Self {
        let Start { origin, id, model: _, created: _ } = start;
        Self {
            chunks: ChunkWriter::new(start, context),
            origin: *origin,
            upstream: id.as_ref().map(|id| id.decode().into_owned()).unwrap_or_default(),
            legacy: context.legacy_functions,
            stream_usage: context.stream_usage,
            blocks: Vec::new(),
            calls: 0,
            texts: CitedTexts::default(),
            refused: false,
            message: None,
            envelopes: EnvelopeBuffer::default(),
            usage: Vec::new(),
            tier: Vec::new(),
            finish: None,
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
                Self::part_losses(part, ledger);
                self.refused = true;
                BlockState::Refusal
            }
            Head::Reasoning { id: _ } => BlockState::Reasoning(self.open_reasoning()),
            Head::Call(head) => self.open_call(head, out, ledger),
        };
        debug_assert_eq!(number, self.blocks.len(), "blocks are opened in order");
        self.blocks.push(block);
    }

    pub(super) fn grow(
        &mut self,
        number: usize,
        piece: &Piece<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let Some(block) = self.blocks.get_mut(number) else { return };
        match (block, piece) {
            (BlockState::Text(at), Piece::Text { text, logprobs }) => {
                self.texts.grow(*at, text);
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
            (BlockState::Text(at), Piece::Citation(raw)) => {
                self.texts.cite(*at, raw, ledger);
            }
            (BlockState::Reasoning(at), Piece::Summary { part, text }) => {
                let at = *at;
                self.write_reasoning(at, false, *part, text, out);
            }
            (BlockState::Reasoning(at), Piece::Reasoning { part, text }) => {
                let at = *at;
                self.write_reasoning(at, true, *part, text, out);
            }
            (BlockState::Call { ordinal, form, bare }, Piece::Arguments(text)) => {
                if text.is_empty() {
                    return;
                }
                *bare = false;
                let (ordinal, form) = (*ordinal, *form);
                self.arguments(ordinal, form, text, out);
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
                self.arguments(ordinal, CallForm::Json, &Str::plain("{}"), out);
            }
            BlockState::Reasoning(at) => self.envelopes.seal(*at, sealed.as_ref()),
            BlockState::Text(_)
            | BlockState::Refusal
            | BlockState::Call { ordinal: _, form: _, bare: _ }
            | BlockState::Omitted => {}
        }
    }

    pub(super) fn whole(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let Turn { at, role: _, slot: _, items, id: _, name: _, status: _, phase, extra: _ } = turn;
        member_losses(turn, ledger);
        if let Some(phase) = phase {
            ledger.dropped(phase.pos(), Code::Phase);
        }
        for item in items {
            match item {
                Item::Call(call) => self.whole_call(call, out, ledger),
                Item::Reasoning(reasoning) => self.whole_reasoning(reasoning, out, ledger),
                Item::Text(text) => {
                    let part = Part { message: 0, phase: None, extra: Vec::new() };
                    if let BlockState::Text(at) = self.open_text(&part, out, ledger) {
                        self.texts.grow(at, &text.text);
                    }
                    ledger.only(&text.extra);
                    self.chunks.content(&text.text, text.logprobs.as_ref(), out);
                }
                Item::Refusal(refusal) => {
                    self.refused = true;
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
                | Item::Result(_) => item_loss(item, *at, ledger),
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

    pub(super) fn set_usage(&mut self, counted: &Usage<'_>, ledger: &mut Ledger) {
        if self.stream_usage {
            self.usage.clear();
            usage_out::write(&mut Object::members_only(&mut self.usage), counted, ledger);
        }
    }

    /// Why the model stopped. The client learns it at the end only, since it
    /// is what ends the answer well.
    pub(super) fn stop(&mut self, stop: &At<Stop<'_>>, extra: &[Extra<'_>], ledger: &mut Ledger) {
        ledger.only(extra);
        let word = stop_out::word(&stop.value, self.origin, self.calls > 0, self.legacy);
        self.finish = Some(word);
        stop_out::losses(stop, self.origin, ledger);
        if let Stop::Refusal { category: _, explanation: Some(text) } = &stop.value
            && !self.refused
        {
            self.explanation = Some(text.clone().into_owned());
        }
    }

    pub(super) fn end(&mut self, out: &mut Vec<u8>, ledger: &mut Ledger) {
        if let Some(text) = self.explanation.take() {
            self.chunks.refusal(&text, None, out);
        }
        self.write_deferred(out, ledger);
        let word = self.finish.take().unwrap_or("stop");
        self.chunks.finish(word, &self.tier, out);
        if self.stream_usage {
            if self.usage.is_empty() {
                ledger.dropped(Pos::START, Code::UsageMissing).key("usage").info();
            } else {
                self.chunks.usage(&self.usage, &self.tier, out);
            }
        }
        out.extend_from_slice(DONE);
    }

    fn part_losses(part: &Part<'_>, ledger: &mut Ledger) {
        let Part { message: _, phase, extra } = part;
        if let Some(phase) = phase {
            ledger.dropped(phase.pos(), Code::Phase);
        }
        ledger.only(extra);
    }

    fn open_text(&mut self, part: &Part<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) -> BlockState {
        Self::part_losses(part, ledger);
        if self.message.is_some_and(|last| last != part.message) {
            ledger.degraded(Pos::START, Code::MessageBoundary);
        }
        self.message = Some(part.message);
        if self.calls > 0 {
            ledger.moved(Pos::START, Code::Interleaving);
        }
        self.chunks.begin_content(out);
        BlockState::Text(self.texts.open())
    }

    fn open_reasoning(&mut self) -> usize {
        self.envelopes.open(self.calls, !self.texts.is_empty(), self.refused)
    }

    fn write_reasoning(
        &mut self,
        at: usize,
        raw: bool,
        part: usize,
        text: &Str<'_>,
        out: &mut Vec<u8>,
    ) {
        let apart = self.envelopes.grow(at, raw, part, text);
        if text.is_empty() {
            return;
        }
        self.chunks.delta(out, |out| {
            out.extend_from_slice(br#""reasoning_content":""#);
            if apart {
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
        let CallHead { id, name, namespace, form, caller, extra } = head;
        if !self.begin_call(id.as_ref(), name, *form, Pos::START, out, ledger) {
            return BlockState::Omitted;
        }
        head_losses(namespace.as_ref(), caller.as_ref(), extra, ledger);
        BlockState::Call { ordinal: self.calls - 1, form: *form, bare: true }
    }

    /// Writes the header of a call. `false` if the client has no room for it.
    fn begin_call(
        &mut self,
        id: Option<&Str<'_>>,
        name: &Str<'_>,
        form: CallForm,
        at: Pos,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> bool {
        let ordinal = self.calls;
        self.calls += 1;
        if self.legacy {
            if ordinal > 0 {
                legacy_loss(at, ledger);
                return false;
            }
            if let Some(id) = id {
                ledger.dropped(id.pos(), Code::CallId).info();
            }
            self.chunks.delta(out, |out| {
                let mut members = Object::members_only(out);
                let mut function = members.object("function_call");
                function.put("name", name);
                function.put("arguments", "");
            });
            return true;
        }
        let upstream = &self.upstream;
        self.chunks.delta(out, |out| {
            let mut members = Object::members_only(out);
            let mut array = members.array("tool_calls");
            let mut call = array.object();
            call.put("index", &(ordinal as u64));
            match id {
                Some(id) if !id.is_empty() => call.put("id", id),
                Some(_) | None => call.put("id", &ids::mint(upstream, ordinal)),
            }
            let (kind, text) = match form {
                CallForm::Json => ("function", "arguments"),
                CallForm::Freeform => ("custom", "input"),
            };
            call.put("type", kind);
            let mut inner = call.object(kind);
            inner.put("name", name);
            inner.put(text, "");
        });
        true
    }

    fn arguments(&mut self, ordinal: usize, form: CallForm, text: &Str<'_>, out: &mut Vec<u8>) {
        match (self.legacy, form) {
            (false, CallForm::Json) => self.chunks.arguments(ordinal, text, out),
            (false, CallForm::Freeform) => self.chunks.delta(out, |out| {
                let mut members = Object::members_only(out);
                let mut array = members.array("tool_calls");
                let mut call = array.object();
                call.put("index", &(ordinal as u64));
                call.object("custom").put("input", text);
            }),
            (true, CallForm::Json | CallForm::Freeform) => self.chunks.delta(out, |out| {
                let mut members = Object::members_only(out);
                members.object("function_call").put("arguments", text);
            }),
        }
    }

    /// A call that comes in one piece, such as one of a vendor's own shape.
    fn whole_call(&mut self, call: &Call<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let form = match &call.arguments {
            Arguments::Freeform(_) if !self.legacy => CallForm::Freeform,
            Arguments::Freeform(_)
            | Arguments::Text(_)
            | Arguments::Json(_)
            | Arguments::Native(_, _) => CallForm::Json,
        };
        if !self.begin_call(call.id.as_ref(), &call.name, form, call.at, out, ledger) {
            return;
        }
        let ordinal = self.calls - 1;
        call_losses(call, ledger);
        if let (Arguments::Freeform(text), CallForm::Freeform) = (&call.arguments, form) {
            return self.arguments(ordinal, form, text, out);
        }
        let mut written = Vec::new();
        put_arguments(&mut Object::members_only(&mut written), &call.arguments, false);
        // What was written is `"arguments":"…"`.
        let written = String::from_utf8(written).unwrap_or_default();
        let literal = Raw::made(written.strip_prefix(r#""arguments":"#).unwrap_or_default());
        if let Ok(text) = literal.reader().string() {
            self.arguments(ordinal, form, &text, out);
        }
    }

    fn whole_reasoning(
        &mut self,
        reasoning: &Reasoning<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let Reasoning { at: _, summary, content, sealed, place: _, extra } = reasoning;
        let at = self.open_reasoning();
        for (raw, texts) in [(false, summary), (true, content)] {
            for (part, text) in texts.iter().enumerate() {
                self.write_reasoning(at, raw, part, text, out);
            }
        }
        ledger.only(extra);
        self.envelopes.seal(at, sealed.as_ref());
    }

    /// Writes what is known only when everything has been said: where each
    /// piece of sealed reasoning stood, and what the citations are about.
    fn write_deferred(&mut self, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let mut members = Vec::new();
        {
            let mut object = Object::members_only(&mut members);
            self.texts.write(&mut object);
            self.envelopes.write(&mut object, !self.texts.is_empty(), self.refused, ledger);
        }
        if !members.is_empty() {
            self.chunks.delta(out, |out| out.extend_from_slice(&members));
        }
    }
}
