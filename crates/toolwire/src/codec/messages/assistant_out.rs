//! The model's turns: what it said, thought and called.

use std::collections::BTreeSet;

use super::blocks_out::{BlockWriter, WrittenBlock};
use super::content_out::{write_part, write_text};
use super::{calls_out, reasoning_out};
use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::{Issuer, Item, Text, Turn};
use crate::thread::Thread;
use crate::wire::Str;

/// Writes the blocks of a message of the model's.
pub(super) struct AssistantWriter<'t, 'r, 'a> {
    pub(super) thread: &'t Thread<'r, 'a>,
    /// The names of the tools whose arguments are wrapped in an object.
    pub(super) wrapped: &'t BTreeSet<String>,
}

impl AssistantWriter<'_, '_, '_> {
    /// Writes the parts. Text behind a call goes before it, because the API
    /// takes calls as the end of a message and wants the results next. But what
    /// a model behind Messages signed goes back in the order in which it was
    /// written, because a signature covers everything before it.
    pub(super) fn write(
        &self,
        parts: &[AssistantPart<'_, '_>],
        ends_conversation: bool,
        blocks: &mut BlockWriter,
        cx: &mut EncodeContext<'_>,
    ) {
        let first_call = if parts.iter().any(AssistantPart::is_signed) {
            None
        } else {
            parts.iter().position(AssistantPart::is_call)
        };
        let (before, behind) = parts.split_at(first_call.unwrap_or(parts.len()));
        let last = before.len().saturating_sub(1);
        for (index, part) in before.iter().enumerate() {
            if ends_conversation && behind.is_empty() && index == last {
                self.last_part(part, blocks, cx);
            } else {
                self.part(part, blocks, cx);
            }
        }
        for part in behind.iter().filter(|part| part.is_content()) {
            if let AssistantPart::Item(Item::Text(text)) = part
                && !text.text.is_blank()
            {
                cx.ledger.moved(text.at, Code::Interleaving);
            }
            self.part(part, blocks, cx);
        }
        for part in behind.iter().filter(|part| !part.is_content()) {
            self.part(part, blocks, cx);
        }
    }

    fn part(
        &self,
        part: &AssistantPart<'_, '_>,
        blocks: &mut BlockWriter,
        cx: &mut EncodeContext<'_>,
    ) {
        match part {
            AssistantPart::Call(index) => {
                let Some(paired) = self.thread.calls.get(*index) else { return };
                blocks.add(|out| {
                    calls_out::write_past_call(paired, self.wrapped, out, cx);
                    WrittenBlock::Block
                });
            }
            AssistantPart::Item(Item::Reasoning(reasoning)) => {
                blocks.add(|out| reasoning_out::write_past(reasoning, out, cx.ledger));
            }
            AssistantPart::Item(item @ (Item::Image(_) | Item::Document(_))) => {
                let (at, code) = item.loss();
                let note = cx.ledger.dropped(at, code);
                note.detail("The target takes no media in what the model said.");
            }
            AssistantPart::Item(item) => blocks.add(|out| write_part(item, out, cx)),
        }
    }

    /// Writes the end of the conversation, which the model is to go on with if
    /// it is text.
    fn last_part(
        &self,
        part: &AssistantPart<'_, '_>,
        blocks: &mut BlockWriter,
        cx: &mut EncodeContext<'_>,
    ) {
        if let AssistantPart::Item(Item::Text(text)) = part {
            blocks.add(|out| write_prefill(text, out, cx));
        } else {
            self.part(part, blocks, cx);
        }
    }
}

/// An item of the model's turns. A call is given by its number.
pub(super) enum AssistantPart<'r, 'a> {
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

/// The items of the model's turns, in order. `first_call` is the number of the
/// first call.
pub(super) fn assistant_parts<'r, 'a>(
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
fn write_prefill(text: &Text<'_>, out: &mut Vec<u8>, cx: &mut EncodeContext<'_>) -> WrittenBlock {
    let words = text.text.decode();
    let kept = words.trim_end();
    if kept.len() == words.len() || kept.is_empty() {
        return write_text(text, out, cx);
    }
    let note = cx.ledger.degraded(text.at, Code::Prefill);
    note.detail("The target refuses a begun answer that ends in spaces; they are left out.").info();
    let mut trimmed = text.clone();
    trimmed.text = Str::plain(kept).at(text.text.pos());
    write_text(&trimmed, out, cx)
}
