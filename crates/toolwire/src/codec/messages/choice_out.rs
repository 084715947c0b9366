//! Which tools the model may call: from the model to Messages.

use std::borrow::Cow;

use super::content_out::Pen;
use super::tools_out::HOSTED_STAND_IN;
use crate::codec::sent_tools::SentTools;
use crate::ledger::Code;
use crate::model::{Choice, Mode, ToolRef, ToolRefKind};
use crate::toolset::{Declared, ToolMapping};
use crate::wire::{At, Object, Pos};

/// Whether a tool must be called.
pub(super) fn is_forced(choice: &Choice<'_>) -> bool {
    match &choice.mode {
        Some(At { pos: _, value: Mode::Any | Mode::Named(_) }) => true,
        Some(At { pos: _, value: Mode::Auto | Mode::None | Mode::Other(_) }) | None => false,
    }
}

/// Writes a choice of another protocol.
pub(super) fn encode(
    choice: &Choice<'_>,
    tools: &SentTools<'_, '_, '_>,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let Choice { mode, subset, parallel, extra } = choice;
    pen.ledger.only(extra);
    if tools.is_empty() {
        return without_tools(choice, tools, pen);
    }
    let target = match mode {
        None => Target::Unset,
        Some(At { pos: _, value: Mode::Auto }) => Target::Auto,
        Some(At { pos: _, value: Mode::None }) => Target::None,
        Some(At { pos: _, value: Mode::Any }) => {
            let mut sent = tools.iter();
            match (subset, sent.next(), sent.next()) {
                (Some(_), Some((_, name)), None) => Target::Tool(name.clone()),
                (_, _, _) => Target::Any,
            }
        }
        Some(At { pos: _, value: Mode::Named(wanted) }) => named(wanted, tools, pen),
        Some(At { pos, value: Mode::Other(_) }) => {
            pen.ledger.dropped(*pos, Code::UnknownValue);
            Target::Unset
        }
    };
    // Several calls at once are what happens anyway, so that alone makes no choice.
    let several = match (parallel, &target) {
        (Some(At { pos: _, value }), Target::Auto | Target::Any | Target::Tool(_)) => Some(*value),
        (Some(At { pos: _, value: false }), Target::Unset) => Some(false),
        (Some(At { pos, value: true }), Target::Unset) => {
            pen.ledger.emulated(*pos, Code::Parallel);
            None
        }
        (Some(At { pos, value: _ }), Target::None) => {
            let note = pen.ledger.emulated(*pos, Code::Parallel);
            note.detail("The model may call no tool, so it calls no two.");
            None
        }
        (None, _) => None,
    };
    if matches!(target, Target::Unset) && several.is_none() {
        return;
    }
    let mut written = object.object("tool_choice");
    match &target {
        Target::Unset | Target::Auto => written.put("type", "auto"),
        Target::None => written.put("type", "none"),
        Target::Any => written.put("type", "any"),
        Target::Tool(name) => {
            written.put("type", "tool");
            written.put("name", name);
        }
    }
    if let Some(several) = several {
        written.put("disable_parallel_tool_use", &!several);
    }
}

enum Target<'t> {
    Unset,
    Auto,
    None,
    Any,
    Tool(Cow<'t, str>),
}

fn named<'r>(wanted: &ToolRef<'_>, tools: &SentTools<'_, 'r, '_>, pen: &mut Pen<'_>) -> Target<'r> {
    let ToolRef { at, kind, name, namespace, extra } = wanted;
    pen.ledger.only(extra);
    let found = tools.find(wanted);
    if let Some(namespace) = namespace {
        match &found {
            Some((Declared { tool: _, namespace: None, inline: _, crossing: _ }, _)) => {
                let note = pen.ledger.dropped(namespace.pos(), Code::NamespaceFlattened);
                note.detail("The chosen tool is in no namespace.");
            }
            Some(_) | None => {
                pen.ledger.emulated(*at, Code::NamespaceFlattened);
            }
        }
    }
    let target = match (found, kind) {
        (Some((declared, Some(wire))), _) => {
            if let ToolMapping::Hosted(class) = &declared.crossing {
                if *name != *wire {
                    pen.ledger.emulated(*at, Code::HostedTool(*class)).detail(HOSTED_STAND_IN);
                }
                return Target::Tool(wire);
            }
            wire
        }
        (Some((declared, None)), _) => {
            refuse_target(wanted, declared, pen);
            return Target::Unset;
        }
        // The upstream says what is wrong with a name that nobody declared.
        (None, ToolRefKind::Function | ToolRefKind::Freeform | ToolRefKind::Any) => {
            let namespace = namespace.as_ref().map(|namespace| namespace.decode());
            let name = name.decode();
            Cow::Owned(tools.toolset.wire_name(namespace.as_deref(), &name).into_owned())
        }
        (None, ToolRefKind::Typed | ToolRefKind::Mcp) => {
            pen.ledger.refused(*at, Code::ChoiceTarget);
            return Target::Unset;
        }
    };
    if namespace.is_none() && *name != *target {
        pen.ledger.renamed(*at, Code::ToolName);
    }
    Target::Tool(target)
}

/// The choice forces a tool that is not sent.
fn refuse_target(wanted: &ToolRef<'_>, declared: &Declared<'_, '_>, pen: &mut Pen<'_>) {
    pen.ledger.refused(wanted.at, Code::ChoiceTarget);
    if let ToolMapping::Dropped(code) = &declared.crossing {
        pen.ledger.refused(declared.tool.at, code.clone());
    }
}

/// Messages refuses a choice without tools. One that forces a call means
/// nothing then; any other says what happens anyway.
fn without_tools(choice: &Choice<'_>, tools: &SentTools<'_, '_, '_>, pen: &mut Pen<'_>) {
    let Choice { mode, subset: _, parallel, extra: _ } = choice;
    match mode {
        Some(At { pos: _, value: Mode::Named(wanted) }) => match tools.find(wanted) {
            Some((declared, _)) => refuse_target(wanted, declared, pen),
            None => {
                pen.ledger.refused(wanted.at, Code::ChoiceTarget);
            }
        },
        Some(At { pos, value: Mode::Any }) => {
            let note = pen.ledger.refused(*pos, Code::ChoiceTarget);
            note.detail("A tool must be called, and none of them can cross.");
        }
        Some(At { pos, value: Mode::Auto | Mode::None | Mode::Other(_) }) => {
            dropped_choice(*pos, pen);
        }
        None => {}
    }
    if let Some(parallel) = parallel {
        dropped_choice(parallel.pos, pen);
    }
}

fn dropped_choice(pos: Pos, pen: &mut Pen<'_>) {
    pen.ledger.dropped(pos, Code::ChoiceWithoutTools).info();
}
