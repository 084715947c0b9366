//! What a tool loses: reporting it.

use crate::codec::context::EncodeContext;
use crate::codec::losses_out::report_callers;
use crate::ledger::Code;
use crate::model::{NativeKind, Tool, ToolKind};
use crate::wire::{At, Extra};

/// Reports the strictness of a tool whose schema is toolwire's own, or that has
/// none.
pub(super) fn report_strict(tool: &Tool<'_>, cx: &mut EncodeContext<'_>) {
    if let Some(At { pos, value: true }) = tool.strict {
        cx.ledger.degraded(pos, Code::StrictDowngraded);
    }
}

pub(super) fn report_native(tool: &Tool<'_>, kind: NativeKind, cx: &mut EncodeContext<'_>) {
    match kind {
        NativeKind::Bash | NativeKind::TextEditor | NativeKind::Memory => {
            cx.ledger.degraded(tool.at, Code::NativeToolTraining);
        }
        NativeKind::LocalShell
        | NativeKind::Shell
        | NativeKind::ApplyPatch
        | NativeKind::ToolSearch
        | NativeKind::Computer => {
            cx.ledger.emulated(tool.at, Code::NativeToolWrapped);
        }
    }
}

/// Reports the members of a tool that Chat does not have.
pub(super) fn report_tool_losses(tool: &Tool<'_>, cx: &mut EncodeContext<'_>) {
    let Tool {
        at: _,
        name: _,
        description: _,
        kind,
        strict: _,
        defer,
        callers,
        examples,
        output_schema,
        deferred_result,
        eager,
        cache,
        extra,
    } = tool;
    let ledger = &mut *cx.ledger;
    if let Some(defer) = defer {
        let note = ledger.degraded(defer.pos, Code::DeferLoading);
        if !defer.value {
            note.info();
        }
    }
    report_callers(callers.as_ref(), ledger);
    if let Some(examples) = examples {
        if cx.profile.examples_in_description {
            ledger.degraded(examples.pos(), Code::InputExamples).info();
        } else {
            ledger.dropped(examples.pos(), Code::InputExamples);
        }
    }
    ledger.lost_info(output_schema, Code::OutputSchema);
    if let Some(later) = deferred_result {
        let note = ledger.dropped(later.pos, Code::AsyncTool);
        if !later.value {
            note.info();
        }
    }
    if let Some(eager) = eager {
        ledger.dropped(eager.pos, Code::Only("eager_input_streaming".to_owned())).info();
    }
    ledger.lost(cache, Code::CacheBreakpoint);
    for field in extra {
        let carried = matches!(kind, ToolKind::Native(native) if is_carried(native.kind, field));
        if !carried {
            ledger.only(std::slice::from_ref(field));
        }
    }
}

/// Whether a member of a tool whose shape its vendor fixed is part of the
/// function that is sent in its place.
pub(super) fn is_carried(kind: NativeKind, field: &Extra<'_>) -> bool {
    kind == NativeKind::ToolSearch && field.key == "parameters"
}

/// Reports what a namespace has beyond its name and description.
pub(super) fn report_namespace(namespace: &Tool<'_>, cx: &mut EncodeContext<'_>) {
    report_tool_losses(namespace, cx);
    cx.ledger.emulated(namespace.at, Code::NamespaceFlattened);
    report_strict(namespace, cx);
}
