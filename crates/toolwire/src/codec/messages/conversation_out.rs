//! The messages of a conversation in the order and grouping that the API wants.

use std::collections::BTreeSet;

use super::block_list_out::{BARE_TEXT, Blocks, add_block, lone_text};
use super::content_out::{Pen, Wrote};
use super::turns_out::is_declaration;
use super::{calls_out, reasoning_out, results_out};
use crate::ledger::Code;
use crate::model::{Document, Image, Issuer, Item, Text, ToolResult, Turn};
use crate::thread::{ResultMatch, Thread};
use crate::toolset::Toolset;
use crate::wire::{Object, Pos, Str};

/// Messages being written: neighbours of one speaker become one message.
pub(super) struct Talk<'o, 't, 'r, 'a> {
    out: &'o mut Vec<u8>,
    thread: &'t Thread<'r, 'a>,
    toolset: &'t Toolset<'t, 't>,
    wrapped: &'t BTreeSet<String>,
    speaker: Option<Speaker>,
    /// Where the open message starts, and where its blocks do.
    start: usize,
    blocks: usize,
    count: usize,
    bare: bool,
    /// Whether the open message holds what a user said in a turn.
    said: bool,
    /// How many messages are complete.
    complete: usize,
    /// Where the turn stood that the open message began with.
    at: Pos,
    /// A buffer that was used and may be again.
    spare: Vec<u8>,
}

impl<'o, 't, 'r, 'a> Talk<'o, 't, 'r, 'a> {
    pub(super) fn new(
        out: &'o mut Vec<u8>,
        thread: &'t Thread<'r, 'a>,
        toolset: &'t Toolset<'t, 't>,
        wrapped: &'t BTreeSet<String>,
    ) -> Self {
        out.push(b'[');
        Self {
            out,
            thread,
            toolset,
            wrapped,
            speaker: None,
            start: 0,
            blocks: 0,
            count: 0,
            bare: false,
            said: false,
            complete: 0,
            at: Pos::START,
            spare: Vec::new(),
        }
    }

    pub(super) fn finish(mut self, pen: &mut Pen<'_>) {
        self.close(pen);
        if self.complete == 0 {
            self.open(Speaker::User, Pos::START);
            self.close(pen);
        }
        self.out.push(b']');
    }

    fn turn(&mut self, speaker: Speaker, at: Pos, pen: &mut Pen<'_>) {
        if self.speaker == Some(speaker) {
            return;
        }
        self.close(pen);
        if self.complete == 0 && speaker != Speaker::User && self.speaker.is_none() {
            // The first message must be the user's.
            self.open(Speaker::User, at);
            self.close(pen);
        }
        self.open(speaker, at);
    }

    fn open(&mut self, speaker: Speaker, at: Pos) {
        self.said = false;
        self.start = self.out.len();
        if self.complete > 0 {
            self.out.push(b',');
        }
        self.out.extend_from_slice(match speaker {
            Speaker::User => br#"{"role":"user","content":["#,
            Speaker::Assistant => br#"{"role":"assistant","content":["#,
            Speaker::System => br#"{"role":"system","content":["#,
        });
        self.blocks = self.out.len();
        (self.count, self.bare, self.speaker, self.at) = (0, false, Some(speaker), at);
    }

