//! Calls: from the model to Messages.

use std::collections::BTreeSet;

use super::blocks_out::WrittenBlock;
use super::content_out::write_cache;
use crate::codec::context::EncodeContext;
use crate::codec::losses_out::report_caller;
use crate::ledger::{Code, Ledger};
use crate::model::{Arguments, Call};
use crate::native;
use crate::restore::RAW_KEY;
use crate::thread::Paired;
use crate::wire::ids::IdRule;
use crate::wire::names::full_name;
use crate::wire::{Extra, Kind, Object, Pos, Raw, Reader, Str, Write, write_str};

/// Writes a call of the conversation so far. `wrapped` are the names of the
/// tools whose schema was sent as the property `value` of an object.
pub(super) fn write_past_call(
    paired: &Paired<'_, '_>,
    wrapped: &BTreeSet<String>,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
) {
    let Call { at, id: _, name, namespace, arguments, caller, cache, extra } = paired.call;
    let own = name.decode();
    let space = namespace.as_ref().map(Str::decode);
    let wire = cx.names.wire(space.as_deref(), &own);
    if namespace.is_some() {
        cx.ledger.emulated(*at, Code::NamespaceFlattened);
    } else if wire != own {
        cx.ledger.renamed(name.pos(), Code::ToolName);
    }
    let mut block = Object::new(out);
    block.put("type", "tool_use");
    block.put("id", &paired.id);
    block.put("name", &wire);
    let input = block.key("input");
    if !wrapped.is_empty() && wrapped.contains(wire.as_ref()) {
        write_wrapped_input(arguments, *at, input, cx.ledger);
    } else {
        write_input(arguments, *at, input, cx.ledger);
    }
    report_caller(caller.as_ref(), cx.ledger);
    write_cache(cache.as_ref(), &mut block, cx);
    cx.ledger.only(extra);
}

/// Writes arguments of a tool whose schema was sent as the property `value`.
fn write_wrapped_input(arguments: &Arguments<'_>, at: Pos, out: &mut Vec<u8>, ledger: &mut Ledger) {
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
            ledger.emulated(at, Code::SchemaRootWrapped);
            Object::new(out).put("value", &value);
        }
        None => write_input(arguments, at, out, ledger),
    }
}

/// Writes arguments as the object that the API wants.
pub(super) fn write_input(
    arguments: &Arguments<'_>,
    at: Pos,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    match arguments {
        Arguments::Json(value) if value.kind() == Kind::Object => value.write(out),
        Arguments::Json(value) => write_raw_input(value.text(), value.pos(), out, ledger),
        Arguments::Text(text) => {
            let decoded = text.decode();
            let object = match Raw::parse(&decoded) {
                Ok(value) if value.kind() == Kind::Object => value,
                Ok(_) | Err(_) if decoded.trim().is_empty() => Raw::made("{}"),
                Ok(_) | Err(_) => return write_raw_input(&decoded, text.pos(), out, ledger),
            };
            if !decoded.is_empty() && decoded.len() != object.text().len() {
                let note = ledger.emulated(text.pos(), Code::ArgumentsNotObject);
                note.detail("Space around arguments says nothing; they cross without.");
            }
            object.write(out);
        }
        Arguments::Freeform(text) => {
            ledger.emulated(at, Code::FreeformWrapped);
            Object::new(out).put("input", text);
        }
        Arguments::Native(kind, action) => {
            ledger.emulated(at, Code::NativeToolWrapped);
            let input = native::arguments(*kind, action);
            if input.kind() == Kind::Object {
                input.write(out);
            } else {
                write_raw_input(input.text(), input.pos(), out, ledger);
            }
        }
    }
}

/// Writes arguments that are no object as the text of one member. The reader
/// takes them out again.
fn write_raw_input(text: &str, at: Pos, out: &mut Vec<u8>, ledger: &mut Ledger) {
    ledger.degraded(at, Code::ArgumentsNotObject);
    let mut object = Object::new(out);
    write_str(text, object.key(RAW_KEY));
}

/// Writes a call of an answer. `minted_id` is its id if it came without one;
/// `is_cut` says that the answer ended in the middle of its arguments.
pub(super) fn write_answer_call(
    call: &Call<'_>,
    minted_id: &str,
    is_cut: bool,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) -> WrittenBlock {
    let Call { at, id, name, namespace, arguments, caller, cache: _, extra } = call;
    let mut block = Object::new(out);
    write_call_head(*at, id.as_ref(), minted_id, name, namespace.as_ref(), &mut block, ledger);
    let input = block.key("input");
    match arguments {
        Arguments::Text(text) if is_cut => write_cut_input(text, input, ledger),
        Arguments::Text(_)
        | Arguments::Json(_)
        | Arguments::Freeform(_)
        | Arguments::Native(_, _) => write_input(arguments, *at, input, ledger),
    }
    ledger.lost_info(caller, Code::ProgrammaticCallers);
    ledger.only(extra);
    WrittenBlock::Block
}

/// Writes the members of a call before its arguments. `minted_id` is its id if
/// it came without one.
pub(super) fn write_call_head(
    at: Pos,
    id: Option<&Str<'_>>,
    minted_id: &str,
    name: &Str<'_>,
    namespace: Option<&Str<'_>>,
    block: &mut Object<'_>,
    ledger: &mut Ledger,
) {
    block.put("type", "tool_use");
    match id.filter(|id| !id.is_empty()) {
        Some(id) => {
            let own = id.decode();
            let wire = IdRule::MESSAGES.render(&own, 0);
            if wire != own {
                ledger.renamed(id.pos(), Code::CallId);
            }
            block.put("id", &wire);
        }
        None => block.put("id", minted_id),
    }
    match namespace {
        Some(namespace) => {
            ledger.emulated(at, Code::NamespaceFlattened);
            let full = full_name(Some(&namespace.decode()), &name.decode()).into_owned();
            block.put("name", &full);
        }
        None => block.put("name", name),
    }
}

/// Writes arguments that stop in the middle, without the member that is not
/// complete.
fn write_cut_input(text: &Str<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
    let decoded = text.decode();
    if let Ok(value) = Raw::parse(&decoded)
        && value.kind() == Kind::Object
    {
        value.write(out);
        return;
    }
    ledger.degraded(text.pos(), Code::ArgumentsTruncated);
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
