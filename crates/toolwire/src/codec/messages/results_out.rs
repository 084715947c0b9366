//! Results of calls: from the model to Messages.

use super::blocks_out::{BlockWriter, WrittenBlock};
use super::content_out::{self, write_cache, write_text};
use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::{Item, ResultKind, Text, ToolResult};
use crate::native;
use crate::thread::Paired;
use crate::wire::{Object, Str};

/// Writes the result of a call, or one that says that there is none.
pub(super) fn write_result(paired: &Paired<'_, '_>, out: &mut Vec<u8>, cx: &mut EncodeContext<'_>) {
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
            let note = cx.ledger.emulated(label.pos(), Code::ResultName);
            note.detail("The call that the result answers has the name.");
        } else {
            cx.ledger.dropped(label.pos(), Code::ResultName).info();
        }
    }
    let rendered = match kind {
        ResultKind::Native(_) => native::result_text(result),
        ResultKind::Function | ResultKind::Freeform => None,
    };
    match rendered {
        Some(text) => {
            cx.ledger.emulated(result.at, Code::NativeToolWrapped);
            block.put("content", &text);
        }
        None => write_content(content, &mut block, cx),
    }
    block.maybe("is_error", is_error.as_ref());
    write_cache(cache.as_ref(), &mut block, cx);
    cx.ledger.only(extra);
}

fn write_content(content: &[Item<'_>], block: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    if let [Item::Text(text)] = content
        && text.is_bare()
    {
        if !text.text.is_empty() {
            block.put("content", &text.text);
        }
        return;
    }
    let mut blocks = BlockWriter::default();
    for item in content {
        blocks.add(|out| write_part(item, out, cx));
    }
    if !blocks.is_empty() {
        blocks.write(block.key("content"));
    }
}

/// Writes an item of a result.
pub(super) fn write_part(
    item: &Item<'_>,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
) -> WrittenBlock {
    if let Item::Tools(tools) = item {
        let mut list = String::from("Loaded tools:");
        for tool in tools {
            list.push(' ');
            list.push_str(&tool.name.decode());
        }
        write_text(&Text::new(Str::plain(list)), out, cx)
    } else if let Item::Call(_) | Item::Result(_) = item {
        cx.ledger.misplaced(item);
        WrittenBlock::Nothing
    } else {
        content_out::write_part(item, out, cx)
    }
}
