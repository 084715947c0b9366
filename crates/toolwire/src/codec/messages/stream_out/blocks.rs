//! The blocks of a stream while they are being written, one after the other.

use std::collections::VecDeque;

use super::super::content_out::{Pen, Wrote};
use super::super::turns_out::turn_losses;
use super::call::CallLive;
use super::events::{Grows, Tap};
use super::text::TextLive;
use super::thinking::ThinkingLive;
use crate::ledger::Code;
use crate::model::{Head, Item, Own, Piece, Reasoning, Refusal, Sealed, Tail, Text, Turn};
use crate::wire::{Pos, Str};

/// Blocks in the order in which they opened. The first is being written, the
/// others wait.
#[derive(Debug, Default)]
pub(super) struct Line {
    blocks: VecDeque<Block>,
    tap: Tap,
    /// The number of the block that opens next.
    next: usize,
    calls: usize,
    /// The answer's id, from which ids of calls are made that have none.
    scope: String,
}

#[derive(Debug)]
struct Block {
    /// Its place: the number of a block, or for what came in one piece that of
    /// the block that follows it.
    place: (usize, Rank),
    body: Body,
    live: bool,
    over: bool,
    sealed: Option<Sealed<'static>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Whole,
    Block,
}

#[derive(Debug)]
enum Body {
    Text(TextLive),
    Thinking(ThinkingLive),
    Call(CallLive),
    /// A block that is written in one piece.
    Ready(Vec<u8>),
}

impl Line {
    /// Says what ids are made from.
    pub(super) fn scope(&mut self, id: String) {
        self.scope = id;
    }

    /// How many calls there were.
    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    pub(super) fn open(
        &mut self,
        number: usize,
        head: &Head<'_>,
        out: &mut Vec<u8>,
        pen: &mut Pen<'_>,
    ) {
        let body = match head {
            Head::Text(part) => Body::Text(TextLive::new(part, pen)),
            Head::Refusal(part) => {
                refusal_note(Pos::START, pen);
                Body::Text(TextLive::new(part, pen))
            }
            Head::Reasoning { id } => {
                if let Some(id) = id {
                    pen.ledger.dropped(id.pos(), Code::ItemId).info();
                }
                Body::Thinking(ThinkingLive::default())
            }
            Head::Call(head) => {
                let minted = self.mint();
                Body::Call(CallLive::open(head, &minted, pen))
            }
        };
        self.next = number + 1;
        self.push((number, Rank::Block), body, Ends::Later);
        self.go_on(out, pen);
    }

    pub(super) fn delta(
        &mut self,
        number: usize,
        piece: &Piece<'_>,
        out: &mut Vec<u8>,
        pen: &mut Pen<'_>,
    ) {
        let place = (number, Rank::Block);
        if let Some(first) = self.blocks.front_mut()
            && first.place == place
        {
            return first.body.grow(piece, Some((&mut self.tap, out)), pen);
        }
        if let Some(waiting) = self.find(place) {
            waiting.body.grow(piece, None, pen);
        }
    }

    pub(super) fn close(
        &mut self,
        number: usize,
        tail: &Tail<'_>,
        out: &mut Vec<u8>,
        pen: &mut Pen<'_>,
    ) {
        let Tail { sealed, extra } = tail;
        pen.ledger.only(extra);
        if let Some(block) = self.find((number, Rank::Block)) {
            block.over = true;
            block.sealed = sealed.clone().into_owned();
            self.go_on(out, pen);
        }
    }

