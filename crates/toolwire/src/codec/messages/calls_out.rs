//! Calls and results of another protocol's conversation.

use std::collections::BTreeSet;

use super::blocks::Blocks;
use super::content_out::{Pen, Wrote};
use crate::ledger::Code;
use crate::model::{Arguments, Call, Item, ResultKind, Text, ToolResult};
use crate::native;
use crate::thread::Paired;
use crate::toolset::Toolset;
use crate::wire::{Kind, Object, Pos, Raw, Str, Write, write_str};

/// Writes a call.
pub(super) fn call(
    paired: &Paired<'_, '_>,
    toolset: &Toolset<'_, '_>,
    wrapped: &BTreeSet<String>,
    out: &mut Vec<u8>,
    pen: &mut Pen<'_>,
) {
    let Call { at, id: _, name, namespace, arguments, caller, cache, extra } = paired.call;
    let own = name.decode();
    let wire = match namespace {
        Some(namespace) => toolset.wire_name(Some(&namespace.decode()), &own),
        None => toolset.wire_name(None, &own),
    };
    if namespace.is_some() {
        pen.ledger.emulated(*at, Code::NamespaceFlattened);
    } else if wire != own {
        pen.ledger.renamed(name.pos(), Code::ToolName);
    }
    let mut block = Object::new(out);
    block.put("type", "tool_use");
    block.put("id", &paired.id);
    block.put("name", &wire);
    let input = block.key("input");
    if !wrapped.is_empty() && wrapped.contains(wire.as_ref()) {
        write_wrapped(arguments, *at, input, pen);
    } else {
        write_input(arguments, *at, input, pen);
    }
    if let Some(caller) = caller {
        let note = pen.ledger.dropped(caller.pos(), Code::ProgrammaticCallers);
        if caller.reader().tag("type").is_ok_and(|kind| kind.is_some_and(|kind| kind == *"direct"))
        {
            note.info();
        }
    }
    pen.cache(&mut block, cache.as_ref());
    pen.ledger.only(extra);
}

/// Arguments of a tool whose schema crossed as the property `value`.
fn write_wrapped(arguments: &Arguments<'_>, at: Pos, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    let decoded;
    let value = match arguments {
        Arguments::Text(text) => {
            decoded = text.decode();
            Raw::parse(&decoded).ok()
        }
        Arguments::Json(value) => Some(value.borrowed()),
        Arguments::Freeform(_) | Arguments::Native(_, _) => None,
    };
    match value {
        Some(value) => {
            pen.ledger.emulated(at, Code::SchemaRootWrapped);
            Object::new(out).put("value", &value);
        }
        None => write_input(arguments, at, out, pen),
    }
}

/// Writes arguments as the object that Messages wants.
pub(super) fn write_input(
    arguments: &Arguments<'_>,
    at: Pos,
    out: &mut Vec<u8>,
    pen: &mut Pen<'_>,
) {
    match arguments {
        Arguments::Json(value) if value.kind() == Kind::Object => value.write(out),
        Arguments::Json(value) => write_text_input(value.text(), value.pos(), out, pen),
        Arguments::Text(text) => {
            let decoded = text.decode();
            let object = match Raw::parse(&decoded) {
                Ok(value) if value.kind() == Kind::Object => value,
                Ok(_) | Err(_) if decoded.trim().is_empty() => Raw::made("{}"),
                Ok(_) | Err(_) => return write_text_input(&decoded, text.pos(), out, pen),
            };
            if !decoded.is_empty() && decoded.len() != object.text().len() {
                let note = pen.ledger.emulated(text.pos(), Code::ArgumentsNotObject);
                note.detail("Space around arguments says nothing; they cross without.");
            }
            object.write(out);
        }
        Arguments::Freeform(text) => {
            pen.ledger.emulated(at, Code::FreeformWrapped);
            Object::new(out).put("input", text);
        }
        Arguments::Native(kind, action) => {
            pen.ledger.emulated(at, Code::NativeToolWrapped);
            let input = native::arguments(*kind, action);
            if input.kind() == Kind::Object {
                input.write(out);
            } else {
                write_text_input(input.text(), input.pos(), out, pen);
            }
        }
    }
}

/// Arguments that are no object, as the text of one member. The way back takes
/// them out again.
fn write_text_input(text: &str, at: Pos, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    pen.ledger.degraded(at, Code::ArgumentsNotObject);
    let mut object = Object::new(out);
    write_str(text, object.key("__toolwire_raw"));
}

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
