//! The blocks of a stream.

use super::calls::CallAssembler;
use super::fragment::CallFragment;
use super::reasoning::{DetailsBuffer, ReasoningBlock, ReasoningMember};
use crate::codec::EventSink;
use crate::codec::chat::reasoning_in::detail_text;
use crate::ledger::Code;
use crate::model::{Event, Head, Item, Part, Piece, Role, Tail, Turn};
use crate::wire::{Pos, Raw, Str};

/// Finds the blocks of a stream. Chat does not say where a block begins or ends:
/// a block lasts until something of another kind comes.
#[derive(Debug, Default)]
pub(super) struct BlockAssembler {
    current: CurrentBlock,
    calls: CallAssembler,
    /// Sealed reasoning that came after its block was closed.
    late_details: DetailsBuffer,
    /// Annotations that came before the text they belong to.
    early_citations: Vec<Raw<'static>>,
    has_text: bool,
    /// Whether there was reasoning in plain text.
    has_reasoning: bool,
    has_details: bool,
    has_citations: bool,
    has_refusal: bool,
    /// Whether there was a call or a whole item.
    has_action: bool,
}

impl BlockAssembler {
    /// Adds text.
    pub(super) fn push_text(
        &mut self,
        text: Str<'_>,
        logprobs: Option<Raw<'_>>,
        sink: &mut dyn EventSink,
    ) {
        let block = match &self.current.open {
            OpenBlock::Text(block) => *block,
            OpenBlock::Nothing | OpenBlock::Refusal(_) | OpenBlock::Reasoning(_) => {
                if text.is_empty() {
                    return sink.ledger().lost(&logprobs, Code::Logprobs);
                }
                self.close_finished(sink);
                let block = self.current.number();
                self.current.open = OpenBlock::Text(block);
                self.has_text = true;
                sink.event(Event::Open { block, head: Head::Text(Part::default()) });
                for citation in self.early_citations.drain(..) {
                    sink.event(Event::Delta { block, piece: Piece::Citation(citation) });
                }
                block
            }
        };
        if !text.is_empty() || logprobs.is_some() {
            sink.event(Event::Delta { block, piece: Piece::Text { text, logprobs } });
        }
    }

    /// Adds text of a refusal.
    pub(super) fn push_refusal(
        &mut self,
        text: Str<'_>,
        logprobs: Option<Raw<'_>>,
        sink: &mut dyn EventSink,
    ) {
        if text.is_empty() {
            return sink.ledger().lost(&logprobs, Code::Logprobs);
        }
        let block = match &self.current.open {
            OpenBlock::Refusal(block) => *block,
            OpenBlock::Nothing | OpenBlock::Text(_) | OpenBlock::Reasoning(_) => {
                self.close_finished(sink);
                let block = self.current.number();
                self.current.open = OpenBlock::Refusal(block);
                self.has_refusal = true;
                sink.event(Event::Open { block, head: Head::Refusal(Part::default()) });
                block
            }
        };
        sink.event(Event::Delta { block, piece: Piece::Text { text, logprobs } });
    }

    /// Adds an annotation of the text.
    pub(super) fn push_citation(&mut self, citation: Raw<'_>, sink: &mut dyn EventSink) {
        self.has_citations = true;
        if let OpenBlock::Text(block) = &self.current.open {
            let block = *block;
            sink.event(Event::Delta { block, piece: Piece::Citation(citation) });
        } else if self.has_text {
            sink.ledger().dropped(citation.pos(), Code::Citations);
        } else {
            self.early_citations.push(citation.into_owned().at(Pos::NONE));
        }
    }

    /// Adds reasoning.
    pub(super) fn push_reasoning(
        &mut self,
        member: ReasoningMember,
        text: Str<'_>,
        sink: &mut dyn EventSink,
    ) {
        if text.is_empty() {
            return;
        }
        let reasoning = self.take_reasoning(|reasoning| reasoning.takes_text(member), sink);
        let block = reasoning.block;
        let mut reasoning = reasoning.of(member);
        reasoning.push_shown(&text);
        self.current.open = OpenBlock::Reasoning(reasoning);
        self.has_reasoning = true;
        let piece = match member {
            ReasoningMember::ThinkingBlocks => Piece::Summary { part: 0, text },
            ReasoningMember::Content | ReasoningMember::Reasoning | ReasoningMember::Details => {
                Piece::Reasoning { part: 0, text }
            }
        };
        sink.event(Event::Delta { block, piece });
    }

    /// Whether a thinking block has the text of the open block, which is that
    /// block then.
    pub(super) fn sign_repeated(&mut self, text: &Str<'_>) -> bool {
        match &mut self.current.open {
            OpenBlock::Reasoning(reasoning) => reasoning.sign_repeated(text),
            OpenBlock::Nothing | OpenBlock::Text(_) | OpenBlock::Refusal(_) => false,
        }
    }

    /// Adds a piece of the signature of a thinking block.
    pub(super) fn push_signature(&mut self, signature: &Str<'_>, sink: &mut dyn EventSink) {
        if signature.is_empty() {
            return;
        }
        let reasoning = self.take_reasoning(|reasoning| reasoning.takes_signature(), sink);
        let mut reasoning = reasoning.of(ReasoningMember::ThinkingBlocks);
        reasoning.signature.push(signature);
        self.current.open = OpenBlock::Reasoning(reasoning);
    }

