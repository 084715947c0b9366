//! The open blocks of a stream that is read.

use std::collections::BTreeMap;

use super::super::wire::{
    BlockDelta, BlockStart, BlockStop, CallStart, Delta, TextStart, ThinkingBlock,
};
use super::super::{reasoning_in, turns_in};
use super::text_delta::{DeltaKind, TextDelta};
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{CallForm, CallHead, Event, Head, Own, Part, Piece, Role, Tail, Turn};
use crate::wire::{
    Extra, Kind, Object, Pos, Raw, Read, ReadError, Reader, Str, TextBuffer, Write, read_fields,
};

/// The open blocks, by the vendor's index.
///
/// The API has one block open at a time. Some relays forget to close one or mix
/// two, so any number may be open, and none loses what still comes for it.
#[derive(Debug, Default)]
pub(super) struct OpenBlocks {
    blocks: BTreeMap<u64, OpenBlock>,
    /// The number of the next block that is passed on.
    next: usize,
    has_calls: bool,
}

#[derive(Debug)]
enum OpenBlock {
    Text {
        number: usize,
    },
    Call(OpenCall),
    Thinking(OpenThinking),
    /// Passed on as a whole when it closes.
    Buffered(BufferedBlock),
    /// Passed on as a whole when it opened.
    Passed,
}

#[derive(Debug)]
struct OpenCall {
    number: usize,
    /// Its id, by which a start that comes twice is recognized.
    id: Option<String>,
    /// Arguments that came with the start of the block. They count only if no
    /// others follow, as in the vendor's own SDKs.
    input: Option<String>,
}

#[derive(Debug)]
struct OpenThinking {
    number: usize,
    signature: TextBuffer,
    /// Whether the block has a text of which nothing has come.
    is_text_missing: bool,
    extra: Vec<Extra<'static>>,
}

/// A block of a hosted tool, or a summary of the conversation.
#[derive(Debug)]
struct BufferedBlock {
    start: String,
    input: String,
    /// Members that replace those of the start.
    members: Vec<Extra<'static>>,
}

impl OpenBlocks {
    /// Whether the model has called a tool that the client runs.
    pub(super) fn has_calls(&self) -> bool {
        self.has_calls
    }

    /// A block opens.
    pub(super) fn start(
        &mut self,
        event: BlockStart<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let BlockStart { at, kind: _, index, content_block, extra } = event;
        report(&extra, sink);
        let start = content_block.ok_or_else(|| ReadError::missing(at, "content_block"))?;
        let free = self.blocks.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
        let index = index.map_or(free, |index| index.value);
        if let Some(unclosed) = self.blocks.remove(&index) {
            if unclosed.is_started_by(&start)? {
                let note = sink.ledger().dropped(at, Code::UnknownItem);
                note.detail("The upstream began a call a second time.");
                self.blocks.insert(index, unclosed);
                return Ok(());
            }
            unclosed.close(sink);
        }
        let block = self.open(&start, sink)?;
        self.blocks.insert(index, block);
        Ok(())
    }

    /// A block grows. Says whether the event fits the block.
    pub(super) fn delta(&mut self, event: BlockDelta<'_>, sink: &mut dyn EventSink) -> bool {
        let BlockDelta { at, kind: _, index, delta, extra } = event;
        report(&extra, sink);
        let Some(delta) = delta else { return false };
        let Some(block) = self.find(index.map(|index| index.value)) else {
            let note = sink.ledger().dropped(at, Code::UnknownItem);
            note.detail("The upstream sent a piece of a block that is not open.");
            return false;
        };
        block.delta(delta, sink)
    }

    /// A block grows by a text, like by the event before.
    pub(super) fn text_delta(&mut self, delta: TextDelta, text: Str<'_>, sink: &mut dyn EventSink) {
        let TextDelta { index, kind } = delta;
        match (kind, self.find(index)) {
            (DeltaKind::Text, Some(OpenBlock::Text { number })) => send_text(*number, text, sink),
            (DeltaKind::Thinking, Some(OpenBlock::Thinking(thinking))) => {
                thinking.push(text, sink);
            }
            (DeltaKind::Input, Some(OpenBlock::Call(call))) => call.push(text, sink),
            (DeltaKind::Input, Some(OpenBlock::Buffered(buffered))) => {
                buffered.input.push_str(&text.decode());
            }
            (kind, block) => debug_assert!(false, "{block:?} does not grow by {kind:?}"),
        }
    }

    /// The open block that an event is about.
    fn find(&mut self, index: Option<u64>) -> Option<&mut OpenBlock> {
        match index {
            Some(index) => self.blocks.get_mut(&index),
            None => self.blocks.values_mut().next_back(),
        }
    }

