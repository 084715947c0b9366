//! Which tools the model may call: from the model to Messages.

use std::borrow::Cow;

use super::hosted_tools_out::HOSTED_SUBSTITUTE;
use crate::codec::sent_tools::SentTools;
use crate::ledger::{Code, Ledger};
use crate::model::{Choice, Mode, ToolRef, ToolRefKind};
use crate::toolset::{Declared, ToolMapping};
use crate::wire::{At, Object};

/// Whether a tool must be called.
pub(super) fn is_forced(choice: &Choice<'_>) -> bool {
    match &choice.mode {
        Some(At { pos: _, value: Mode::Any | Mode::Named(_) }) => true,
        Some(At { pos: _, value: Mode::Auto | Mode::None | Mode::Other(_) }) | None => false,
    }
}

/// Writes `tool_choice`.
pub(super) fn write_choice(
    choice: &Choice<'_>,
    tools: &SentTools<'_, '_, '_>,
    object: &mut Object<'_>,
    ledger: &mut Ledger,
) {
    let Choice { mode, subset, parallel, extra } = choice;
    ledger.only(extra);
    if tools.is_empty() {
        return report_without_tools(choice, tools, ledger);
    }
    let target = match mode {
        None => ChoiceTarget::Unset,
        Some(At { pos: _, value: Mode::Auto }) => ChoiceTarget::Auto,
        Some(At { pos: _, value: Mode::None }) => ChoiceTarget::None,
        Some(At { pos: _, value: Mode::Any }) => {
            let mut sent = tools.iter();
            match (subset, sent.next(), sent.next()) {
                (Some(_), Some((_, name)), None) => ChoiceTarget::Tool(name.clone()),
                (_, _, _) => ChoiceTarget::Any,
            }
        }
        Some(At { pos: _, value: Mode::Named(wanted) }) => named_target(wanted, tools, ledger),
        Some(At { pos, value: Mode::Other(_) }) => {
            ledger.dropped(*pos, Code::UnknownValue);
            ChoiceTarget::Unset
        }
    };
    // The API allows parallel calls by default, so allowing them needs no choice.
    let allows_parallel = match (parallel, &target) {
        (
            Some(At { pos: _, value }),
            ChoiceTarget::Auto | ChoiceTarget::Any | ChoiceTarget::Tool(_),
        ) => Some(*value),
        (Some(At { pos: _, value: false }), ChoiceTarget::Unset) => Some(false),
        (Some(At { pos, value: true }), ChoiceTarget::Unset) => {
            ledger.emulated(*pos, Code::Parallel);
            None
        }
        (Some(At { pos, value: _ }), ChoiceTarget::None) => {
            let note = ledger.emulated(*pos, Code::Parallel);
            note.detail("The model may call no tool, so it calls no two.");
            None
        }
        (None, _) => None,
    };
    if matches!(target, ChoiceTarget::Unset) && allows_parallel.is_none() {
        return;
    }
    let mut written = object.object("tool_choice");
    match &target {
        ChoiceTarget::Unset | ChoiceTarget::Auto => written.put("type", "auto"),
        ChoiceTarget::None => written.put("type", "none"),
        ChoiceTarget::Any => written.put("type", "any"),
        ChoiceTarget::Tool(name) => {
            written.put("type", "tool");
            written.put("name", name);
        }
    }
    if let Some(allows) = allows_parallel {
        written.put("disable_parallel_tool_use", &!allows);
    }
}

/// What the model may call.
enum ChoiceTarget<'t> {
    Unset,
    Auto,
    None,
    Any,
    Tool(Cow<'t, str>),
}

fn named_target<'r>(
    wanted: &ToolRef<'_>,
    tools: &SentTools<'_, 'r, '_>,
    ledger: &mut Ledger,
) -> ChoiceTarget<'r> {
    let ToolRef { at, kind, name, namespace, extra } = wanted;
    ledger.only(extra);
    let found = tools.find(wanted);
    if let Some(namespace) = namespace {
        match &found {
            Some((Declared { tool: _, namespace: None, inline: _, crossing: _, root: _ }, _)) => {
                let note = ledger.dropped(namespace.pos(), Code::NamespaceFlattened);
                note.detail("The chosen tool is in no namespace.");
            }
            Some(_) | None => {
                ledger.emulated(*at, Code::NamespaceFlattened);
            }
        }
    }
    let target = match (found, kind) {
        (Some((declared, Some(wire))), _) => {
            if let ToolMapping::Hosted(class) = &declared.crossing {
                if *name != *wire {
                    ledger.emulated(*at, Code::HostedTool(*class)).detail(HOSTED_SUBSTITUTE);
                }
                return ChoiceTarget::Tool(wire);
            }
            wire
        }
        (Some((declared, None)), _) => {
            refuse_target(wanted, declared, ledger);
            return ChoiceTarget::Unset;
        }
        // The upstream says what is wrong with a name that was never declared.
        (None, ToolRefKind::Function | ToolRefKind::Freeform | ToolRefKind::Any) => {
            let namespace = namespace.as_ref().map(|namespace| namespace.decode());
            let name = name.decode();
            Cow::Owned(tools.toolset.wire_name(namespace.as_deref(), &name).into_owned())
        }
        (None, ToolRefKind::Typed | ToolRefKind::Mcp) => {
            ledger.refused(*at, Code::ChoiceTarget);
            return ChoiceTarget::Unset;
        }
    };
    if namespace.is_none() && *name != *target {
        ledger.renamed(*at, Code::ToolName);
    }
    ChoiceTarget::Tool(target)
}

/// Refuses a choice that forces a tool that is not sent.
fn refuse_target(wanted: &ToolRef<'_>, declared: &Declared<'_, '_>, ledger: &mut Ledger) {
    ledger.refused(wanted.at, Code::ChoiceTarget);
    if let ToolMapping::Dropped(code) = &declared.crossing {
        ledger.refused(declared.tool.at, code.clone());
    }
}

/// Reports a choice without tools, which the API refuses. A choice that forces
/// a call is refused; any other asks for what happens without it.
fn report_without_tools(choice: &Choice<'_>, tools: &SentTools<'_, '_, '_>, ledger: &mut Ledger) {
    let Choice { mode, subset: _, parallel, extra: _ } = choice;
    match mode {
        Some(At { pos: _, value: Mode::Named(wanted) }) => match tools.find(wanted) {
            Some((declared, _)) => refuse_target(wanted, declared, ledger),
            None => {
                ledger.refused(wanted.at, Code::ChoiceTarget);
            }
        },
        Some(At { pos, value: Mode::Any }) => {
            let note = ledger.refused(*pos, Code::ChoiceTarget);
            note.detail("A tool must be called, and none of them can cross.");
        }
        Some(At { pos, value: Mode::Auto | Mode::None | Mode::Other(_) }) => {
            ledger.dropped(*pos, Code::ChoiceWithoutTools).info();
        }
        None => {}
    }
    ledger.lost_info(parallel, Code::ChoiceWithoutTools);
}