    /// Adds an entry of `reasoning_details`.
    pub(super) fn push_detail(&mut self, entry: &Raw<'_>, sink: &mut dyn EventSink) {
        self.has_details = true;
        let begun = match &self.current.open {
            OpenBlock::Reasoning(_) => true,
            OpenBlock::Nothing => !self.has_action,
            // A late entry must not split the block that has begun since.
            OpenBlock::Text(_) | OpenBlock::Refusal(_) => false,
        };
        if !begun {
            return self.late_details.push(entry);
        }
        let mut reasoning = self.take_reasoning(|_any| true, sink);
        reasoning.details.push(entry);
        let shows_text = reasoning.shows_details();
        self.current.open = OpenBlock::Reasoning(reasoning);
        if shows_text && let Some(text) = detail_text(entry) {
            self.push_reasoning(ReasoningMember::Details, text, sink);
        }
    }

    /// Adds a fragment of a call.
    pub(super) fn push_call(&mut self, fragment: CallFragment<'_>, sink: &mut dyn EventSink) {
        self.has_action = true;
        self.calls.take(fragment, &mut self.current, sink);
    }

    /// Adds an item that comes in one piece.
    pub(super) fn push_whole(&mut self, at: Pos, item: Item<'_>, sink: &mut dyn EventSink) {
        self.has_action = true;
        self.close_finished(sink);
        sink.event(Event::Whole(Turn::new(at, Role::Assistant, vec![item])));
    }

    /// Forgets positions in the chunk that has been read.
    pub(super) fn forget_positions(&mut self) {
        self.calls.forget_positions();
    }

    /// Whether the arguments of a call are incomplete.
    pub(super) fn is_cut(&self) -> bool {
        self.calls.is_cut()
    }

    /// Whether the arguments of the last call are incomplete.
    pub(super) fn is_last_cut(&self) -> bool {
        self.calls.is_last_cut()
    }

    /// Whether arguments came for a call that names no tool.
    pub(super) fn has_unnamed_call(&self) -> bool {
        self.calls.has_unnamed()
    }

    /// Whether there is a call.
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Whether nothing has come.
    pub(super) fn is_empty(&self) -> bool {
        self.current.next_number == 0 && !self.has_action && self.late_details.is_empty()
    }

    /// Whether there is text.
    pub(super) fn has_text(&self) -> bool {
        self.has_text
    }

    /// Whether there is reasoning, shown or sealed.
    pub(super) fn has_reasoning(&self) -> bool {
        self.has_reasoning || self.has_details
    }

    /// Whether there are annotations.
    pub(super) fn has_citations(&self) -> bool {
        self.has_citations
    }

    /// Whether there is a refusal.
    pub(super) fn has_refusal(&self) -> bool {
        self.has_refusal
    }

    /// Closes every block at the end of the stream.
    pub(super) fn finish(&mut self, sink: &mut dyn EventSink) {
        self.current.close(sink);
        self.calls.finish(&mut self.current, sink);
        if !self.late_details.is_empty() {
            let text = self.late_details.text();
            let reasoning = self.take_reasoning(|_any| true, sink);
            self.current.open = OpenBlock::Reasoning(reasoning);
            if !self.has_reasoning {
                self.push_reasoning(ReasoningMember::Details, Str::plain(text), sink);
            }
            self.current.close(sink);
        }
        for citation in self.early_citations.drain(..) {
            sink.ledger().dropped(citation.pos(), Code::Citations);
        }
    }

    /// Takes the open block of reasoning if it fits, or opens one. The caller puts
    /// it back.
    fn take_reasoning(
        &mut self,
        fits: impl Fn(&ReasoningBlock) -> bool,
        sink: &mut dyn EventSink,
    ) -> ReasoningBlock {
        match std::mem::take(&mut self.current.open) {
            OpenBlock::Reasoning(reasoning) if fits(&reasoning) => reasoning,
            other @ (OpenBlock::Nothing
            | OpenBlock::Text(_)
            | OpenBlock::Refusal(_)
            | OpenBlock::Reasoning(_)) => {
                self.current.open = other;
                self.close_finished(sink);
                let block = self.current.number();
                sink.event(Event::Open { block, head: Head::Reasoning { id: None } });
                ReasoningBlock::new(block, std::mem::take(&mut self.late_details))
            }
        }
    }

    /// Closes the calls that are whole.
    pub(super) fn close_calls(&mut self, sink: &mut dyn EventSink) {
        self.calls.close_whole(sink);
    }

    /// Closes what comes before the next block. A call that is not whole stays
    /// open, because fragments of several calls may be interleaved.
    fn close_finished(&mut self, sink: &mut dyn EventSink) {
        self.calls.close_whole(sink);
        self.current.close(sink);
    }
}

/// The open block that is not a call, and the number of the next block.
#[derive(Debug, Default)]
pub(super) struct CurrentBlock {
    next_number: usize,
    open: OpenBlock,
}

#[derive(Debug, Default)]
enum OpenBlock {
    #[default]
    Nothing,
    Text(usize),
    Refusal(usize),
    Reasoning(ReasoningBlock),
}

impl CurrentBlock {
    /// The number of a new block.
    pub(super) fn number(&mut self) -> usize {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    /// Closes the open block, if there is one.
    pub(super) fn close(&mut self, sink: &mut dyn EventSink) {
        match std::mem::take(&mut self.open) {
            OpenBlock::Nothing => {}
            OpenBlock::Text(block) | OpenBlock::Refusal(block) => {
                sink.event(Event::Close { block, tail: Tail::default() });
            }
            OpenBlock::Reasoning(reasoning) => {
                let block = reasoning.block;
                sink.event(Event::Close { block, tail: reasoning.tail() });
            }
        }
    }
}
