//! `tool_choice` and `parallel_tool_calls`: writing them.

use std::collections::BTreeSet;

use crate::codec::context::EncodeContext;
use crate::codec::sent_tools::{SentTools, client_name};
use crate::ledger::Code;
use crate::model::{Choice, Mode, Subset, ToolKind, ToolRef, ToolRefKind};
use crate::toolset::{Declared, ToolMapping, Toolset};
use crate::wire::names::Names;
use crate::wire::{At, Object, Str};

/// The wire names of the only tools to send, if the choice is restricted to some
/// of them and the upstream does not support that.
pub(super) fn filter(
    choice: &Choice<'_>,
    toolset: &Toolset<'_, '_>,
    cx: &mut EncodeContext<'_>,
) -> Option<BTreeSet<String>> {
    let Subset { at, tools } = choice.subset.as_ref()?;
    if cx.profile.allowed_tools {
        return None;
    }
    cx.ledger.emulated(*at, Code::AllowedToolsFiltered).info();
    let finder = toolset.finder();
    let name = |tool: &ToolRef<'_>| wire_name(tool, finder.find(tool), cx.names);
    Some(tools.iter().map(name).collect())
}

/// Writes the choice.
pub(super) fn write(
    object: &mut Object<'_>,
    choice: &Choice<'_>,
    sent: &SentTools<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) {
    let Choice { mode, subset, parallel, extra } = choice;
    cx.ledger.only(extra);
    // Chat answers 400 to either member if there are no tools.
    // vectors/requests/chat-choice-without-tools
    if sent.is_empty() {
        return without_tools(choice, sent, cx);
    }
    match (subset, mode) {
        (Some(subset), mode) if cx.profile.allowed_tools => {
            write_subset(object, subset, mode.as_ref(), sent, cx);
        }
        (_, Some(mode)) => write_mode(object, mode, sent, cx),
        (_, None) => {}
    }
    object.maybe("parallel_tool_calls", parallel.as_ref());
}

fn without_tools(choice: &Choice<'_>, sent: &SentTools<'_, '_, '_>, cx: &mut EncodeContext<'_>) {
    let Choice { mode, subset, parallel, extra: _ } = choice;
    match mode {
        Some(At { pos, value: Mode::Any }) => {
            cx.ledger
                .refused(*pos, Code::ChoiceWithoutTools)
                .detail("The choice demands a tool call, and no tool can cross.");
        }
        Some(At { pos, value: Mode::Named(tool) }) => match sent.toolset.find(tool) {
            Some(declared) => refuse(tool, declared, cx),
            None => {
                cx.ledger.refused(*pos, Code::ChoiceTarget);
            }
        },
        Some(At { pos, value: Mode::Auto | Mode::None | Mode::Other(_) }) => {
            cx.ledger.dropped(*pos, Code::ChoiceWithoutTools).info();
        }
        None => {}
    }
    if let Some(Subset { at, tools: _ }) = subset {
        cx.ledger.dropped(*at, Code::ChoiceWithoutTools).info();
    }
    cx.ledger.lost_info(parallel, Code::ChoiceWithoutTools);
}

/// Refuses a choice, and reports both the choice and the tool that it forces.
fn refuse(tool: &ToolRef<'_>, declared: &Declared<'_, '_>, cx: &mut EncodeContext<'_>) {
    cx.ledger.refused(tool.at, Code::ChoiceTarget);
    let code = declared.crossing.loss().unwrap_or(&Code::ChoiceTarget);
    cx.ledger
        .refused(declared.tool.at, code.clone())
        .detail("The tool choice forces this tool, and it cannot cross.");
}

fn write_mode(
    object: &mut Object<'_>,
    mode: &At<Mode<'_>>,
    sent: &SentTools<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) {
    match &mode.value {
        Mode::Auto => object.put("tool_choice", "auto"),
        Mode::None => object.put("tool_choice", "none"),
        Mode::Any => object.put("tool_choice", "required"),
        Mode::Other(raw) => {
            cx.ledger.dropped(raw.pos(), Code::UnknownValue);
        }
        Mode::Named(tool) => {
            let declared = sent.toolset.find(tool);
            if let Some(declared) = declared
                && !callable(declared)
            {
                return refuse(tool, declared, cx);
            }
            let by_type = matches!(tool.kind, ToolRefKind::Typed | ToolRefKind::Mcp);
            if declared.is_none() && by_type {
                cx.ledger.refused(tool.at, Code::ChoiceTarget);
                return;
            }
            let mut named = object.object("tool_choice");
            put_target(&mut named, tool, declared, cx);
        }
    }
}

