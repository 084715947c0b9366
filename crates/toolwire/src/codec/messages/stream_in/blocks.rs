//! The blocks of a stream while they are being read.

use std::collections::BTreeMap;

use super::super::wire::{
    BlockDelta, BlockStart, BlockStop, CallStart, Delta, TextStart, ThinkingBlock,
};
use super::super::{reasoning_in, turns_in};
use super::text_delta::{Grows, Growth};
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{CallForm, CallHead, Event, Head, Own, Part, Piece, Role, Tail, Turn};
use crate::wire::{
    Extra, Kind, Object, Pos, Raw, Read, ReadError, Reader, Str, TextBuffer, Write, read_fields,
};

/// The blocks that have begun and not ended, by the vendor's index.
///
/// The API has one open at a time. Relays forget to end one, or mix two, so any
/// number may be open, and none loses what still comes for it.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    open: BTreeMap<u64, Live>,
    /// The number of the next block that is handed on as one.
    next: usize,
    called: bool,
}

/// A block that has begun.
#[derive(Debug)]
enum Live {
    Text {
        block: usize,
    },
    Call(Call),
    Thinking(Thinking),
    /// Handed on whole when it ends, since it grows until then.
    Held(Held),
    /// Handed on whole when it began.
    Given,
}

#[derive(Debug)]
struct Call {
    block: usize,
    /// Its id, by which a start that comes twice is known.
    id: Option<String>,
    /// Arguments that came with the start of the block. They count only if no
    /// others follow: so the vendor's own libraries have it.
    input: Option<String>,
}

#[derive(Debug)]
struct Thinking {
    block: usize,
    signature: TextBuffer,
    /// Whether the block has a text of which nothing has come.
    untold: bool,
    extra: Vec<Extra<'static>>,
}

/// A block of a vendor's own tool, or a summary of the conversation.
#[derive(Debug)]
struct Held {
    block: String,
    input: String,
    /// Members that replace those of the start.
    members: Vec<Extra<'static>>,
}

impl Blocks {
    /// Whether the model has called a tool that the client runs.
    pub(super) fn called(&self) -> bool {
        self.called
    }

    /// A block begins.
    pub(super) fn start(
        &mut self,
        event: BlockStart<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let BlockStart { at, kind: _, index, content_block, extra } = event;
        report(&extra, sink);
        let block = content_block.ok_or_else(|| ReadError::missing(at, "content_block"))?;
        let free = self.open.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
        let index = index.map_or(free, |index| index.value);
        if let Some(forgotten) = self.open.remove(&index) {
            if forgotten.is_begun_by(&block)? {
                let note = sink.ledger().dropped(at, Code::UnknownItem);
                note.detail("The upstream began a call a second time.");
                self.open.insert(index, forgotten);
                return Ok(());
            }
            end(forgotten, sink);
        }
        let live = self.begin(&block, sink)?;
        self.open.insert(index, live);
        Ok(())
    }

    /// A block grows. Whether the event belongs to it.
    pub(super) fn delta(&mut self, event: BlockDelta<'_>, sink: &mut dyn EventSink) -> bool {
        let BlockDelta { at, kind: _, index, delta, extra } = event;
        report(&extra, sink);
        let Some(delta) = delta else { return false };
        let Some(live) = self.find(index.map(|index| index.value)) else {
            let note = sink.ledger().dropped(at, Code::UnknownItem);
            note.detail("The upstream sent a piece of a block that is not open.");
            return false;
        };
        grow(live, delta, sink)
    }

    /// A block grows by a text of its own kind.
    pub(super) fn grow(&mut self, grows: Grows, text: Str<'_>, sink: &mut dyn EventSink) {
        let Grows { index, kind } = grows;
        match (kind, self.find(index)) {
            (Growth::Text, Some(Live::Text { block })) => say(*block, text, sink),
            (Growth::Thinking, Some(Live::Thinking(live))) => live.say(text, sink),
            (Growth::Input, Some(Live::Call(call))) => call.argue(text, sink),
            (Growth::Input, Some(Live::Held(held))) => held.input.push_str(&text.decode()),
            (kind, live) => debug_assert!(false, "{live:?} does not grow by {kind:?}"),
        }
    }

    /// The open block that an event is about.
    fn find(&mut self, index: Option<u64>) -> Option<&mut Live> {
        match index {
            Some(index) => self.open.get_mut(&index),
            None => self.open.values_mut().next_back(),
        }
    }

