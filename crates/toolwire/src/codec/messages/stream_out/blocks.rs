//! The blocks of a stream, which are written one after the other.

use std::collections::VecDeque;

use super::super::blocks_out::WrittenBlock;
use super::super::content_out::{report_refusal, write_part};
use super::super::response_out::report_item_loss;
use super::super::turns_out::report_turn_losses;
use super::block::{BlockBody, report_logprobs};
use super::call::StreamedCall;
use super::events::BlockEvents;
use super::text::StreamedText;
use super::thinking::StreamedThinking;
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Head, Item, Own, Piece, Reasoning, Refusal, Sealed, Tail, Text, Turn};
use crate::wire::{Pos, Str, ids};

/// Blocks in the order in which they opened. The first is being written, the
/// others wait.
#[derive(Debug, Default)]
pub(super) struct BlockQueue {
    blocks: VecDeque<QueuedBlock>,
    events: BlockEvents,
    /// The number of the block that opens next.
    next: usize,
    calls: usize,
    /// The answer's id. Calls without an id get one that is made from it.
    message_id: String,
}

#[derive(Debug)]
struct QueuedBlock {
    place: QueuePlace,
    body: BlockBody,
    /// Whether its turn has come.
    is_started: bool,
    /// Whether nothing more comes for it.
    is_complete: bool,
    sealed: Option<Sealed<'static>>,
}

/// Where a block stands among the others. What came in one piece has the number
/// of the block that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct QueuePlace {
    number: usize,
    kind: QueuePlaceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum QueuePlaceKind {
    /// What came in one piece.
    Whole,
    /// A block with a number of its own.
    Block,
}

impl BlockQueue {
    /// Sets the answer's id.
    pub(super) fn set_message_id(&mut self, id: String) {
        self.message_id = id;
    }

    /// How many calls there were.
    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    /// A block opens.
    pub(super) fn open(
        &mut self,
        number: usize,
        head: &Head<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let body = match head {
            Head::Text(part) => BlockBody::Text(StreamedText::new(part, ledger)),
            Head::Refusal(part) => {
                report_refusal(Pos::START, ledger);
                BlockBody::Text(StreamedText::new(part, ledger))
            }
            // The id means something to the vendor's own API only.
            Head::Reasoning { id: _ } => BlockBody::Thinking(StreamedThinking::default()),
            Head::Call(head) => {
                let minted_id = self.mint_id();
                BlockBody::Call(StreamedCall::new(head, &minted_id, ledger))
            }
        };
        self.next = number + 1;
        self.blocks.push_back(QueuedBlock {
            place: QueuePlace { number, kind: QueuePlaceKind::Block },
            body,
            is_started: false,
            is_complete: false,
            sealed: None,
        });
        self.advance(out, ledger);
    }

    /// A piece of a block arrives.
    pub(super) fn delta(
        &mut self,
        number: usize,
        piece: &Piece<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let place = QueuePlace { number, kind: QueuePlaceKind::Block };
        if let Some(first) = self.blocks.front_mut()
            && first.place == place
        {
            return first.body.push(piece, Some((&mut self.events, out)), ledger);
        }
        if let Some(waiting) = self.find(place) {
            waiting.body.push(piece, None, ledger);
        }
    }

    /// A block is complete.
    pub(super) fn close(
        &mut self,
        number: usize,
        tail: &Tail<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let Tail { sealed, extra } = tail;
        ledger.only(extra);
        if let Some(block) = self.find(QueuePlace { number, kind: QueuePlaceKind::Block }) {
            block.is_complete = true;
            block.sealed = sealed.clone().into_owned();
            self.advance(out, ledger);
        }
    }

