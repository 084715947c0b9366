//! Calls: writing them.

use super::tools_out::ChatTools;
use crate::codec::context::EncodeContext;
use crate::codec::losses_out::report_caller;
use crate::ledger::Code;
use crate::model::{Arguments, Call};
use crate::native;
use crate::restore::unwrap_raw_json;
use crate::wire::{Object, Str, Write, write_escaped};

/// Whether arguments are put into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapping {
    /// They are written as they are.
    None,
    /// They become the property `value`, because the schema of the tool was no
    /// object.
    Value,
}

/// Writes `type` and the nested object of a call.
pub(super) fn put_call(
    object: &mut Object<'_>,
    name: &(impl Write + ?Sized),
    arguments: &Arguments<'_>,
    freeform: bool,
    wrapping: Wrapping,
) {
    let under = if freeform { "custom" } else { "function" };
    object.put("type", under);
    let mut inner = object.object(under);
    inner.put("name", name);
    match arguments {
        Arguments::Freeform(text) if freeform => inner.put("input", text),
        Arguments::Freeform(_)
        | Arguments::Text(_)
        | Arguments::Json(_)
        | Arguments::Native(_, _) => put_arguments(&mut inner, arguments, wrapping),
    }
}

/// Writes arguments as a string, as Chat has them. The bytes of the JSON inside
/// never change.
pub(super) fn put_arguments(
    object: &mut Object<'_>,
    arguments: &Arguments<'_>,
    wrapping: Wrapping,
) {
    let out = object.key("arguments");
    out.push(b'"');
    if wrapping == Wrapping::Value {
        write_escaped(r#"{"value":"#, out);
    }
    match arguments {
        Arguments::Text(text) => text.write_inside(out),
        Arguments::Json(raw) => match unwrap_raw_json(raw.text(), raw.reader()) {
            Some(text) => text.write_inside(out),
            None => write_escaped(raw.text(), out),
        },
        Arguments::Freeform(text) => {
            let mut input = Vec::with_capacity(text.size_hint() + 2);
            text.write(&mut input);
            write_escaped(r#"{"input":"#, out);
            write_escaped(std::str::from_utf8(&input).unwrap_or_default(), out);
            out.push(b'}');
        }
        Arguments::Native(kind, action) => {
            write_escaped(native::arguments(*kind, action).text(), out);
        }
    }
    if wrapping == Wrapping::Value {
        out.push(b'}');
    }
    out.push(b'"');
}

pub(super) fn write_call(
    object: &mut Object<'_>,
    call: &Call<'_>,
    id: &str,
    tools: &ChatTools<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) {
    let Call { at, id: _, name, namespace, arguments, caller, cache, extra } = call;
    object.put("id", id);
    let freeform = matches!(arguments, Arguments::Freeform(_)) && cx.profile.freeform_tools;
    let own = name.decode();
    let space = namespace.as_ref().map(Str::decode);
    let wire = cx.names.wire(space.as_deref(), &own);
    let wrapping = tools.wrapping(&wire);
    put_call(object, &wire, arguments, freeform, wrapping);
    if cx.profile.unsigned_calls {
        let mut extra = object.object("extra_content");
        extra.object("google").put("thought_signature", "skip_thought_signature_validator");
    }
    if namespace.is_some() {
        cx.ledger.emulated(*at, Code::NamespaceFlattened);
    } else if wire != own {
        cx.ledger.renamed(name.pos(), Code::ToolName);
    }
    match arguments {
        Arguments::Freeform(_) if !freeform => {
            cx.ledger.emulated(*at, Code::FreeformWrapped);
        }
        Arguments::Native(_, _) => {
            cx.ledger.emulated(*at, Code::NativeToolWrapped);
        }
        Arguments::Freeform(_) | Arguments::Text(_) | Arguments::Json(_) => {}
    }
    if wrapping == Wrapping::Value {
        cx.ledger.emulated(*at, Code::SchemaRootWrapped);
    }
    report_caller(caller.as_ref(), cx.ledger);
    cx.ledger.lost_info(cache, Code::CacheBreakpoint);
    cx.ledger.only(extra);
}
