//! Calls: model to wire.

use super::cache_out::lose_cache;
use super::tools_out::write_tool_name;
use crate::codec::context::EncodeContext;
use crate::codec::losses_out::{is_direct, is_direct_only};
use crate::ledger::Code;
use crate::model::{Arguments, Call, NativeKind};
use crate::native;
use crate::profile::Profile;
use crate::wire::{Array, Object, Raw, Str, write_str};

/// The members of an item that identify it.
pub(super) struct ItemHeader<'f> {
    /// The item's own id.
    pub(super) id: Option<Str<'f>>,
    /// The id that a call and its result share.
    pub(super) call_id: Option<Str<'f>>,
    /// Whether it is complete.
    pub(super) status: Option<Str<'f>>,
}

impl ItemHeader<'_> {
    pub(super) fn write(&self, item: &mut Object<'_>) {
        let Self { id, call_id, status } = self;
        item.maybe("id", id.as_ref());
        item.maybe("call_id", call_id.as_ref());
        item.maybe("status", status.as_ref());
    }
}

/// The type of the item that a call becomes, and the prefix of its ids.
pub(super) fn call_type(
    arguments: &Arguments<'_>,
    profile: &Profile,
) -> (&'static str, &'static str) {
    match arguments {
        Arguments::Text(_) | Arguments::Json(_) => ("function_call", "fc"),
        Arguments::Freeform(_) if profile.freeform_tools => ("custom_tool_call", "ctc"),
        Arguments::Freeform(_) => ("function_call", "fc"),
        Arguments::Native(kind, _) => match kind {
            NativeKind::LocalShell => ("local_shell_call", "lsh"),
            NativeKind::Shell => ("shell_call", "sh"),
            NativeKind::ApplyPatch => ("apply_patch_call", "apc"),
            NativeKind::ToolSearch => ("tool_search_call", "tsc"),
            NativeKind::Bash
            | NativeKind::TextEditor
            | NativeKind::Memory
            | NativeKind::Computer => ("function_call", "fc"),
        },
    }
}

/// Writes a call as an item.
pub(super) fn write_call(
    call: &Call<'_>,
    header: &ItemHeader<'_>,
    items: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Call { at: _, id: _, name, namespace, arguments, caller, cache, extra } = call;
    let mut item = items.object();
    item.put("type", call_type(arguments, cx.profile).0);
    header.write(&mut item);
    match arguments {
        Arguments::Text(text) => {
            write_name(name, namespace.as_ref(), &mut item, cx);
            item.put("arguments", text);
        }
        Arguments::Json(raw) => {
            write_name(name, namespace.as_ref(), &mut item, cx);
            write_str(raw.text(), item.key("arguments"));
        }
        Arguments::Freeform(input) => {
            write_name(name, namespace.as_ref(), &mut item, cx);
            if cx.profile.freeform_tools {
                item.put("input", input);
            } else {
                let mut json = Vec::with_capacity(input.size_hint() + 16);
                Object::new(&mut json).put("input", input);
                let json = String::from_utf8(json).unwrap_or_default();
                write_str(&json, item.key("arguments"));
            }
        }
        Arguments::Native(kind, action) => {
            write_action(*kind, action, name, namespace.as_ref(), &mut item, cx);
        }
    }
    if let Some(caller) = caller {
        let note = cx.ledger.dropped(caller.pos(), Code::ProgrammaticCallers);
        if is_direct(caller) || is_direct_only(caller) {
            note.info();
        }
    }
    lose_cache(cache.as_ref(), cx);
    cx.ledger.only(extra);
}

fn write_name(
    name: &Str<'_>,
    namespace: Option<&Str<'_>>,
    item: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    write_tool_name(name, item, cx);
    item.maybe("namespace", namespace);
}

fn write_action(
    kind: NativeKind,
    action: &Raw<'_>,
    name: &Str<'_>,
    namespace: Option<&Str<'_>>,
    item: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    match kind {
        NativeKind::LocalShell | NativeKind::Shell => item.put("action", action),
        NativeKind::ApplyPatch => item.put("operation", action),
        NativeKind::ToolSearch => {
            item.put("execution", "client");
            item.put("arguments", action);
        }
        NativeKind::Bash | NativeKind::TextEditor | NativeKind::Memory | NativeKind::Computer => {
            write_name(name, namespace, item, cx);
            write_str(native::arguments(kind, action).text(), item.key("arguments"));
        }
    }
}