    /// Takes what came in one piece. Gives the text of a refusal in it.
    pub(super) fn whole<'t>(
        &mut self,
        turn: &'t Turn<'_>,
        out: &mut Vec<u8>,
        pen: &mut Pen<'_>,
    ) -> Option<&'t Str<'t>> {
        turn_losses(turn, pen);
        let mut refusal = None;
        for item in &turn.items {
            if let Item::Refusal(said) = item {
                refusal = Some(&said.text);
            }
            let (body, sealed) = self.body(item, pen);
            if let Some(body) = body {
                self.push((self.next, Rank::Whole), body, Ends::Now(sealed));
            }
        }
        self.go_on(out, pen);
        refusal
    }

    /// No block comes or grows any more.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
        for block in &mut self.blocks {
            block.over = true;
        }
        self.go_on(out, pen);
    }

    fn body(
        &mut self,
        item: &Item<'_>,
        pen: &mut Pen<'_>,
    ) -> (Option<Body>, Option<Sealed<'static>>) {
        let body = match item {
            Item::Call(call) => {
                let minted = self.mint();
                Body::Call(CallLive::whole(call, &minted, pen))
            }
            Item::Reasoning(reasoning) => {
                let Reasoning { at: _, summary, content, sealed, place: _, extra } = reasoning;
                pen.ledger.only(extra);
                let mut live = ThinkingLive::default();
                for (part, text) in summary.iter().enumerate() {
                    live.grow(&Piece::Summary { part, text: text.borrowed() }, None);
                }
                for (part, text) in content.iter().enumerate() {
                    live.grow(&Piece::Reasoning { part, text: text.borrowed() }, None);
                }
                return (Some(Body::Thinking(live)), sealed.clone().into_owned());
            }
            Item::Refusal(Refusal { at, text, extra }) => {
                refusal_note(*at, pen);
                pen.ledger.only(extra);
                Body::Text(TextLive::whole(text))
            }
            Item::Text(Text { at: _, text, citations, logprobs, cache: _, extra }) => {
                if let Some(list) = citations.as_ref().filter(|list| list.text() != "[]") {
                    pen.ledger.dropped(list.pos(), Code::Citations);
                }
                if let Some(list) = logprobs.as_ref().filter(|list| list.text() != "[]") {
                    pen.ledger.dropped(list.pos(), Code::Logprobs).info();
                }
                pen.ledger.only(extra);
                Body::Text(TextLive::whole(text))
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
                match pen.part(item, &mut bytes) {
                    Wrote::Nothing => return (None, None),
                    Wrote::BareText | Wrote::Block => Body::Ready(bytes),
                }
            }
        };
        (Some(body), None)
    }

    fn mint(&mut self) -> String {
        let minted = crate::wire::ids::mint(&self.scope, self.calls);
        self.calls += 1;
        minted
    }

    fn push(&mut self, place: (usize, Rank), body: Body, ends: Ends) {
        let (over, sealed) = match ends {
            Ends::Later => (false, None),
            Ends::Now(sealed) => (true, sealed),
        };
        self.blocks.push_back(Block { place, body, live: false, over, sealed });
    }

    fn find(&mut self, place: (usize, Rank)) -> Option<&mut Block> {
        let found = self.blocks.binary_search_by(|block| block.place.cmp(&place)).ok()?;
        self.blocks.get_mut(found)
    }

    /// Writes what may be written: the first block as far as it has come, and
    /// those behind it if it is over.
    fn go_on(&mut self, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
        while let Some(first) = self.blocks.front_mut() {
            if !std::mem::replace(&mut first.live, true) {
                first.body.enter(&mut self.tap, out);
            }
            if !first.over {
                return;
            }
            let sealed = first.sealed.take();
            first.body.leave(sealed, &mut self.tap, out, pen);
            if self.tap.begun() {
                self.tap.end(out);
            }
            self.blocks.pop_front();
        }
    }
}

/// When a block that is put in line is over.
enum Ends {
    Later,
    Now(Option<Sealed<'static>>),
}

/// Where a block that is being written goes. `None` while it waits.
pub(super) type Live<'w> = Option<(&'w mut Tap, &'w mut Vec<u8>)>;

impl Body {
    fn grow(&mut self, piece: &Piece<'_>, live: Live<'_>, pen: &mut Pen<'_>) {
        match (self, piece) {
            (Self::Text(body), Piece::Text { text, logprobs }) => {
                if let Some(list) = logprobs.as_ref().filter(|list| list.text() != "[]") {
                    pen.ledger.dropped(list.pos(), Code::Logprobs).info();
                }
                body.say(text, live);
            }
            (Self::Text(_), Piece::Citation(citation)) => {
                pen.ledger.dropped(citation.pos(), Code::Citations);
            }
            (Self::Call(body), Piece::Arguments(text)) => body.grow(text, live),
            (
                Self::Thinking(body),
                Piece::Summary { part: _, text: _ } | Piece::Reasoning { part: _, text: _ },
            ) => body.grow(piece, live),
            // A block has pieces of its own kind only. A client breaks off at
            // any other.
            (_, _) => {}
        }
    }

    fn enter(&mut self, tap: &mut Tap, out: &mut Vec<u8>) {
        match self {
            Self::Text(body) => body.enter(tap, out),
            Self::Thinking(body) => body.enter(tap, out),
            Self::Call(body) => body.enter(tap, out),
            Self::Ready(block) => {
                tap.begin(Grows::Text, out, |out| out.extend_from_slice(block));
            }
        }
    }

    fn leave(
        &mut self,
        sealed: Option<Sealed<'static>>,
        tap: &mut Tap,
        out: &mut Vec<u8>,
        pen: &mut Pen<'_>,
    ) {
        match self {
            Self::Text(body) => body.leave(tap, pen),
            Self::Thinking(body) => body.leave(sealed, tap, out, pen),
            Self::Call(body) => body.leave(tap, out, pen),
            Self::Ready(_) => {}
        }
    }
}

fn refusal_note(at: Pos, pen: &mut Pen<'_>) {
    let note = pen.ledger.emulated(at, Code::StopReason);
    note.detail("The target has no refusal among content; it crosses as text.");
}
