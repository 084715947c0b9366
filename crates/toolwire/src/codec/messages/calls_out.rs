//! Calls: from the model to Messages.

use std::collections::BTreeSet;

use super::content_out::{Pen, Wrote};
use crate::ledger::Code;
use crate::model::{Arguments, Call};
use crate::native;
use crate::thread::Paired;
use crate::toolset::Toolset;
use crate::wire::ids::IdRule;
use crate::wire::{Extra, Kind, Object, Pos, Raw, Reader, Str, Write, write_str};

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

/// Writes a call of an answer.
pub(super) fn answer_call(
    call: &Call<'_>,
    minted: &str,
    cut: bool,
    out: &mut Vec<u8>,
    pen: &mut Pen<'_>,
) -> Wrote {
    let Call { at, id, name, namespace, arguments, caller, cache: _, extra } = call;
    let mut block = Object::new(out);
    call_head(*at, id.as_ref(), minted, name, namespace.as_ref(), &mut block, pen);
    let input = block.key("input");
    match arguments {
        Arguments::Text(text) if cut => write_cut(text, input, pen),
        Arguments::Text(_)
        | Arguments::Json(_)
        | Arguments::Freeform(_)
        | Arguments::Native(_, _) => write_input(arguments, *at, input, pen),
    }
    if let Some(caller) = caller {
        pen.ledger.dropped(caller.pos(), Code::ProgrammaticCallers).info();
    }
    pen.ledger.only(extra);
    Wrote::Block
}

/// Writes what comes before the arguments of a call. `minted` is its id if its
/// maker gave none.
pub(super) fn call_head(
    at: Pos,
    id: Option<&Str<'_>>,
    minted: &str,
    name: &Str<'_>,
    namespace: Option<&Str<'_>>,
    block: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    block.put("type", "tool_use");
    match id.filter(|id| !id.is_empty()) {
        Some(id) => {
            let own = id.decode();
            let wire = IdRule::MESSAGES.render(&own, 0);
            if wire != own {
                pen.ledger.renamed(id.pos(), Code::CallId);
            }
            block.put("id", &wire);
        }
        None => block.put("id", minted),
    }
    match namespace {
        Some(namespace) => {
            pen.ledger.emulated(at, Code::NamespaceFlattened);
            let full = crate::wire::names::full_name(Some(&namespace.decode()), &name.decode())
                .into_owned();
            block.put("name", &full);
        }
        None => block.put("name", name),
    }
}

/// Writes arguments that stop in the middle, without the member that is not
/// complete.
fn write_cut(text: &Str<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    let decoded = text.decode();
    if let Ok(value) = Raw::parse(&decoded)
        && value.kind() == Kind::Object
    {
        value.write(out);
        return;
    }
    pen.ledger.degraded(text.pos(), Code::ArgumentsTruncated);
    let mut object = Object::new(out);
    let mut reader = Reader::new(&decoded);
    let Ok(mut members) = reader.object() else { return };
    while let Ok(Some(key)) = members.next(&mut reader) {
        let Ok(value) = reader.raw() else { return };
        // A number at the very end may lack digits.
        if value.kind() == Kind::Number && reader.peek() == Kind::End {
            return;
        }
        object.extra(&[Extra { key, value }]);
    }
}
