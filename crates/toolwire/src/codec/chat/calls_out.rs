//! Calls: writing them.

use super::cache_out::drop_marker;
use super::tools_out::Shipment;
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Arguments, Call};
use crate::native;
use crate::wire::{Object, Raw, Read, Str, Write, write_escaped};

/// Writes `type` and the nested object of a call.
pub(super) fn put_call(
    object: &mut Object<'_>,
    name: &(impl Write + ?Sized),
    arguments: &Arguments<'_>,
    freeform: bool,
    wrapped: bool,
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
        | Arguments::Native(_, _) => put_arguments(&mut inner, arguments, wrapped),
    }
}

/// Writes arguments as the text that Chat has them in. The bytes of the JSON
/// inside are never changed.
pub(super) fn put_arguments(object: &mut Object<'_>, arguments: &Arguments<'_>, wrapped: bool) {
    let out = object.key("arguments");
    out.push(b'"');
    if wrapped {
        write_escaped(r#"{"value":"#, out);
    }
    match arguments {
        Arguments::Text(text) => text.write_inside(out),
        Arguments::Json(raw) => match unparsed(raw) {
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
    if wrapped {
        out.push(b'}');
    }
    out.push(b'"');
}

/// The arguments that Messages could only have as text, because they are no
/// JSON object.
fn unparsed<'r>(raw: &'r Raw<'_>) -> Option<Str<'r>> {
    let inside = raw.text().strip_prefix('{')?.trim_start();
    if !inside.starts_with("\"__toolwire_raw\"") {
        return None;
    }
    let Unparsed { at: _, text, extra } = Unparsed::read(&mut raw.reader()).ok()?;
    text.filter(|_| extra.is_empty())
}

wire! {
    struct Unparsed<'a> {
        text: Str<'a> = "__toolwire_raw",
    }
}

pub(super) fn write_call(
    object: &mut Object<'_>,
    call: &Call<'_>,
    id: &str,
    shipment: &Shipment<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) {
    let Call { at, id: _, name, namespace, arguments, caller, cache, extra } = call;
    object.put("id", id);
    let freeform = matches!(arguments, Arguments::Freeform(_)) && cx.profile.freeform_tools;
    let own = name.decode();
    let space = namespace.as_ref().map(Str::decode);
    let wire = shipment.toolset.wire_name(space.as_deref(), &own);
    let wrapped = !shipment.wrapped.is_empty() && shipment.wrapped.contains(wire.as_ref());
    put_call(object, &wire, arguments, freeform, wrapped);
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
    if wrapped {
        cx.ledger.emulated(*at, Code::SchemaRootWrapped);
    }
    if let Some(caller) = caller {
        caller_loss(caller, cx.ledger);
    }
    drop_marker(cache.as_ref(), cx.ledger);
    cx.ledger.only(extra);
}

/// Reports who made a call. That the model itself did is what Chat means by a
/// call anyway.
pub(super) fn caller_loss(caller: &Raw<'_>, ledger: &mut Ledger) {
    let direct = matches!(caller.reader().tag("type"), Ok(Some(kind)) if kind == "direct");
    let note = ledger.dropped(caller.pos(), Code::ProgrammaticCallers);
    if direct {
        note.info();
    }
}
