//! One open block of a stream that is read.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::super::wire::Delta;
use super::super::{reasoning_in, turns_in};
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{Event, Own, Piece, Role, Tail, Turn};
use crate::wire::{
    Extra, Object, Pos, Raw, ReadError, Reader, Str, TextBuffer, Write, read_fields,
};

/// An open block.
#[derive(Debug)]
pub(super) enum OpenContentBlock {
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
pub(super) struct OpenCall {
    pub(super) number: usize,
    /// Its id, by which a start that comes twice is recognized.
    pub(super) id: Option<String>,
    /// Arguments that came with the start of the block. They count only if no
    /// others follow, as in the vendor's own SDKs.
    pub(super) input: Option<String>,
}

#[derive(Debug)]
pub(super) struct OpenThinking {
    pub(super) number: usize,
    pub(super) signature: TextBuffer,
    /// Whether the block has a text of which nothing has come.
    pub(super) is_text_missing: bool,
    pub(super) extra: Vec<Extra<'static>>,
}

/// A block of a hosted tool, or a summary of the conversation.
#[derive(Debug)]
pub(super) struct BufferedBlock {
    pub(super) start: String,
    pub(super) input: String,
    /// Members that replace those of the start.
    pub(super) members: Vec<Extra<'static>>,
}

impl OpenContentBlock {
    /// Whether this is a call, and `start` starts the same call.
    pub(super) fn is_started_by(&self, start: &Raw<'_>) -> Result<bool, ReadError> {
        let Self::Call(OpenCall { number: _, id: Some(id), input: _ }) = self else {
            return Ok(false);
        };
        Ok(start.reader().tag("id")?.is_some_and(|again| again == *id.as_str()))
    }

    /// Adds a piece.
    pub(super) fn delta(&mut self, delta: Delta<'_>, sink: &mut dyn EventSink) {
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
                return;
            }
            (_, _) => {
                let note = sink.ledger().dropped(at, Code::UnknownItem);
                note.detail("The upstream sent a piece that does not belong to its block.");
            }
        }
        report(&extra, sink);
    }

    pub(super) fn close(self, sink: &mut dyn EventSink) {
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
    pub(super) fn push(&mut self, json: Str<'_>, sink: &mut dyn EventSink) {
        if !json.is_empty() {
            self.input = None;
            sink.event(Event::Delta { block: self.number, piece: Piece::Arguments(json) });
        }
    }
}

impl OpenThinking {
    pub(super) fn push(&mut self, text: Str<'_>, sink: &mut dyn EventSink) {
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
        let newer: BTreeSet<Cow<'_, str>> =
            self.members.iter().map(|newer| newer.key.decode()).collect();
        for field in read_fields(&mut Reader::new(&self.start))? {
            if newer.contains(&field.key.decode()) {
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

pub(super) fn send_text(block: usize, text: Str<'_>, sink: &mut dyn EventSink) {
    if !text.is_empty() {
        let piece = Piece::Text { text, logprobs: None };
        sink.event(Event::Delta { block, piece });
    }
}

/// Passes a block on in one piece.
pub(super) fn send_whole(
    mut reader: Reader<'_>,
    sink: &mut dyn EventSink,
) -> Result<(), ReadError> {
    let item = turns_in::block(&mut reader)?;
    // The message around the block has no position in this event.
    sink.event(Event::Whole(Turn::new(Pos::NONE, Role::Assistant, vec![item])));
    Ok(())
}

pub(super) fn report(extra: &[Extra<'_>], sink: &mut dyn EventSink) {
    if !extra.is_empty() {
        sink.ledger().only(extra);
    }
}
