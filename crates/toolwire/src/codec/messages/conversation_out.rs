//! `messages`: the conversation in the order and grouping that the API wants.

use std::collections::BTreeSet;

use super::block_list_out::{BARE_TEXT, BlockList, BlockListState, Written};
use super::content_out::{write_cache, write_part, write_text};
use super::turns_out::is_declaration;
use super::{calls_out, description, reasoning_out, results_out};
use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::{Document, Image, Issuer, Item, Text, ToolResult, Turn};
use crate::thread::{ResultMatch, Thread};
use crate::wire::{Object, Pos, Str};

/// Writes `messages`. Neighbouring turns of one speaker become one message.
pub(super) struct ConversationWriter<'o, 't, 'r, 'a> {
    out: &'o mut Vec<u8>,
    thread: &'t Thread<'r, 'a>,
    /// The names of the tools whose arguments are wrapped in an object.
    wrapped: &'t BTreeSet<String>,
    /// Who speaks in the open message, if one is open.
    speaker: Option<Speaker>,
    /// Where the open message starts in `out`.
    message_start: usize,
    /// Where its blocks start.
    blocks_start: usize,
    blocks: BlockListState,
    /// Where the turn that the open message began with stood in the input.
    message_at: Pos,
    /// Whether the open message holds a turn of the user's.
    has_user_turn: bool,
    /// How many messages are complete.
    complete: usize,
    /// A buffer to be used again.
    spare: Vec<u8>,
}

impl<'o, 't, 'r, 'a> ConversationWriter<'o, 't, 'r, 'a> {
    pub(super) fn new(
        out: &'o mut Vec<u8>,
        thread: &'t Thread<'r, 'a>,
        wrapped: &'t BTreeSet<String>,
    ) -> Self {
        out.push(b'[');
        Self {
            out,
            thread,
            wrapped,
            speaker: None,
            message_start: 0,
            blocks_start: 0,
            blocks: BlockListState::default(),
            message_at: Pos::START,
            has_user_turn: false,
            complete: 0,
            spare: Vec::new(),
        }
    }

    pub(super) fn finish(mut self, context: &mut EncodeContext<'_>) {
        self.close_message(context);
        if self.complete == 0 {
            self.open_message(Speaker::User, Pos::START);
            self.close_message(context);
        }
        self.out.push(b']');
    }

    /// Makes sure that the open message is one of the speaker's.
    fn switch_to(&mut self, speaker: Speaker, at: Pos, context: &mut EncodeContext<'_>) {
        if self.speaker == Some(speaker) {
            return;
        }
        self.close_message(context);
        if self.complete == 0 && speaker != Speaker::User && self.speaker.is_none() {
            // The first message must be the user's.
            self.open_message(Speaker::User, at);
            self.close_message(context);
        }
        self.open_message(speaker, at);
    }

    fn open_message(&mut self, speaker: Speaker, at: Pos) {
        self.has_user_turn = false;
        self.message_start = self.out.len();
        if self.complete > 0 {
            self.out.push(b',');
        }
        self.out.extend_from_slice(match speaker {
            Speaker::User => br#"{"role":"user","content":["#,
            Speaker::Assistant => br#"{"role":"assistant","content":["#,
            Speaker::System => br#"{"role":"system","content":["#,
        });
        self.blocks_start = self.out.len();
        self.blocks = BlockListState::default();
        (self.speaker, self.message_at) = (Some(speaker), at);
    }