fn write_subset(
    object: &mut Object<'_>,
    subset: &Subset<'_>,
    mode: Option<&At<Mode<'_>>>,
    sent: &SentTools<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) {
    let Subset { at, tools } = subset;
    let any = match mode {
        None | Some(At { pos: _, value: Mode::Auto }) => false,
        Some(At { pos: _, value: Mode::Any }) => true,
        Some(At { pos: _, value: Mode::None }) => {
            cx.ledger
                .dropped(*at, Code::UnknownValue)
                .detail("No tool may be called, so it does not matter which of them may be.");
            return object.put("tool_choice", "none");
        }
        Some(At { pos, value: Mode::Other(_) | Mode::Named(_) }) => {
            cx.ledger.dropped(*pos, Code::UnknownValue);
            false
        }
    };
    let finder = sent.toolset.finder();
    let mut kept = Vec::with_capacity(tools.len());
    for tool in tools {
        match finder.find(tool) {
            Some(declared) if callable(declared) => kept.push((tool, declared)),
            Some(_) | None => {
                cx.ledger.dropped(tool.at, Code::ChoiceTarget);
            }
        }
    }
    if kept.is_empty() {
        if any {
            cx.ledger
                .refused(*at, Code::ChoiceTarget)
                .detail("The choice demands a call of one of these tools, and none can cross.");
        } else {
            object.put("tool_choice", "none");
        }
        return;
    }
    let mut outer = object.object("tool_choice");
    outer.put("type", "allowed_tools");
    let mut allowed = outer.object("allowed_tools");
    allowed.put("mode", if any { "required" } else { "auto" });
    let mut array = allowed.array("tools");
    for (tool, declared) in kept {
        put_target(&mut array.object(), tool, Some(declared), cx);
    }
}

fn callable(declared: &Declared<'_, '_>) -> bool {
    match declared.crossing {
        ToolMapping::Same | ToolMapping::Freeform | ToolMapping::Native(_) => true,
        ToolMapping::Hosted(_) | ToolMapping::Dropped(_) => false,
    }
}

/// Writes a reference to the tool as it was sent.
fn put_target(
    object: &mut Object<'_>,
    tool: &ToolRef<'_>,
    declared: Option<&Declared<'_, '_>>,
    cx: &mut EncodeContext<'_>,
) {
    let ToolRef { at, kind: _, name, namespace, extra } = tool;
    cx.ledger.only(extra);
    let freeform = declared.is_some_and(|declared| {
        matches!(declared.tool.kind, ToolKind::Freeform { grammar: _ })
            && declared.crossing == ToolMapping::Same
    });
    let wire = wire_name(tool, declared, cx.names);
    if let (
        Some(namespace),
        Some(Declared { tool: _, namespace: None, inline: _, crossing: _, root: _ }),
    ) = (namespace, declared)
    {
        let note = cx.ledger.dropped(namespace.pos(), Code::NamespaceFlattened);
        note.detail("The chosen tool is in no namespace.");
    }
    if wire != name.decode() {
        match declared {
            // The definition of the tool reports it.
            Some(Declared { tool: _, namespace: Some(_), inline: _, crossing: _, root: _ }) => {}
            None if namespace.is_some() => {
                cx.ledger.emulated(*at, Code::NamespaceFlattened);
            }
            Some(_) | None => {
                cx.ledger.renamed(name.pos(), Code::ToolName);
            }
        }
    }
    let under = if freeform { "custom" } else { "function" };
    object.put("type", under);
    object.object(under).put("name", &wire);
}

fn wire_name(tool: &ToolRef<'_>, declared: Option<&Declared<'_, '_>>, names: &Names) -> String {
    match declared {
        Some(declared) => client_name(declared, names).into_owned(),
        None => {
            let namespace = tool.namespace.as_ref().map(Str::decode);
            let name = tool.name.decode();
            names.wire(namespace.as_deref(), &name).into_owned()
        }
    }
}
