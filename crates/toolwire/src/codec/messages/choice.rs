//! Which tools the model may call, and whether several at once.

use std::borrow::Cow;

use super::content_out::Pen;
use super::tools_out::HOSTED_STAND_IN;
use super::wire::ToolChoice;
use crate::codec::sent_tools::SentTools;
use crate::ledger::Code;
use crate::model::{Choice, Mode, ToolRef, ToolRefKind};
use crate::toolset::{Declared, ToolMapping};
use crate::wire::{At, Kind, Object, Pos, Raw, Read, ReadError};

/// Reads `tool_choice`.
pub(super) fn decode(raw: Raw<'_>) -> Result<Choice<'_>, ReadError> {
    let at = raw.pos();
    let mut choice = Choice::default();
    let Some(mut reader) = raw.source_reader().filter(|_| raw.kind() == Kind::Object) else {
        choice.mode = Some(At::new(at, Mode::Other(raw)));
        return Ok(choice);
    };
    let kind = reader.tag("type")?;
    let kind = kind.as_ref().map_or(Cow::Borrowed(""), |kind| kind.decode());
    if !matches!(kind.as_ref(), "auto" | "any" | "none" | "tool") {
        choice.mode = Some(At::new(at, Mode::Other(raw)));
        return Ok(choice);
    }
    let ToolChoice { at, kind: _, name, disable_parallel_tool_use, extra } =
        ToolChoice::read(&mut reader)?;
    let mode = match (kind.as_ref(), name) {
        ("any", _) => Mode::Any,
        ("none", _) => Mode::None,
        ("tool", Some(name)) => {
            let kind = ToolRefKind::Any;
            Mode::Named(ToolRef { at, kind, name, namespace: None, extra: Vec::new() })
        }
        ("tool", None) => return Err(ReadError::missing(at, "name")),
        (_, _) => Mode::Auto,
    };
    choice.mode = Some(At::new(at, mode));
    choice.parallel = disable_parallel_tool_use.map(|disable| At::new(disable.pos, !disable.value));
    choice.extra = extra;
    Ok(choice)
}

/// Writes a choice that came from Messages.
pub(super) fn encode_own(choice: &Choice<'_>, object: &mut Object<'_>) {
    let Choice { mode, subset: _, parallel, extra } = choice;
    let Some(At { pos: _, value: mode }) = mode else { return };
    if let Mode::Other(raw) = mode {
        object.put("tool_choice", raw);
        return;
    }
    let mut target = object.object("tool_choice");
    match mode {
        Mode::Auto | Mode::Other(_) => target.put("type", "auto"),
        Mode::None => target.put("type", "none"),
        Mode::Any => target.put("type", "any"),
        Mode::Named(ToolRef { at: _, kind: _, name, namespace: _, extra: _ }) => {
            target.put("type", "tool");
            target.put("name", name);
        }
    }
    if let Some(parallel) = parallel {
        target.put("disable_parallel_tool_use", &!parallel.value);
    }
    target.extra(extra);
}

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
