//! The open blocks of a stream that is read.

use std::collections::BTreeMap;

use super::super::wire::{BlockDelta, BlockStart, BlockStop, CallStart, TextStart, ThinkingBlock};
use super::block::{
    BufferedBlock, OpenCall, OpenContentBlock, OpenThinking, report, send_text, send_whole,
};
use super::text_delta::{DeltaKind, TextDelta};
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{CallForm, CallHead, Event, Head, Own, Part, Piece};
use crate::wire::{Kind, Raw, Read, ReadError, Str, TextBuffer};

/// The open blocks, by the vendor's index.
///
/// The API has one block open at a time. Some relays forget to close one or mix
/// two, so any number may be open, and none loses what still comes for it.
#[derive(Debug, Default)]
pub(super) struct OpenContentBlocks {
    blocks: BTreeMap<u64, OpenContentBlock>,
    /// The number of the next block that is passed on.
    next: usize,
    has_calls: bool,
}

impl OpenContentBlocks {
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

    /// Takes a list of blocks that came in one piece.
    pub(super) fn whole(
        &mut self,
        content: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let mut reader = content.reader();
        if reader.peek() != Kind::Array {
            sink.ledger().dropped(content.pos(), Code::UnknownItem);
            return Ok(());
        }
        let mut blocks = reader.array()?;
        while blocks.more(&mut reader)? {
            let block = reader.raw()?;
            self.open(&block, sink)?.close(sink);
        }
        Ok(())
    }

    /// A block grows.
    pub(super) fn delta(&mut self, event: BlockDelta<'_>, sink: &mut dyn EventSink) {
        let BlockDelta { at, kind: _, index, delta, extra } = event;
        report(&extra, sink);
        let Some(delta) = delta else { return };
        let Some(block) = self.find(index.map(|index| index.value)) else {
            let note = sink.ledger().dropped(at, Code::UnknownItem);
            note.detail("The upstream sent a piece of a block that is not open.");
            return;
        };
        block.delta(delta, sink);
    }

    /// A block grows by a text. Says whether there is such a block.
    pub(super) fn text_delta(
        &mut self,
        delta: TextDelta,
        text: Str<'_>,
        sink: &mut dyn EventSink,
    ) -> bool {
        let TextDelta { index, kind } = delta;
        match (kind, self.find(index)) {
            (DeltaKind::Text, Some(OpenContentBlock::Text { number })) => {
                send_text(*number, text, sink)
            }
            (DeltaKind::Thinking, Some(OpenContentBlock::Thinking(thinking))) => {
                thinking.push(text, sink);
            }
            (DeltaKind::Input, Some(OpenContentBlock::Call(call))) => call.push(text, sink),
            (DeltaKind::Input, Some(OpenContentBlock::Buffered(buffered))) => {
                buffered.input.push_str(&text.decode());
            }
            (_, _) => return false,
        }
        true
    }

    /// The open block that an event is about.
    fn find(&mut self, index: Option<u64>) -> Option<&mut OpenContentBlock> {
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

    fn open(
        &mut self,
        raw: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<OpenContentBlock, ReadError> {
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
                Ok(OpenContentBlock::Buffered(BufferedBlock {
                    start: raw.text().to_owned(),
                    input: String::new(),
                    members: Vec::new(),
                }))
            }
            Some(_) | None => {
                send_whole(reader, sink)?;
                Ok(OpenContentBlock::Passed)
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
    ) -> Result<OpenContentBlock, ReadError> {
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
        Ok(OpenContentBlock::Text { number })
    }

    fn open_call(
        &mut self,
        start: CallStart<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<OpenContentBlock, ReadError> {
        let CallStart { at, kind: _, id, name, input, caller, extra } = start;
        let name = name.ok_or_else(|| ReadError::missing(at, "name"))?;
        let form = CallForm::Json;
        let own_id = id.as_ref().map(|id| id.decode().into_owned());
        let head = CallHead { id, name, namespace: None, form, caller, extra };
        let number = self.send_open(Head::Call(head), sink);
        self.has_calls = true;
        let input = input.filter(|input| input.kind() != Kind::Object || !input.is_empty());
        let input = input.map(|input| input.text().to_owned());
        Ok(OpenContentBlock::Call(OpenCall { number, id: own_id, input }))
    }

    fn open_thinking(
        &mut self,
        start: ThinkingBlock<'_>,
        sink: &mut dyn EventSink,
    ) -> OpenContentBlock {
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
        OpenContentBlock::Thinking(thinking)
    }
}