    fn close_message(&mut self, context: &mut EncodeContext<'_>) {
        let Some(speaker) = self.speaker.take() else { return };
        if self.blocks.count == 0 {
            match speaker {
                Speaker::User => {
                    context.ledger.degraded(self.message_at, Code::Placeholder);
                    let text = Text::new(Str::plain(EMPTY_MESSAGE));
                    self.add(|out| write_text(&text, out, context));
                }
                Speaker::Assistant | Speaker::System => {
                    self.out.truncate(self.message_start);
                    return;
                }
            }
        }
        if speaker == Speaker::System {
            context.ledger.require(description::MID_CONVERSATION_SYSTEM);
        }
        let blocks = self.out.get(self.blocks_start..).unwrap_or_default();
        match self.blocks.lone_text(blocks).map(<[u8]>::len) {
            Some(length) => {
                // The string takes the place of the list around the block.
                let open = self.blocks_start - 1;
                let literal = self.blocks_start + BARE_TEXT.len();
                self.out.truncate(literal + length);
                self.out.drain(open..literal);
                self.out.push(b'}');
            }
            None => self.out.extend_from_slice(b"]}"),
        }
        self.complete += 1;
    }

    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Written) {
        self.blocks.add(self.out, write);
    }

    /// Writes instructions in the middle of the conversation: where they stood
    /// if the API allows it there, otherwise as a reminder in the user's message.
    pub(super) fn system(
        &mut self,
        turn: &Turn<'_>,
        is_allowed: bool,
        context: &mut EncodeContext<'_>,
    ) {
        if is_declaration(turn) {
            return;
        }
        let follows = matches!(self.speaker, Some(Speaker::User | Speaker::System));
        let in_place = is_allowed && follows;
        if in_place {
            self.switch_to(Speaker::System, turn.at, context);
        } else {
            context.ledger.moved(turn.at, Code::SystemPosition);
            self.switch_to(Speaker::User, turn.at, context);
        }
        for item in &turn.items {
            match item {
                Item::Text(text) if in_place => self.add(|out| write_text(text, out, context)),
                Item::Text(text) if !text.text.is_blank() => {
                    self.add(|out| write_reminder(text, out, context));
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
                | Item::Opaque(_) => self.add(|out| write_part(item, out, context)),
            }
        }
    }

    /// Writes a turn of the user's without the results that answer a call.
    pub(super) fn user(
        &mut self,
        turn: &Turn<'_>,
        matches: &[ResultMatch],
        context: &mut EncodeContext<'_>,
    ) {
        self.switch_to(Speaker::User, turn.at, context);
        if std::mem::replace(&mut self.has_user_turn, true) {
            context.ledger.degraded(turn.at, Code::MessageBoundary).info();
        }
        let mut matches = matches.iter();
        for item in &turn.items {
            match item {
                Item::Result(result) => {
                    if matches.next() == Some(&ResultMatch::Orphan) {
                        self.orphan(result, context);
                    }
                }
                Item::Reasoning(reasoning) => {
                    context.ledger.dropped(reasoning.at, Code::ReasoningUnsigned);
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
                | Item::Opaque(_) => self.add(|out| write_part(item, out, context)),
            }
        }
    }

    /// Writes a result that answers no call, as text of the user's.
    fn orphan(&mut self, result: &ToolResult<'_>, context: &mut EncodeContext<'_>) {
        let id = result.call_id.as_ref().or(result.name.as_ref());
        let id = id.map(|id| id.decode().into_owned()).unwrap_or_default();
        let heading = Text::new(Str::plain(format!("[result of call {id}]")));
        self.add(|out| write_text(&heading, out, context));
        for item in &result.content {
            self.add(|out| results_out::write_part(item, out, context));
        }
        context.lose(&result.extra);
    }

    /// Writes the results of the calls with these numbers.
    pub(super) fn results(&mut self, calls: &[usize], context: &mut EncodeContext<'_>) {
        self.switch_to(Speaker::User, Pos::START, context);
        for &index in calls {
            let Some(paired) = self.thread.calls.get(index) else { continue };
            self.add(|out| {
                results_out::write_result(paired, out, context);
                Written::Block
            });
        }
    }

    /// Writes everything that the model said and called until somebody else
    /// spoke. `first_call` is the number of its first call. Text behind a call
    /// goes before it, because the API takes calls as the end of a message.
    pub(super) fn assistant(
        &mut self,
        turns: &[&Turn<'_>],
        first_call: usize,
        ends_conversation: bool,
        context: &mut EncodeContext<'_>,
    ) {
        let at = turns.first().map_or(Pos::START, |turn| turn.at);
        let mut blocks = BlockList::reusing(std::mem::take(&mut self.spare));
        let parts = assistant_parts(turns, first_call);
        // What the model signed goes back in the order in which it was written,
        // because a signature covers everything before it. In turns of other
        // models, text behind a call goes before it, since the result must
        // follow the call.
        let first = if parts.iter().any(AssistantPart::is_signed) {
            None
        } else {
            parts.iter().position(AssistantPart::is_call)
        };
        let (before, behind) = parts.split_at(first.unwrap_or(parts.len()));
        let last = before.len().saturating_sub(1);
        for (index, part) in before.iter().enumerate() {
            if ends_conversation && behind.is_empty() && index == last {
                self.last_part(part, &mut blocks, context);
            } else {
                self.part(part, &mut blocks, context);
            }
        }
        for part in behind.iter().filter(|part| part.is_content()) {
            if let AssistantPart::Item(Item::Text(text)) = part
                && !text.text.is_blank()
            {
                context.ledger.moved(text.at, Code::Interleaving);
            }
            self.part(part, &mut blocks, context);
        }
        for part in behind.iter().filter(|part| !part.is_content()) {
            self.part(part, &mut blocks, context);
        }
        if blocks.is_empty() {
            let note = context.ledger.dropped(at, Code::Placeholder);
            note.detail("The target refuses an empty message; it is left out.").info();
        } else {
            self.switch_to(Speaker::Assistant, at, context);
            self.add(|out| blocks.append_to(out));
        }
        self.spare = blocks.into_bytes();
    }

    fn part(
        &self,
        part: &AssistantPart<'_, '_>,
        blocks: &mut BlockList,
        context: &mut EncodeContext<'_>,
    ) {
        match part {
            AssistantPart::Call(index) => {
                let Some(paired) = self.thread.calls.get(*index) else { return };
                blocks.add(|out| {
                    calls_out::write_past_call(paired, self.wrapped, out, context);
                    Written::Block
                });
            }
            AssistantPart::Item(Item::Reasoning(reasoning)) => {
                blocks.add(|out| reasoning_out::write_past(reasoning, out, context.ledger));
            }
            AssistantPart::Item(
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
                let note = context.ledger.dropped(*at, Code::MediaType);
                note.detail("The target takes no media in what the model said.");
            }
            AssistantPart::Item(item) => blocks.add(|out| write_part(item, out, context)),
        }
    }

    /// Writes the end of the conversation, which the model is to go on with if
    /// it is text.
    fn last_part(
        &self,
        part: &AssistantPart<'_, '_>,
        blocks: &mut BlockList,
        context: &mut EncodeContext<'_>,
    ) {
        match part {
            AssistantPart::Item(Item::Text(text)) => {
                blocks.add(|out| write_prefill(text, out, context));
            }
            AssistantPart::Item(_) | AssistantPart::Call(_) => self.part(part, blocks, context),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
    System,
}

/// An item of the model's turns. A call is given by its number.
enum AssistantPart<'r, 'a> {
    Item(&'r Item<'a>),
    Call(usize),
}

impl AssistantPart<'_, '_> {
    fn is_call(&self) -> bool {
        matches!(self, Self::Call(_))
    }

    /// Whether it is neither a call nor reasoning.
    fn is_content(&self) -> bool {
        matches!(self, Self::Item(item) if item.reasoning().is_none())
    }

    /// Whether it is reasoning that a model behind Messages signed.
    fn is_signed(&self) -> bool {
        let Self::Item(Item::Reasoning(reasoning)) = self else { return false };
        reasoning.sealed.as_ref().is_some_and(|sealed| sealed.issuer == Issuer::Anthropic)
    }
}

fn assistant_parts<'r, 'a>(
    turns: &[&'r Turn<'a>],
    first_call: usize,
) -> Vec<AssistantPart<'r, 'a>> {
    let mut parts = Vec::new();
    let mut next_call = first_call;
    let mut push = |item: &'r Item<'a>| {
        if matches!(item, Item::Call(_)) {
            parts.push(AssistantPart::Call(next_call));
            next_call += 1;
        } else {
            parts.push(AssistantPart::Item(item));
        }
    };
    for turn in turns {
        if turn.items.iter().any(|item| recorded_place(item).is_some()) {
            in_recorded_order(&turn.items).into_iter().for_each(&mut push);
        } else {
            turn.items.iter().for_each(&mut push);
        }
    }
    parts
}

/// The place that reasoning had in its vendor's answer, if an envelope recorded
/// it.
fn recorded_place(item: &Item<'_>) -> Option<u64> {
    item.reasoning()?.place
}

/// The items of a turn with reasoning back at its recorded place.
fn in_recorded_order<'r, 'a>(items: &'r [Item<'a>]) -> Vec<&'r Item<'a>> {
    let (mut recorded, rest): (Vec<&Item<'_>>, Vec<&Item<'_>>) =
        items.iter().partition(|item| recorded_place(item).is_some());
    recorded.sort_by_key(|item| recorded_place(item));
    let mut recorded = recorded.into_iter().peekable();
    let mut order = Vec::with_capacity(items.len());
    for item in rest {
        while let Some(next) = recorded
            .next_if(|next| recorded_place(next).is_some_and(|place| place <= order.len() as u64))
        {
            order.push(next);
        }
        order.push(item);
    }
    order.extend(recorded);
    order
}

/// Writes the beginning of an answer that the model is to go on with. The API
/// refuses one that ends in whitespace.
fn write_prefill(text: &Text<'_>, out: &mut Vec<u8>, context: &mut EncodeContext<'_>) -> Written {
    let words = text.text.decode();
    let kept = words.trim_end();
    if kept.len() == words.len() || kept.is_empty() {
        return write_text(text, out, context);
    }
    let note = context.ledger.degraded(text.at, Code::Prefill);
    note.detail("The target refuses a begun answer that ends in spaces; they are left out.").info();
    let mut trimmed = text.clone();
    trimmed.text = Str::plain(kept).at(text.text.pos());
    write_text(&trimmed, out, context)
}

fn write_reminder(text: &Text<'_>, out: &mut Vec<u8>, context: &mut EncodeContext<'_>) -> Written {
    let Text { at: _, text: words, citations: _, logprobs: _, cache, extra } = text;
    let mut block = Object::new(out);
    block.put("type", "text");
    let literal = block.key("text");
    literal.extend_from_slice(b"\"<system-reminder>\\n");
    words.write_inside(literal);
    literal.extend_from_slice(b"\\n</system-reminder>\"");
    write_cache(cache.as_ref(), &mut block, context);
    context.lose(extra);
    if cache.is_none() { Written::BareText } else { Written::Block }
}

/// What the user says where the API demands words and there are none.
const EMPTY_MESSAGE: &str = "(empty message)";