    /// A block ends.
    pub(super) fn stop(&mut self, event: BlockStop<'_>, sink: &mut dyn EventSink) {
        let BlockStop { at: _, kind: _, index, extra } = event;
        report(&extra, sink);
        let live = match index {
            Some(index) => self.open.remove(&index.value),
            None => self.open.pop_last().map(|(_, live)| live),
        };
        if let Some(live) = live {
            end(live, sink);
        }
    }

    /// Every block has ended, whether the upstream said so or not.
    pub(super) fn stop_all(&mut self, sink: &mut dyn EventSink) {
        for live in std::mem::take(&mut self.open).into_values() {
            end(live, sink);
        }
    }

    fn begin(&mut self, raw: &Raw<'_>, sink: &mut dyn EventSink) -> Result<Live, ReadError> {
        let mut reader = raw.reader();
        let kind = reader.tag("type")?;
        match kind.as_ref().map(Str::decode).as_deref() {
            Some("text") => self.text(TextStart::read(&mut reader)?, sink),
            Some("tool_use") => self.call(CallStart::read(&mut reader)?, sink),
            Some("thinking") => {
                let block = ThinkingBlock::read(&mut reader)?;
                Ok(self.thinking(block, sink))
            }
            Some("server_tool_use" | "mcp_tool_use" | "compaction") => Ok(Live::Held(Held {
                block: raw.text().to_owned(),
                input: String::new(),
                members: Vec::new(),
            })),
            Some(_) | None => {
                give(reader, sink)?;
                Ok(Live::Given)
            }
        }
    }

    fn open(&mut self, head: Head<'_>, sink: &mut dyn EventSink) -> usize {
        let block = self.next;
        self.next += 1;
        sink.event(Event::Open { block, head });
        block
    }

    fn text(&mut self, start: TextStart<'_>, sink: &mut dyn EventSink) -> Result<Live, ReadError> {
        let TextStart { at: _, kind: _, text, citations, extra } = start;
        let block = self.open(Head::Text(Part { message: 0, phase: None, extra }), sink);
        if let Some(text) = text {
            say(block, text, sink);
        }
        if let Some(list) = citations.filter(|list| list.kind() == Kind::Array) {
            let mut reader = list.reader();
            let mut members = reader.array()?;
            while members.more(&mut reader)? {
                let piece = Piece::Citation(reader.raw()?);
                sink.event(Event::Delta { block, piece });
            }
        }
        Ok(Live::Text { block })
    }

    fn call(&mut self, start: CallStart<'_>, sink: &mut dyn EventSink) -> Result<Live, ReadError> {
        let CallStart { at, kind: _, id, name, input, caller, extra } = start;
        let name = name.ok_or_else(|| ReadError::missing(at, "name"))?;
        let form = CallForm::Json;
        let known = id.as_ref().map(|id| id.decode().into_owned());
        let head = CallHead { id, name, namespace: None, form, caller, extra };
        let block = self.open(Head::Call(head), sink);
        self.called = true;
        let given = input.filter(|input| !is_empty_object(input));
        let input = given.map(|input| input.text().to_owned());
        Ok(Live::Call(Call { block, id: known, input }))
    }

    fn thinking(&mut self, start: ThinkingBlock<'_>, sink: &mut dyn EventSink) -> Live {
        let ThinkingBlock { at: _, kind: _, thinking, signature, extra } = start;
        let block = self.open(Head::Reasoning { id: None }, sink);
        let mut live = Thinking {
            block,
            signature: TextBuffer::default(),
            untold: thinking.is_some(),
            extra: extra.into_owned(),
        };
        if let Some(text) = thinking {
            live.say(text, sink);
        }
        if let Some(signature) = signature {
            live.signature.push(&signature);
        }
        Live::Thinking(live)
    }
}

impl Live {
    /// Whether the block is a call, and `raw` the beginning of the same call.
    fn is_begun_by(&self, raw: &Raw<'_>) -> Result<bool, ReadError> {
        let Self::Call(Call { block: _, id: Some(id), input: _ }) = self else { return Ok(false) };
        Ok(raw.reader().tag("id")?.is_some_and(|again| again == *id.as_str()))
    }
}

fn say(block: usize, text: Str<'_>, sink: &mut dyn EventSink) {
    if !text.is_empty() {
        let piece = Piece::Text { text, logprobs: None };
        sink.event(Event::Delta { block, piece });
    }
}

impl Call {
    fn argue(&mut self, json: Str<'_>, sink: &mut dyn EventSink) {
        if !json.is_empty() {
            self.input = None;
            sink.event(Event::Delta { block: self.block, piece: Piece::Arguments(json) });
        }
    }
}

impl Thinking {
    fn say(&mut self, text: Str<'_>, sink: &mut dyn EventSink) {
        if text.is_empty() {
            return;
        }
        self.untold = false;
        let piece = Piece::Summary { part: 0, text };
        sink.event(Event::Delta { block: self.block, piece });
    }
}

