//! The blocks of a stream that is being read.

use super::calls::{Calls, Fragment, Nameless};
use super::reasoning::{Details, Source, Thought};
use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{Event, Head, Item, Part, Piece, Role, Tail, Turn};
use crate::wire::{Pos, Raw, Str};

/// Chat does not say where a block begins or ends: a block is what comes until
/// something of another kind does.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    stage: Stage,
    calls: Calls,
    /// Sealed reasoning that came when its block was over.
    late: Details,
    /// Annotations that came before the text they belong to.
    early: Vec<Raw<'static>>,
    spoke: bool,
    refused: bool,
    /// Whether something came that has no end of its own, a call for one.
    acted: bool,
}

impl Blocks {
    /// More text.
    pub(super) fn say(
        &mut self,
        text: Str<'_>,
        logprobs: Option<Raw<'_>>,
        sink: &mut dyn EventSink,
    ) {
        let block = match &self.stage.open {
            Open::Text(block) => *block,
            Open::Nothing | Open::Refusal(_) | Open::Thought(_) => {
                if text.is_empty() {
                    return;
                }
                self.make_room(sink);
                let block = self.stage.number();
                self.stage.open = Open::Text(block);
                self.spoke = true;
                sink.event(Event::Open { block, head: Head::Text(Part::default()) });
                for citation in self.early.drain(..) {
                    sink.event(Event::Delta { block, piece: Piece::Citation(citation) });
                }
                block
            }
        };
        if !text.is_empty() || logprobs.is_some() {
            sink.event(Event::Delta { block, piece: Piece::Text { text, logprobs } });
        }
    }

    /// More of a refusal.
    pub(super) fn refuse(
        &mut self,
        text: Str<'_>,
        logprobs: Option<Raw<'_>>,
        sink: &mut dyn EventSink,
    ) {
        if text.is_empty() {
            return;
        }
        let block = match &self.stage.open {
            Open::Refusal(block) => *block,
            Open::Nothing | Open::Text(_) | Open::Thought(_) => {
                self.make_room(sink);
                let block = self.stage.number();
                self.stage.open = Open::Refusal(block);
                self.refused = true;
                sink.event(Event::Open { block, head: Head::Refusal(Part::default()) });
                block
            }
        };
        sink.event(Event::Delta { block, piece: Piece::Text { text, logprobs } });
    }

    /// An annotation of the text.
    pub(super) fn cite(&mut self, citation: Raw<'_>, sink: &mut dyn EventSink) {
        if let Open::Text(block) = &self.stage.open {
            let block = *block;
            sink.event(Event::Delta { block, piece: Piece::Citation(citation) });
        } else if self.spoke {
            sink.ledger().dropped(citation.pos(), Code::Citations);
        } else {
            self.early.push(citation.into_owned().at(Pos::NONE));
        }
    }

    /// More reasoning.
    pub(super) fn think(&mut self, source: Source, text: Str<'_>, sink: &mut dyn EventSink) {
        if text.is_empty() {
            return;
        }
        let thought = self.thought(|thought| thought.takes_text(source), sink);
        let block = thought.block;
        self.stage.open = Open::Thought(thought.of(source));
        let piece = match source {
            Source::Blocks => Piece::Summary { part: 0, text },
            Source::Content | Source::Reasoning => Piece::Reasoning { part: 0, text },
        };
        sink.event(Event::Delta { block, piece });
    }

    /// More of the signature of a block that Messages gave.
    pub(super) fn sign(&mut self, signature: &Str<'_>, sink: &mut dyn EventSink) {
        if signature.is_empty() {
            return;
        }
        let thought = self.thought(|thought| thought.takes_signature(), sink);
        let mut thought = thought.of(Source::Blocks);
        thought.signature.push(signature);
        self.stage.open = Open::Thought(thought);
    }

