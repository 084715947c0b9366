//! A conversation that came from Messages, as it came.

use std::borrow::Cow;

use super::calls_out::write_input;
use super::content_out::{Pen, Wrote};
use super::{reasoning, tools_in};
use crate::model::{Call, Item, Role, Slot, ToolResult, Turn};
use crate::wire::{Array, Object, Pos, Write};

/// Writes `system` and `messages` as they came from Messages.
pub(super) fn encode(turns: &[Turn<'_>], object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let (top, talk): (Vec<_>, Vec<_>) = turns.iter().partition(|turn| turn.slot == Slot::Top);
    for turn in top {
        own_content(&turn.items, object.key("system"), pen);
    }
    let mut messages = object.array("messages");
    for turn in talk {
        let Turn { at: _, role, slot: _, items, id: _, name: _, status: _, phase: _, extra } = turn;
        let items = own_only(items, pen);
        // The API refuses a message without content.
        if items.is_empty() && !turn.items.is_empty() {
            continue;
        }
        let mut message = messages.object();
        match role {
            Role::System | Role::Developer => message.put("role", "system"),
            Role::User => message.put("role", "user"),
            Role::Assistant => message.put("role", "assistant"),
            Role::Other(role) => message.put("role", role),
        }
        own_content(&items, message.key("content"), pen);
        message.extra(extra);
    }
}

/// The items without reasoning that another vendor sealed or wrote.
fn own_only<'i, 'a>(items: &'i [Item<'a>], pen: &mut Pen<'_>) -> Cow<'i, [Item<'a>]> {
    let lost = |item: &Item<'_>| {
        let found = item.reasoning()?;
        Some((found.at, reasoning::loss(found, true)?))
    };
    let losses: Vec<_> = items.iter().filter_map(lost).collect();
    if losses.is_empty() {
        return Cow::Borrowed(items);
    }
    for (at, code) in losses {
        pen.ledger.dropped(at, code);
    }
    Cow::Owned(items.iter().filter(|item| lost(item).is_none()).cloned().collect())
}

/// Writes content as it came from Messages: a string where it was one.
pub(super) fn own_content(items: &[Item<'_>], out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    if let [Item::Text(text)] = items
        && text.is_bare()
        && text.at == text.text.pos()
    {
        text.text.write(out);
        return;
    }
    let mut blocks = Array::new(out);
    for item in items {
        own_item(item, blocks.item(), pen);
    }
}

/// Writes one item as it came from Messages.
pub(super) fn own_item(item: &Item<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) -> Wrote {
    match item {
        Item::Call(call) => {
            let Call { at: _, id, name, namespace: _, arguments, caller, cache, extra } = call;
            let mut block = Object::new(out);
            block.put("type", "tool_use");
            block.maybe("id", id.as_ref());
            block.put("name", name);
            write_input(arguments, Pos::NONE, block.key("input"), pen);
            block.maybe("caller", caller.as_ref());
            pen.cache(&mut block, cache.as_ref());
            block.extra(extra);
            Wrote::Block
        }
        Item::Result(result) => {
            let ToolResult {
                at: _,
                call_id,
                name: _,
                namespace: _,
                kind: _,
                content,
                is_error,
                cache,
                extra,
            } = result;
            let mut block = Object::new(out);
            block.put("type", "tool_result");
            block.maybe("tool_use_id", call_id.as_ref());
            if !content.is_empty() {
                own_content(content, block.key("content"), pen);
            }
            block.maybe("is_error", is_error.as_ref());
            pen.cache(&mut block, cache.as_ref());
            block.extra(extra);
            Wrote::Block
        }
        Item::Reasoning(item) => reasoning::encode(item, pen, out),
        Item::Tools(list) => {
            let mut array = Listed { out, first: true };
            for tool in list {
                let mut block = Object::new(array.next());
                block.put("type", "tool_addition");
                let mut added = block.object("tool");
                added.put("type", "tool_definition");
                tools_in::encode_own(tool, added.key("definition"), pen);
            }
            Wrote::Block
        }
        Item::Text(_)
        | Item::Image(_)
        | Item::Document(_)
        | Item::Audio(_)
        | Item::SearchResult(_)
        | Item::Refusal(_)
        | Item::Hosted(_)
        | Item::ToolReference(_)
        | Item::Json(_)
        | Item::Opaque(_) => pen.part(item, out),
    }
}

/// Elements of an array that is already open.
struct Listed<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl Listed<'_> {
    fn next(&mut self) -> &mut Vec<u8> {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(b',');
        }
        self.out
    }
}