impl Held {
    /// The block with all that came for it.
    fn whole(&self, sink: &mut dyn EventSink) -> Result<String, ReadError> {
        if self.input.is_empty() && self.members.is_empty() {
            return Ok(self.block.clone());
        }
        let input = Raw::parse(&self.input).ok().filter(|_| !self.input.is_empty());
        if input.is_none() && !self.input.is_empty() {
            sink.ledger().degraded(Pos::START, Code::ArgumentsTruncated);
        }
        let mut bytes = Vec::with_capacity(self.block.len() + self.input.len());
        let mut object = Object::new(&mut bytes);
        for field in read_fields(&mut Reader::new(&self.block))? {
            if self.members.iter().any(|newer| newer.key == field.key) {
                continue;
            }
            match input.as_ref().filter(|_| field.key == *"input") {
                Some(input) => object.put("input", input),
                None => field.value.write(object.foreign_key(&field.key)),
            }
        }
        object.extra(&self.members);
        drop(object);
        // What was written comes from text and is text.
        Ok(String::from_utf8(bytes).unwrap_or_default())
    }
}

/// Takes a piece of a block. Whether it belongs to it.
fn grow(live: &mut Live, delta: Delta<'_>, sink: &mut dyn EventSink) -> bool {
    let Delta { at, kind, text, partial_json, thinking, signature, citation, extra } = delta;
    let kind = kind.as_ref().map(Str::decode);
    match (kind.as_deref(), live) {
        (Some("text_delta"), Live::Text { block }) => {
            if let Some(text) = text {
                say(*block, text, sink);
            }
        }
        (Some("input_json_delta"), Live::Call(call)) => {
            if let Some(json) = partial_json {
                call.argue(json, sink);
            }
        }
        (Some("thinking_delta"), Live::Thinking(live)) => {
            if let Some(text) = thinking {
                live.say(text, sink);
            }
        }
        (Some("signature_delta"), Live::Thinking(live)) => {
            if let Some(signature) = signature {
                live.signature.push(&signature);
            }
        }
        (Some("citations_delta"), Live::Text { block }) => {
            if let Some(citation) = citation {
                let piece = Piece::Citation(citation);
                sink.event(Event::Delta { block: *block, piece });
            }
        }
        (Some("input_json_delta"), Live::Held(held)) => {
            if let Some(json) = partial_json {
                held.input.push_str(&json.decode());
            }
        }
        (Some("compaction_delta"), Live::Held(held)) => {
            held.members = extra.into_owned();
            return true;
        }
        (_, _) => {
            let note = sink.ledger().dropped(at, Code::UnknownItem);
            note.detail("The upstream sent a piece that does not belong to its block.");
            report(&extra, sink);
            return false;
        }
    }
    report(&extra, sink);
    true
}

fn end(live: Live, sink: &mut dyn EventSink) {
    let (block, tail) = match live {
        Live::Text { block } => (block, Tail::default()),
        Live::Call(Call { block, id: _, input }) => {
            if let Some(input) = input {
                let piece = Piece::Arguments(Str::plain(input));
                sink.event(Event::Delta { block, piece });
            }
            (block, Tail::default())
        }
        Live::Thinking(Thinking { block, signature, untold, extra }) => {
            // The text is there and empty, and its signature covers that.
            if untold {
                let piece = Piece::Summary { part: 0, text: Str::plain("") };
                sink.event(Event::Delta { block, piece });
            }
            let sealed = reasoning_in::sealed(&signature.text());
            (block, Tail { sealed, extra })
        }
        Live::Held(held) => {
            // It was read when it began, and is as sound as it was then.
            let whole = held.whole(sink).unwrap_or(held.block);
            let _ = give(Reader::new(&whole), sink);
            return;
        }
        Live::Given => return,
    };
    sink.event(Event::Close { block, tail });
}

/// Hands on a block in one piece.
fn give(mut reader: Reader<'_>, sink: &mut dyn EventSink) -> Result<(), ReadError> {
    let item = turns_in::block(&mut reader)?;
    // The block is a part of the message, which stands nowhere by itself.
    sink.event(Event::Whole(Turn::new(Pos::NONE, Role::Assistant, vec![item])));
    Ok(())
}

fn report(extra: &[Extra<'_>], sink: &mut dyn EventSink) {
    if !extra.is_empty() {
        sink.ledger().only(extra);
    }
}

fn is_empty_object(input: &Raw<'_>) -> bool {
    let inside = input.text().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inside.is_some_and(|inside| inside.trim().is_empty())
}
