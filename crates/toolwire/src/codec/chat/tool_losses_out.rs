//! What a tool loses: reporting it.

use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::{NativeKind, Tool, ToolKind};
use crate::schema::RootChange;
use crate::wire::{At, Extra, Raw, Read, Str};

/// Reports the strictness of a tool whose schema is toolwire's own, or that has
/// none.
pub(super) fn report_strict(tool: &Tool<'_>, cx: &mut EncodeContext<'_>) {
    if let Some(At { pos, value: true }) = tool.strict {
        cx.ledger.degraded(pos, Code::StrictDowngraded);
    }
}

pub(super) fn report_root(tool: &Tool<'_>, change: RootChange, cx: &mut EncodeContext<'_>) {
    let at = match &tool.kind {
        ToolKind::Function { schema: Some(schema) } => schema.pos(),
        ToolKind::Function { schema: None }
        | ToolKind::Freeform { grammar: _ }
        | ToolKind::Namespace { tools: _ }
        | ToolKind::Native(_)
        | ToolKind::Hosted(_)
        | ToolKind::Unknown(_) => tool.at,
    };
    match change {
        RootChange::Empty => cx.ledger.emulated(at, Code::SchemaEmpty),
        RootChange::Typed => cx
            .ledger
            .emulated(at, Code::SchemaRootWrapped)
            .detail("The target needs the type of the root; it was added."),
        RootChange::Union => cx.ledger.degraded(at, Code::SchemaRootUnion),
        RootChange::Wrapped => cx.ledger.emulated(at, Code::SchemaRootWrapped),
    };
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
    if let Some(callers) = callers {
        let note = ledger.dropped(callers.pos(), Code::ProgrammaticCallers);
        if only_direct(callers) {
            note.info();
        }
    }
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

fn only_direct(callers: &Raw<'_>) -> bool {
    Vec::<Str<'_>>::read(&mut callers.reader())
        .is_ok_and(|list| list.iter().all(|caller| *caller == "direct"))
}