    /// More of what a vendor seals reasoning with.
    pub(super) fn seal(&mut self, entry: &Raw<'_>, sink: &mut dyn EventSink) {
        let begun = match &self.stage.open {
            Open::Thought(_) => true,
            Open::Nothing => !self.acted,
            // A seal behind the text it belongs to must not cut what has begun
            // since in two.
            Open::Text(_) | Open::Refusal(_) => false,
        };
        if !begun {
            return self.late.push(entry);
        }
        let mut thought = self.thought(|_any| true, sink);
        thought.details.push(entry);
        self.stage.open = Open::Thought(thought);
    }

    /// More of a call.
    pub(super) fn call(&mut self, fragment: Fragment<'_>, sink: &mut dyn EventSink) {
        self.acted = true;
        self.calls.take(fragment, &mut self.stage, sink);
    }

    /// Something that comes in one piece.
    pub(super) fn whole(&mut self, at: Pos, item: Item<'_>, sink: &mut dyn EventSink) {
        self.acted = true;
        self.make_room(sink);
        sink.event(Event::Whole(Turn::new(at, Role::Assistant, vec![item])));
    }

    /// A chunk has been read; positions in it mean nothing any more.
    pub(super) fn settle(&mut self) {
        self.calls.settle();
    }

    /// Whether a call has begun that cannot be run as it is.
    pub(super) fn is_cut(&self) -> bool {
        self.calls.is_cut()
    }

    /// Whether there is a call.
    pub(super) fn called(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Whether there is a refusal.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Nothing more comes: closes every block.
    pub(super) fn finish(&mut self, sink: &mut dyn EventSink) -> Result<(), Nameless> {
        self.stage.close(sink);
        self.calls.finish(&mut self.stage, sink)?;
        if !self.late.is_empty() {
            let thought = self.thought(|_any| true, sink);
            self.stage.open = Open::Thought(thought);
            self.stage.close(sink);
        }
        for citation in self.early.drain(..) {
            sink.ledger().dropped(citation.pos(), Code::Citations);
        }
        Ok(())
    }

    /// Takes the open thought from the stage, if it fits; else one that is
    /// opened. The caller puts it back.
    fn thought(&mut self, fits: impl Fn(&Thought) -> bool, sink: &mut dyn EventSink) -> Thought {
        match std::mem::take(&mut self.stage.open) {
            Open::Thought(thought) if fits(&thought) => thought,
            other @ (Open::Nothing | Open::Text(_) | Open::Refusal(_) | Open::Thought(_)) => {
                self.stage.open = other;
                self.make_room(sink);
                let block = self.stage.number();
                sink.event(Event::Open { block, head: Head::Reasoning { id: None } });
                Thought::new(block, std::mem::take(&mut self.late))
            }
        }
    }

    /// Closes the calls of which nothing more can come.
    pub(super) fn close_calls(&mut self, sink: &mut dyn EventSink) {
        self.calls.close_whole(sink);
    }

    /// Closes what the next block is to stand behind. A call that is not whole
    /// stays open, since its fragments may come interleaved with another's.
    fn make_room(&mut self, sink: &mut dyn EventSink) {
        self.calls.close_whole(sink);
        self.stage.close(sink);
    }
}

/// The one block that is not a call, and the numbers of all.
#[derive(Debug, Default)]
pub(super) struct Stage {
    next: usize,
    open: Open,
}

#[derive(Debug, Default)]
enum Open {
    #[default]
    Nothing,
    Text(usize),
    Refusal(usize),
    Thought(Thought),
}

impl Stage {
    /// The number of the next block.
    pub(super) fn number(&mut self) -> usize {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Closes the block that is open, if one is.
    pub(super) fn close(&mut self, sink: &mut dyn EventSink) {
        match std::mem::take(&mut self.open) {
            Open::Nothing => {}
            Open::Text(block) | Open::Refusal(block) => {
                sink.event(Event::Close { block, tail: Tail::default() });
            }
            Open::Thought(thought) => {
                let block = thought.block;
                sink.event(Event::Close { block, tail: thought.tail() });
            }
        }
    }
}
