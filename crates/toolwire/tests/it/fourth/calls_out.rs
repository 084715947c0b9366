//! Calls: from the model to the protocol.

use std::collections::BTreeSet;

use toolwire::codec::context::EncodeContext;
use toolwire::model::{Arguments, Call};
use toolwire::thread::Paired;
use toolwire::wire::names::full_name;
use toolwire::wire::{Array, Kind, Object, Pos, Raw, Str, Write, ids};
use toolwire::{Code, Ledger, native};

use super::content_out::lose_cache;
use super::description;

/// Writes a call of the conversation.
pub(super) fn encode(
    paired: &Paired<'_, '_>,
    wrapped: &BTreeSet<String>,
    pieces: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Call { at, id: _, name, namespace, arguments, caller, cache, extra } = paired.call;
    let own = name.decode();
    let space = namespace.as_ref().map(|namespace| namespace.decode());
    let wire = cx.names.wire(space.as_deref(), &own);
    if namespace.is_some() {
        cx.ledger.emulated(*at, Code::NamespaceFlattened);
    } else if wire != own {
        cx.ledger.renamed(name.pos(), Code::ToolName);
    }
    let mut piece = pieces.object();
    let mut action = piece.object("do");
    action.put("ref", &paired.id);
    action.put("tool", &wire);
    if wrapped.contains(wire.as_ref()) {
        write_wrapped(arguments, *at, &mut action, cx.ledger);
    } else {
        write_arguments(arguments, *at, &mut action, cx.ledger);
    }
    drop(action);
    if let Some(caller) = caller {
        cx.ledger.dropped(caller.pos(), Code::ProgrammaticCallers);
    }
    lose_cache(cache.as_ref(), cx.ledger);
    cx.ledger.only(extra);
}

/// Writes a call of an answer. `scope` and `ordinal` make an id for a call that
/// came without one.
pub(super) fn encode_answer(
    call: &Call<'_>,
    scope: &str,
    ordinal: usize,
    pieces: &mut Array<'_>,
    ledger: &mut Ledger,
) {
    let Call { at, id, name, namespace, arguments, caller, cache: _, extra } = call;
    let mut piece = pieces.object();
    let mut action = piece.object("do");
    write_head(*at, id.as_ref(), name, namespace.as_ref(), scope, ordinal, &mut action, ledger);
    write_arguments(arguments, *at, &mut action, ledger);
    drop(action);
    if let Some(caller) = caller {
        ledger.dropped(caller.pos(), Code::ProgrammaticCallers).info();
    }
    ledger.only(extra);
}

/// Writes the id and the name of a call of an answer.
#[expect(clippy::too_many_arguments, reason = "a call of a stream has no `Call` yet")]
pub(super) fn write_head(
    at: Pos,
    id: Option<&Str<'_>>,
    name: &Str<'_>,
    namespace: Option<&Str<'_>>,
    scope: &str,
    ordinal: usize,
    action: &mut Object<'_>,
    ledger: &mut Ledger,
) {
    let rule = description::profile().ids;
    match id.filter(|id| !id.is_empty()) {
        Some(id) => {
            let own = id.decode();
            let wire = rule.render(&own, 0);
            if wire != own {
                ledger.renamed(id.pos(), Code::CallId);
            }
            action.put("ref", &wire);
        }
        None => action.put("ref", &rule.render(&ids::mint(scope, ordinal), 0)),
    }
    match namespace {
        Some(namespace) => {
            ledger.emulated(at, Code::NamespaceFlattened);
            action.put("tool", &full_name(Some(&namespace.decode()), &name.decode()));
        }
        None => action.put("tool", name),
    }
}

fn write_arguments(
    arguments: &Arguments<'_>,
    at: Pos,
    action: &mut Object<'_>,
    ledger: &mut Ledger,
) {
    match arguments {
        Arguments::Json(raw) => write_json(raw.text(), action),
        Arguments::Text(text) => write_json(&text.decode(), action),
        Arguments::Freeform(text) => action.put("write", text),
        Arguments::Native(kind, raw) => {
            ledger.emulated(at, Code::NativeToolWrapped);
            write_json(native::arguments(*kind, raw).text(), action);
        }
    }
}

/// An object is written as it is, and anything else as the text it is.
fn write_json(text: &str, action: &mut Object<'_>) {
    match Raw::parse(text) {
        Ok(raw) if raw.kind() == Kind::Object && raw.text().len() == text.len() => {
            action.put("with", &raw);
        }
        Ok(_) | Err(_) if text.is_empty() => action.put("with", &Raw::made("{}")),
        Ok(_) | Err(_) => action.put("with", text),
    }
}

/// Arguments of a tool whose schema crossed as the property `value`.
fn write_wrapped(arguments: &Arguments<'_>, at: Pos, action: &mut Object<'_>, ledger: &mut Ledger) {
    let text = match arguments {
        Arguments::Text(text) => text.decode(),
        Arguments::Json(raw) => raw.text().into(),
        Arguments::Freeform(_) | Arguments::Native(_, _) => {
            return write_arguments(arguments, at, action, ledger);
        }
    };
    match Raw::parse(&text) {
        Ok(value) => {
            ledger.emulated(at, Code::SchemaRootWrapped);
            let with = action.key("with");
            with.extend_from_slice(b"{\"value\":");
            value.write(with);
            with.push(b'}');
        }
        Err(_) => write_arguments(arguments, at, action, ledger),
    }
}
