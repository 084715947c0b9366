//! `messages`: the conversation in the order and grouping that the API wants.

use std::collections::BTreeSet;

use super::assistant_out::{AssistantWriter, assistant_parts};
use super::blocks_out::{BARE_TEXT, BlockWriter, BlockWriterState, WrittenBlock};
use super::content_out::{write_cache, write_part, write_text};
use super::turns_out::is_declaration;
use super::{description, results_out};
use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::{Item, Text, ToolResult, Turn};
use crate::thread::{ResultMatch, Thread};
use crate::wire::{Object, Pos, Str};

/// Writes `messages`. Neighbouring turns of one role become one message.
pub(super) struct ConversationWriter<'o, 't, 'r, 'a> {
    out: &'o mut Vec<u8>,
    thread: &'t Thread<'r, 'a>,
    /// The names of the tools whose arguments are wrapped in an object.
    wrapped: &'t BTreeSet<String>,
    /// The role of the open message, if one is open.
    role: Option<MessageRole>,
    /// Where the open message starts in `out`.
    message_start: usize,
    /// Where its blocks start.
    blocks_start: usize,
    blocks: BlockWriterState,
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
            role: None,
            message_start: 0,
            blocks_start: 0,
            blocks: BlockWriterState::default(),
            message_at: Pos::START,
            has_user_turn: false,
            complete: 0,
            spare: Vec::new(),
        }
    }

    pub(super) fn finish(mut self, cx: &mut EncodeContext<'_>) {
        self.close_message(cx);
        if self.complete == 0 {
            self.open_message(MessageRole::User, Pos::START);
            self.close_message(cx);
        }
        self.out.push(b']');
    }

    /// Makes sure that the open message has this role.
    fn switch_to(&mut self, role: MessageRole, at: Pos, cx: &mut EncodeContext<'_>) {
        if self.role == Some(role) {
            return;
        }
        self.close_message(cx);
        if self.complete == 0 && role != MessageRole::User && self.role.is_none() {
            // The first message must be the user's.
            self.open_message(MessageRole::User, at);
            self.close_message(cx);
        }
        self.open_message(role, at);
    }

    fn open_message(&mut self, role: MessageRole, at: Pos) {
        self.has_user_turn = false;
        self.message_start = self.out.len();
        if self.complete > 0 {
            self.out.push(b',');
        }
        self.out.extend_from_slice(match role {
            MessageRole::User => br#"{"role":"user","content":["#,
            MessageRole::Assistant => br#"{"role":"assistant","content":["#,
            MessageRole::System => br#"{"role":"system","content":["#,
        });
        self.blocks_start = self.out.len();
        self.blocks = BlockWriterState::default();
        (self.role, self.message_at) = (Some(role), at);
    }

    fn close_message(&mut self, cx: &mut EncodeContext<'_>) {
        let Some(role) = self.role.take() else { return };
        if self.blocks.count == 0 {
            match role {
                MessageRole::User => {
                    cx.ledger.degraded(self.message_at, Code::Placeholder);
                    let text = Text::new(Str::plain(EMPTY_MESSAGE));
                    self.add(|out| write_text(&text, out, cx));
                }
                MessageRole::Assistant | MessageRole::System => {
                    self.out.truncate(self.message_start);
                    return;
                }
            }
        }
        if role == MessageRole::System {
            cx.ledger.require(description::MID_CONVERSATION_SYSTEM);
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

    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> WrittenBlock) {
        self.blocks.add(self.out, write);
    }

    /// Writes instructions in the middle of the conversation: where they stood
    /// if the API allows it there, otherwise as a reminder in the user's message.
    pub(super) fn system(&mut self, turn: &Turn<'_>, is_allowed: bool, cx: &mut EncodeContext<'_>) {
        if is_declaration(turn) {
            return;
        }
        let follows = matches!(self.role, Some(MessageRole::User | MessageRole::System));
        let in_place = is_allowed && follows;
        if in_place {
            self.switch_to(MessageRole::System, turn.at, cx);
        } else {
            cx.ledger.moved(turn.at, Code::SystemPosition);
            self.switch_to(MessageRole::User, turn.at, cx);
        }
        for item in &turn.items {
            if let Item::Text(text) = item
                && (in_place || !text.text.is_blank())
            {
                let write = if in_place { write_text } else { write_reminder };
                self.add(|out| write(text, out, cx));
            } else {
                self.add(|out| write_part(item, out, cx));
            }
        }
    }

    /// Writes a turn of the user's without the results that answer a call.
    pub(super) fn user(
        &mut self,
        turn: &Turn<'_>,
        matches: &[ResultMatch],
        cx: &mut EncodeContext<'_>,
    ) {
        self.switch_to(MessageRole::User, turn.at, cx);
        if std::mem::replace(&mut self.has_user_turn, true) {
            cx.ledger.degraded(turn.at, Code::MessageBoundary).info();
        }
        let mut matches = matches.iter();
        for item in &turn.items {
            if let Item::Result(result) = item {
                if matches.next() == Some(&ResultMatch::Orphan) {
                    self.orphan(result, cx);
                }
            } else if let Item::Reasoning(reasoning) = item {
                cx.ledger.dropped(reasoning.at, Code::ReasoningUnsigned);
            } else {
                self.add(|out| write_part(item, out, cx));
            }
        }
    }

    /// Writes a result that answers no call, as text of the user's.
    fn orphan(&mut self, result: &ToolResult<'_>, cx: &mut EncodeContext<'_>) {
        let id = result.call_id.as_ref().or(result.name.as_ref());
        let id = id.map(|id| id.decode().into_owned()).unwrap_or_default();
        let heading = Text::new(Str::plain(format!("[result of call {id}]")));
        self.add(|out| write_text(&heading, out, cx));
        for item in &result.content {
            self.add(|out| results_out::write_part(item, out, cx));
        }
        cx.ledger.only(&result.extra);
    }

    /// Writes the results of the calls with these numbers.
    pub(super) fn results(&mut self, calls: &[usize], cx: &mut EncodeContext<'_>) {
        self.switch_to(MessageRole::User, Pos::START, cx);
        for &index in calls {
            let Some(paired) = self.thread.calls.get(index) else { continue };
            self.add(|out| {
                results_out::write_result(paired, out, cx);
                WrittenBlock::Block
            });
        }
    }

    /// Writes the model's turns until somebody else speaks. `first_call` is the
    /// number of their first call.
    pub(super) fn assistant(
        &mut self,
        turns: &[&Turn<'_>],
        first_call: usize,
        ends_conversation: bool,
        cx: &mut EncodeContext<'_>,
    ) {
        let at = turns.first().map_or(Pos::START, |turn| turn.at);
        let mut blocks = BlockWriter::reusing(std::mem::take(&mut self.spare));
        let parts = assistant_parts(turns, first_call);
        let writer = AssistantWriter { thread: self.thread, wrapped: self.wrapped };
        writer.write(&parts, ends_conversation, &mut blocks, cx);
        if blocks.is_empty() {
            let note = cx.ledger.dropped(at, Code::Placeholder);
            note.detail("The target refuses an empty message; it is left out.").info();
        } else {
            self.switch_to(MessageRole::Assistant, at, cx);
            self.add(|out| blocks.append_to(out));
        }
        self.spare = blocks.into_bytes();
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageRole {
    User,
    Assistant,
    System,
}

fn write_reminder(text: &Text<'_>, out: &mut Vec<u8>, cx: &mut EncodeContext<'_>) -> WrittenBlock {
    let Text { at: _, text: words, citations: _, logprobs: _, cache, extra } = text;
    let mut block = Object::new(out);
    block.put("type", "text");
    let literal = block.key("text");
    literal.extend_from_slice(b"\"<system-reminder>\\n");
    words.write_inside(literal);
    literal.extend_from_slice(b"\\n</system-reminder>\"");
    write_cache(cache.as_ref(), &mut block, cx);
    cx.ledger.only(extra);
    if cache.is_none() { WrittenBlock::BareText } else { WrittenBlock::Block }
}

/// What the user says where the API demands words and there are none.
const EMPTY_MESSAGE: &str = "(empty message)";