    /// Takes what came in one piece. Returns the text of a refusal in it.
    pub(super) fn whole<'t>(
        &mut self,
        turn: &'t Turn<'_>,
        out: &mut Vec<u8>,
        cx: &mut EncodeContext<'_>,
    ) -> Option<&'t Str<'t>> {
        report_turn_losses(turn, cx.ledger);
        let mut refusal = None;
        for item in &turn.items {
            if let Item::Refusal(found) = item {
                refusal = Some(&found.text);
            }
            report_item_loss(item, turn.at, cx.ledger);
            let (body, sealed) = self.body(item, cx);
            if let Some(body) = body {
                self.blocks.push_back(QueuedBlock {
                    place: QueuePlace { number: self.next, kind: QueuePlaceKind::Whole },
                    body,
                    is_started: false,
                    is_complete: true,
                    sealed,
                });
            }
        }
        self.advance(out, cx.ledger);
        refusal
    }

    /// No more blocks or pieces come.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>, ledger: &mut Ledger) {
        for block in &mut self.blocks {
            block.is_complete = true;
        }
        self.advance(out, ledger);
    }

    /// The block for an item that came in one piece, if it can be written, and
    /// the seal on it.
    fn body(
        &mut self,
        item: &Item<'_>,
        cx: &mut EncodeContext<'_>,
    ) -> (Option<BlockBody>, Option<Sealed<'static>>) {
        let body = match item {
            Item::Call(call) => {
                let minted_id = self.mint_id();
                BlockBody::Call(StreamedCall::whole(call, &minted_id, cx.ledger))
            }
            Item::Reasoning(reasoning) => {
                let Reasoning { at: _, summary, content, sealed, place: _, extra } = reasoning;
                cx.ledger.only(extra);
                let mut thinking = StreamedThinking::default();
                for (part, text) in summary.iter().enumerate() {
                    thinking.push(&Piece::Summary { part, text: text.borrowed() }, None);
                }
                for (part, text) in content.iter().enumerate() {
                    thinking.push(&Piece::Reasoning { part, text: text.borrowed() }, None);
                }
                return (Some(BlockBody::Thinking(thinking)), sealed.clone().into_owned());
            }
            Item::Refusal(Refusal { at, text, extra }) => {
                report_refusal(*at, cx.ledger);
                cx.ledger.only(extra);
                BlockBody::Text(StreamedText::whole(text))
            }
            Item::Text(Text { at: _, text, citations, logprobs, cache: _, extra }) => {
                if let Some(list) = citations.as_ref().filter(|list| list.text() != "[]") {
                    cx.ledger.dropped(list.pos(), Code::Citations);
                }
                report_logprobs(logprobs.as_ref(), cx.ledger);
                cx.ledger.only(extra);
                BlockBody::Text(StreamedText::whole(text))
            }
            Item::Image(_)
            | Item::Document(_)
            | Item::Audio(_)
            | Item::SearchResult(_)
            | Item::Result(_)
            | Item::Hosted(_)
            | Item::Tools(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_) => {
                let mut bytes = Vec::new();
                match write_part(item, &mut bytes, cx) {
                    WrittenBlock::Nothing => return (None, None),
                    WrittenBlock::BareText | WrittenBlock::Block => BlockBody::Whole(bytes),
                }
            }
        };
        (Some(body), None)
    }

    /// An id for the next call, if it comes without one.
    fn mint_id(&mut self) -> String {
        let minted = ids::mint(&self.message_id, self.calls);
        self.calls += 1;
        minted
    }

    fn find(&mut self, place: QueuePlace) -> Option<&mut QueuedBlock> {
        let found = self.blocks.binary_search_by(|block| block.place.cmp(&place)).ok()?;
        self.blocks.get_mut(found)
    }

    /// Writes what may be written: the first block as far as it has come, and
    /// those behind it if it is complete.
    fn advance(&mut self, out: &mut Vec<u8>, ledger: &mut Ledger) {
        while let Some(first) = self.blocks.front_mut() {
            if !std::mem::replace(&mut first.is_started, true) {
                first.body.start(&mut self.events, out);
            }
            if !first.is_complete {
                return;
            }
            let sealed = first.sealed.take();
            first.body.finish(sealed, &mut self.events, out, ledger);
            if self.events.is_open() {
                self.events.close(out);
            }
            self.blocks.pop_front();
        }
    }
}