    fn close(&mut self, pen: &mut Pen<'_>) {
        let Some(speaker) = self.speaker.take() else { return };
        if self.count == 0 {
            match speaker {
                Speaker::User => {
                    pen.ledger.degraded(self.at, Code::Placeholder);
                    let text = Text::new(Str::plain(PLACEHOLDER));
                    self.add(|out| pen.text(&text, out));
                }
                Speaker::Assistant | Speaker::System => {
                    self.out.truncate(self.start);
                    return;
                }
            }
        }
        let body = self.out.get(self.blocks..).unwrap_or_default();
        match lone_text(body, self.count, self.bare).map(<[u8]>::len) {
            Some(length) => {
                // The string takes the place of the list around the block.
                let open = self.blocks - 1;
                let literal = self.blocks + BARE_TEXT.len();
                self.out.truncate(literal + length);
                self.out.drain(open..literal);
                self.out.push(b'}');
            }
            None => self.out.extend_from_slice(b"]}"),
        }
        self.complete += 1;
    }

    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote) {
        add_block(self.out, &mut self.count, &mut self.bare, write);
    }

    /// Writes instructions in the middle of the conversation: where they stand
    /// if that is allowed, else as a reminder among the user's words.
    pub(super) fn system(&mut self, turn: &Turn<'_>, in_place: bool, pen: &mut Pen<'_>) {
        if is_declaration(turn) {
            return;
        }
        let follows = matches!(self.speaker, Some(Speaker::User | Speaker::System));
        let in_place = in_place && follows;
        if in_place {
            self.turn(Speaker::System, turn.at, pen);
        } else {
            pen.ledger.moved(turn.at, Code::SystemPosition);
            self.turn(Speaker::User, turn.at, pen);
        }
        for item in &turn.items {
            match item {
                Item::Text(text) if in_place => self.add(|out| pen.text(text, out)),
                Item::Text(text) if !text.text.is_blank() => {
                    self.add(|out| reminder(text, out, pen));
                }
                Item::Text(_)
                | Item::Image(_)
                | Item::Document(_)
                | Item::Audio(_)
                | Item::SearchResult(_)
                | Item::Refusal(_)
                | Item::Reasoning(_)
                | Item::Call(_)
                | Item::Result(_)
                | Item::Hosted(_)
                | Item::Tools(_)
                | Item::ToolReference(_)
                | Item::Json(_)
                | Item::Opaque(_) => self.add(|out| pen.part(item, out)),
            }
        }
    }

    pub(super) fn user(&mut self, turn: &Turn<'_>, fates: &[ResultMatch], pen: &mut Pen<'_>) {
        self.turn(Speaker::User, turn.at, pen);
        if std::mem::replace(&mut self.said, true) {
            pen.ledger.degraded(turn.at, Code::MessageBoundary).info();
        }
        let mut fates = fates.iter();
        for item in &turn.items {
            match item {
                Item::Result(result) => {
                    if fates.next() == Some(&ResultMatch::Orphan) {
                        self.orphan(result, pen);
                    }
                }
                Item::Reasoning(reasoning) => {
                    pen.ledger.dropped(reasoning.at, Code::ReasoningUnsigned);
                }
                Item::Text(_)
                | Item::Image(_)
                | Item::Document(_)
                | Item::Audio(_)
                | Item::SearchResult(_)
                | Item::Refusal(_)
                | Item::Call(_)
                | Item::Hosted(_)
                | Item::Tools(_)
                | Item::ToolReference(_)
                | Item::Json(_)
                | Item::Opaque(_) => self.add(|out| pen.part(item, out)),
            }
        }
    }

    /// A result that answers no call is told to the model as the user's words.
    fn orphan(&mut self, result: &ToolResult<'_>, pen: &mut Pen<'_>) {
        let id = result.call_id.as_ref().or(result.name.as_ref());
        let id = id.map(|id| id.decode().into_owned()).unwrap_or_default();
        let head = Text::new(Str::plain(format!("[result of call {id}]")));
        self.add(|out| pen.text(&head, out));
        for item in &result.content {
            self.add(|out| results_out::result_part(item, out, pen));
        }
        pen.ledger.only(&result.extra);
    }

    pub(super) fn results(&mut self, order: &[usize], pen: &mut Pen<'_>) {
        self.turn(Speaker::User, Pos::START, pen);
        for &index in order {
            let Some(paired) = self.thread.calls.get(index) else { continue };
            self.add(|out| {
                results_out::result(paired, out, pen);
                Wrote::Block
            });
        }
    }

    /// Writes all that the model said and called until somebody else spoke.
    /// Text behind a call goes before it: the API takes calls as the end of
    /// what the model says.
    pub(super) fn assistant(
        &mut self,
        turns: &[&Turn<'_>],
        calls: usize,
        end: bool,
        pen: &mut Pen<'_>,
    ) {
        let at = turns.first().map_or(Pos::START, |turn| turn.at);
        let mut blocks = Blocks::reusing(std::mem::take(&mut self.spare));
        let mut pieces: Vec<Piece<'_, '_>> = Vec::new();
        let mut next = calls;
        let mut take = |item| {
            if matches!(item, &Item::Call(_)) {
                pieces.push(Piece::Call(next));
                next += 1;
            } else {
                pieces.push(Piece::Item(item));
            }
        };
        for turn in turns {
            if turn.items.iter().any(|item| place(item).is_some()) {
                placed(&turn.items).into_iter().for_each(&mut take);
            } else {
                turn.items.iter().for_each(&mut take);
            }
        }
        let is_call = |piece: &Piece<'_, '_>| matches!(piece, Piece::Call(_));
        // What the model signed goes back in the order in which it was said: the
        // signature covers what stands before it. Of other models, text behind
        // a call comes before it, since the result must follow the call.
        let signed = |piece: &Piece<'_, '_>| matches!(piece, Piece::Item(item) if is_signed(item));
        let first = if pieces.iter().any(signed) { None } else { pieces.iter().position(is_call) };
        let first = first.unwrap_or(pieces.len());
        let (before, behind) = pieces.split_at(first);
        let said = |piece: &&Piece<'_, '_>| matches!(piece, Piece::Item(item) if !matches!(item, Item::Reasoning(_)));
        let last = before.len().saturating_sub(1);
        for (index, piece) in before.iter().enumerate() {
            let prefill = end && behind.is_empty() && index == last;
            self.piece(piece, prefill, &mut blocks, pen);
        }
        for piece in behind.iter().filter(said) {
            if let Piece::Item(Item::Text(text)) = piece
                && !text.text.is_blank()
            {
                pen.ledger.moved(text.at, Code::Interleaving);
            }
            self.piece(piece, false, &mut blocks, pen);
        }
        for piece in behind.iter().filter(|piece| !said(piece)) {
            self.piece(piece, false, &mut blocks, pen);
        }
        if blocks.count == 0 {
            let note = pen.ledger.dropped(at, Code::Placeholder);
            note.detail("The target refuses an empty message; it is left out.").info();
        } else {
            self.turn(Speaker::Assistant, at, pen);
            self.add(|out| blocks.append(out));
        }
        self.spare = blocks.into_bytes();
    }

    fn piece(&self, piece: &Piece<'_, '_>, prefill: bool, blocks: &mut Blocks, pen: &mut Pen<'_>) {
        match piece {
            Piece::Call(index) => {
                let Some(paired) = self.thread.calls.get(*index) else { return };
                blocks.add(|out| {
                    calls_out::call(paired, self.toolset, self.wrapped, out, pen);
                    Wrote::Block
                });
            }
            Piece::Item(Item::Reasoning(reasoning)) => {
                blocks.add(|out| reasoning_out::encode_history(reasoning, pen, out));
            }
            Piece::Item(
                Item::Image(Image { at, source: _, detail: _, cache: _, extra: _ })
                | Item::Document(Document {
                    at,
                    source: _,
                    name: _,
                    context: _,
                    citations: _,
                    cache: _,
                    extra: _,
                }),
            ) => {
                let note = pen.ledger.dropped(*at, Code::MediaType);
                note.detail("The target takes no media in what the model said.");
            }
            Piece::Item(Item::Text(text)) if prefill => blocks.add(|out| begun(text, out, pen)),
            Piece::Item(item) => blocks.add(|out| pen.part(item, out)),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
    System,
}

enum Piece<'r, 'a> {
    Item(&'r Item<'a>),
    Call(usize),
}

/// The place that reasoning had with its vendor.
fn place(item: &Item<'_>) -> Option<u64> {
    item.reasoning()?.place
}

/// The items of a turn with reasoning at the place it had with its vendor.
fn placed<'r, 'a>(items: &'r [Item<'a>]) -> Vec<&'r Item<'a>> {
    let (mut wanting, rest): (Vec<&Item<'_>>, Vec<&Item<'_>>) =
        items.iter().partition(|item| place(item).is_some());
    wanting.sort_by_key(|item| place(item));
    let mut wanting = wanting.into_iter().peekable();
    let mut order = Vec::with_capacity(items.len());
    for item in rest {
        while let Some(next) =
            wanting.next_if(|next| place(next).is_some_and(|place| place <= order.len() as u64))
        {
            order.push(next);
        }
        order.push(item);
    }
    order.extend(wanting);
    order
}

/// A begun answer must not end in whitespace.
fn begun(text: &Text<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) -> Wrote {
    let words = text.text.decode();
    let kept = words.trim_end();
    if kept.len() == words.len() || kept.is_empty() {
        return pen.text(text, out);
    }
    let note = pen.ledger.degraded(text.at, Code::Prefill);
    note.detail("The target refuses a begun answer that ends in spaces; they are left out.").info();
    let mut trimmed = text.clone();
    trimmed.text = Str::plain(kept).at(text.text.pos());
    pen.text(&trimmed, out)
}

fn reminder(text: &Text<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) -> Wrote {
    let Text { at: _, text: words, citations: _, logprobs: _, cache, extra } = text;
    let mut block = Object::new(out);
    block.put("type", "text");
    let literal = block.key("text");
    literal.extend_from_slice(b"\"<system-reminder>\\n");
    words.write_inside(literal);
    literal.extend_from_slice(b"\\n</system-reminder>\"");
    pen.cache(&mut block, cache.as_ref());
    pen.ledger.only(extra);
    if cache.is_none() { Wrote::BareText } else { Wrote::Block }
}

/// What the user is taken to say where the API demands words and there are
/// none.
const PLACEHOLDER: &str = "(empty message)";

/// Whether an item is reasoning that a model behind Messages signed.
fn is_signed(item: &Item<'_>) -> bool {
    let Item::Reasoning(reasoning) = item else { return false };
    reasoning.sealed.as_ref().is_some_and(|sealed| sealed.issuer == Issuer::Anthropic)
}