    /// A block closes.
    pub(super) fn stop(&mut self, event: BlockStop<'_>, sink: &mut dyn EventSink) {
        let BlockStop { at: _, kind: _, index, extra } = event;
        report(&extra, sink);
        let block = match index {
            Some(index) => self.blocks.remove(&index.value),
            None => self.blocks.pop_last().map(|(_, block)| block),
        };
        if let Some(block) = block {
            block.close(sink);
        }
    }

    /// Closes every block, because the model has stopped.
    pub(super) fn stop_all(&mut self, sink: &mut dyn EventSink) {
        for block in std::mem::take(&mut self.blocks).into_values() {
            block.close(sink);
        }
    }

    fn open(&mut self, raw: &Raw<'_>, sink: &mut dyn EventSink) -> Result<OpenBlock, ReadError> {
        let mut reader = raw.reader();
        let kind = reader.tag("type")?;
        match kind.as_ref().map(Str::decode).as_deref() {
            Some("text") => self.open_text(TextStart::read(&mut reader)?, sink),
            Some("tool_use") => self.open_call(CallStart::read(&mut reader)?, sink),
            Some("thinking") => {
                let start = ThinkingBlock::read(&mut reader)?;
                Ok(self.open_thinking(start, sink))
            }
            Some("server_tool_use" | "mcp_tool_use" | "compaction") => {
                Ok(OpenBlock::Buffered(BufferedBlock {
                    start: raw.text().to_owned(),
                    input: String::new(),
                    members: Vec::new(),
                }))
            }
            Some(_) | None => {
                send_whole(reader, sink)?;
                Ok(OpenBlock::Passed)
            }
        }
    }

    fn send_open(&mut self, head: Head<'_>, sink: &mut dyn EventSink) -> usize {
        let block = self.next;
        self.next += 1;
        sink.event(Event::Open { block, head });
        block
    }

