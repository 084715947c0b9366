//! Results of calls: from the model to Messages.

use super::block_list_out::Blocks;
use super::content_out::{Pen, Wrote};
use crate::ledger::Code;
use crate::model::{Item, ResultKind, Text, ToolResult};
use crate::native;
use crate::thread::Paired;
use crate::wire::{Object, Str};

/// Writes the result of a call, or one that says there is none.
pub(super) fn result(paired: &Paired<'_, '_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    let mut block = Object::new(out);
    block.put("type", "tool_result");
    block.put("tool_use_id", &paired.id);
    let Some(result) = paired.result else {
        block.put("content", "no result supplied");
        block.put("is_error", &true);
        return;
    };
    let ToolResult { at: _, call_id: _, name, namespace, kind, content, is_error, cache, extra } =
        result;
    let of_call = [Some(&paired.call.name), paired.call.namespace.as_ref()];
    for (label, of_call) in [name, namespace].into_iter().zip(of_call) {
        let Some(label) = label else { continue };
        if of_call == Some(label) {
            let note = pen.ledger.emulated(label.pos(), Code::ResultName);
            note.detail("The call that the result answers has the name.");
        } else {
            pen.ledger.dropped(label.pos(), Code::ResultName).info();
        }
    }
    let rendered = match kind {
        ResultKind::Native(_) => native::result_text(result),
        ResultKind::Function | ResultKind::Freeform => None,
    };
    match rendered {
        Some(text) => {
            pen.ledger.emulated(result.at, Code::NativeToolWrapped);
            block.put("content", &text);
        }
        None => result_content(content, &mut block, pen),
    }
    block.maybe("is_error", is_error.as_ref());
    pen.cache(&mut block, cache.as_ref());
    pen.ledger.only(extra);
}

fn result_content(content: &[Item<'_>], block: &mut Object<'_>, pen: &mut Pen<'_>) {
    if let [Item::Text(text)] = content
        && text.is_bare()
    {
        if !text.text.is_empty() {
            block.put("content", &text.text);
        }
        return;
    }
    let mut blocks = Blocks::default();
    for item in content {
        blocks.add(|out| result_part(item, out, pen));
    }
    if blocks.count > 0 {
        blocks.write(block.key("content"));
    }
}

/// Writes what stands inside a result.
pub(super) fn result_part(item: &Item<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) -> Wrote {
    match item {
        Item::Tools(tools) => {
            let mut told = String::from("Loaded tools:");
            for tool in tools {
                told.push(' ');
                told.push_str(&tool.name.decode());
            }
            pen.text(&Text::new(Str::plain(told)), out)
        }
        Item::Call(_) | Item::Result(_) => {
            pen.ledger.misplaced(item);
            Wrote::Nothing
        }
        Item::Text(_)
        | Item::Image(_)
        | Item::Document(_)
        | Item::Audio(_)
        | Item::SearchResult(_)
        | Item::Refusal(_)
        | Item::Reasoning(_)
        | Item::Hosted(_)
        | Item::ToolReference(_)
        | Item::Json(_)
        | Item::Opaque(_) => pen.part(item, out),
    }
}