    fn open_text(
        &mut self,
        start: TextStart<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<OpenBlock, ReadError> {
        let TextStart { at: _, kind: _, text, citations, extra } = start;
        let number = self.send_open(Head::Text(Part { message: 0, phase: None, extra }), sink);
        if let Some(text) = text {
            send_text(number, text, sink);
        }
        if let Some(list) = citations.filter(|list| list.kind() == Kind::Array) {
            let mut reader = list.reader();
            let mut members = reader.array()?;
            while members.more(&mut reader)? {
                let piece = Piece::Citation(reader.raw()?);
                sink.event(Event::Delta { block: number, piece });
            }
        }
        Ok(OpenBlock::Text { number })
    }

    fn open_call(
        &mut self,
        start: CallStart<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<OpenBlock, ReadError> {
        let CallStart { at, kind: _, id, name, input, caller, extra } = start;
        let name = name.ok_or_else(|| ReadError::missing(at, "name"))?;
        let form = CallForm::Json;
        let own_id = id.as_ref().map(|id| id.decode().into_owned());
        let head = CallHead { id, name, namespace: None, form, caller, extra };
        let number = self.send_open(Head::Call(head), sink);
        self.has_calls = true;
        let input = input.filter(|input| input.kind() != Kind::Object || !input.is_empty());
        let input = input.map(|input| input.text().to_owned());
        Ok(OpenBlock::Call(OpenCall { number, id: own_id, input }))
    }

    fn open_thinking(&mut self, start: ThinkingBlock<'_>, sink: &mut dyn EventSink) -> OpenBlock {
        let ThinkingBlock { at: _, kind: _, thinking: text, signature, extra } = start;
        let number = self.send_open(Head::Reasoning { id: None }, sink);
        let mut thinking = OpenThinking {
            number,
            signature: TextBuffer::default(),
            is_text_missing: text.is_some(),
            extra: extra.into_owned(),
        };
        if let Some(text) = text {
            thinking.push(text, sink);
        }
        if let Some(signature) = signature {
            thinking.signature.push(&signature);
        }
        OpenBlock::Thinking(thinking)
    }
}

impl OpenBlock {
    /// Whether this is a call, and `start` starts the same call.
    fn is_started_by(&self, start: &Raw<'_>) -> Result<bool, ReadError> {
        let Self::Call(OpenCall { number: _, id: Some(id), input: _ }) = self else {
            return Ok(false);
        };
        Ok(start.reader().tag("id")?.is_some_and(|again| again == *id.as_str()))
    }

    /// Adds a piece. Says whether it fits the block.
    fn delta(&mut self, delta: Delta<'_>, sink: &mut dyn EventSink) -> bool {
        let Delta { at, kind, text, partial_json, thinking: thought, signature, citation, extra } =
            delta;
        let kind = kind.as_ref().map(Str::decode);
        match (kind.as_deref(), self) {
            (Some("text_delta"), Self::Text { number }) => {
                if let Some(text) = text {
                    send_text(*number, text, sink);
                }
            }
            (Some("input_json_delta"), Self::Call(call)) => {
                if let Some(json) = partial_json {
                    call.push(json, sink);
                }
            }
            (Some("thinking_delta"), Self::Thinking(thinking)) => {
                if let Some(text) = thought {
                    thinking.push(text, sink);
                }
            }
            (Some("signature_delta"), Self::Thinking(thinking)) => {
                if let Some(signature) = signature {
                    thinking.signature.push(&signature);
                }
            }
            (Some("citations_delta"), Self::Text { number }) => {
                if let Some(citation) = citation {
                    let piece = Piece::Citation(citation);
                    sink.event(Event::Delta { block: *number, piece });
                }
            }
            (Some("input_json_delta"), Self::Buffered(buffered)) => {
                if let Some(json) = partial_json {
                    buffered.input.push_str(&json.decode());
                }
            }
            (Some("compaction_delta"), Self::Buffered(buffered)) => {
                buffered.members = extra.into_owned();
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

    fn close(self, sink: &mut dyn EventSink) {
        let (block, tail) = match self {
            Self::Text { number } => (number, Tail::default()),
            Self::Call(OpenCall { number, id: _, input }) => {
                if let Some(input) = input {
                    let piece = Piece::Arguments(Str::plain(input));
                    sink.event(Event::Delta { block: number, piece });
                }
                (number, Tail::default())
            }
            Self::Thinking(OpenThinking { number, signature, is_text_missing, extra }) => {
                // The text is there and empty, and its signature covers that.
                if is_text_missing {
                    let piece = Piece::Summary { part: 0, text: Str::plain("") };
                    sink.event(Event::Delta { block: number, piece });
                }
                let sealed = reasoning_in::sealed(&signature.text());
                (number, Tail { sealed, extra })
            }
            Self::Buffered(buffered) => {
                // The start was read when it came, so it can be read again.
                let whole = buffered.whole(sink).unwrap_or(buffered.start);
                let _ = send_whole(Reader::new(&whole), sink);
                return;
            }
            Self::Passed => return,
        };
        sink.event(Event::Close { block, tail });
    }
}

impl OpenCall {
    fn push(&mut self, json: Str<'_>, sink: &mut dyn EventSink) {
        if !json.is_empty() {
            self.input = None;
            sink.event(Event::Delta { block: self.number, piece: Piece::Arguments(json) });
        }
    }
}

impl OpenThinking {
    fn push(&mut self, text: Str<'_>, sink: &mut dyn EventSink) {
        if text.is_empty() {
            return;
        }
        self.is_text_missing = false;
        let piece = Piece::Summary { part: 0, text };
        sink.event(Event::Delta { block: self.number, piece });
    }
}

impl BufferedBlock {
    /// The block with everything that came for it.
    fn whole(&self, sink: &mut dyn EventSink) -> Result<String, ReadError> {
        if self.input.is_empty() && self.members.is_empty() {
            return Ok(self.start.clone());
        }
        let input = Raw::parse(&self.input).ok().filter(|_| !self.input.is_empty());
        if input.is_none() && !self.input.is_empty() {
            sink.ledger().degraded(Pos::START, Code::ArgumentsTruncated);
        }
        let mut bytes = Vec::with_capacity(self.start.len() + self.input.len());
        let mut object = Object::new(&mut bytes);
        for field in read_fields(&mut Reader::new(&self.start))? {
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
        // Everything that was written is text.
        Ok(String::from_utf8(bytes).unwrap_or_default())
    }
}

fn send_text(block: usize, text: Str<'_>, sink: &mut dyn EventSink) {
    if !text.is_empty() {
        let piece = Piece::Text { text, logprobs: None };
        sink.event(Event::Delta { block, piece });
    }
}

/// Passes a block on in one piece.
fn send_whole(mut reader: Reader<'_>, sink: &mut dyn EventSink) -> Result<(), ReadError> {
    let item = turns_in::block(&mut reader)?;
    // The message around the block has no position in this event.
    sink.event(Event::Whole(Turn::new(Pos::NONE, Role::Assistant, vec![item])));
    Ok(())
}

fn report(extra: &[Extra<'_>], sink: &mut dyn EventSink) {
    if !extra.is_empty() {
        sink.ledger().only(extra);
    }
}
