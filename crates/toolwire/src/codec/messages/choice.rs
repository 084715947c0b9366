//! Which tools the model may call, and whether several at once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::content::Pen;
use super::tools_out;
use super::wire::ToolChoice;
use crate::ledger::Code;
use crate::model::{Choice, Mode, Subset, ToolRef, ToolRefKind};
use crate::toolset::{Crossing, Declared, Toolset};
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

/// Which of the declared tools are sent.
pub(super) struct Pick {
    /// By the index of the tool; all of them if there is no list.
    chosen: Option<Vec<bool>>,
}

impl Pick {
    /// All tools.
    pub(super) fn all() -> Self {
        Self { chosen: None }
    }

    /// The tools that a choice allows. Messages has no such choice, so the
    /// others are not sent at all.
    pub(super) fn new(choice: &Choice<'_>, toolset: &Toolset<'_, '_>, pen: &mut Pen<'_>) -> Self {
        let Some(Subset { at, tools }) = &choice.subset else { return Self::all() };
        pen.ledger.degraded(*at, Code::AllowedToolsFiltered).info();
        let mut by_name: BTreeMap<Cow<'_, str>, Vec<usize>> = BTreeMap::new();
        for (index, declared) in toolset.entries.iter().enumerate() {
            by_name.entry(declared.tool.name.decode()).or_default().push(index);
        }
        let mut chosen = vec![false; toolset.entries.len()];
        for wanted in tools {
            let named = by_name.get(&wanted.name.decode()).map_or(&[][..], Vec::as_slice);
            let found = named.iter().copied().find(|&index| {
                toolset.entries.get(index).is_some_and(|declared| in_space(declared, wanted))
            });
            let found = found.or_else(|| match wanted.kind {
                ToolRefKind::Typed | ToolRefKind::Mcp => {
                    let meant = toolset.find(wanted)?;
                    toolset.entries.iter().position(|declared| std::ptr::eq(declared, meant))
                }
                ToolRefKind::Function | ToolRefKind::Freeform | ToolRefKind::Any => None,
            });
            match found.and_then(|index| chosen.get_mut(index)) {
                Some(slot) => *slot = true,
                None => {
                    pen.ledger.dropped(wanted.at, Code::ChoiceTarget);
                }
            }
            pen.ledger.only(&wanted.extra);
        }
        Self { chosen: Some(chosen) }
    }

    /// Whether the tool with this index is sent.
    pub(super) fn takes(&self, index: usize) -> bool {
        match &self.chosen {
            Some(chosen) => chosen.get(index).copied().unwrap_or_default(),
            None => true,
        }
    }

    /// The tools that are sent.
    fn sent<'t, 'r, 'a>(
        &'t self,
        toolset: &'t Toolset<'r, 'a>,
    ) -> impl Iterator<Item = &'t Declared<'r, 'a>> {
        let taken = |(index, declared): &(usize, &Declared<'r, 'a>)| {
            declared.crosses() && self.takes(*index)
        };
        toolset.entries.iter().enumerate().filter(taken).map(|(_, declared)| declared)
    }

    /// Whether no tool is sent.
    pub(super) fn is_empty(&self, toolset: &Toolset<'_, '_>) -> bool {
        self.sent(toolset).next().is_none()
    }
}

fn in_space(declared: &Declared<'_, '_>, wanted: &ToolRef<'_>) -> bool {
    match (&wanted.namespace, declared.namespace) {
        (Some(wanted), Some(namespace)) => *wanted == namespace.name,
        (Some(_), None) => false,
        (None, _) => true,
    }
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
    toolset: &Toolset<'_, '_>,
    pick: &Pick,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let Choice { mode, subset, parallel, extra } = choice;
    pen.ledger.only(extra);
    if pick.is_empty(toolset) {
        return without_tools(choice, toolset, pen);
    }
    let target = match mode {
        None => Target::Unset,
        Some(At { pos: _, value: Mode::Auto }) => Target::Auto,
        Some(At { pos: _, value: Mode::None }) => Target::None,
        Some(At { pos: _, value: Mode::Any }) => {
            let mut sent = pick.sent(toolset);
            match (subset, sent.next(), sent.next()) {
                (Some(_), Some(only), None) => Target::Tool(tools_out::wire_name(only, toolset)),
                (_, _, _) => Target::Any,
            }
        }
        Some(At { pos: _, value: Mode::Named(wanted) }) => named(wanted, toolset, pen),
        Some(At { pos, value: Mode::Other(_) }) => {
            pen.ledger.dropped(*pos, Code::UnknownValue);
            Target::Unset
        }
    };
    let serial = match (parallel, &target) {
        (Some(At { pos: _, value: false }), Target::Unset | Target::Auto) => true,
        (Some(At { pos: _, value: false }), Target::Any | Target::Tool(_)) => true,
        (Some(At { pos, value: false }), Target::None) => {
            let note = pen.ledger.emulated(*pos, Code::Parallel);
            note.detail("The model may call no tool, so it calls no two.");
            false
        }
        (Some(At { pos, value: true }), _) => {
            pen.ledger.emulated(*pos, Code::Parallel);
            false
        }
        (None, _) => false,
    };
    if matches!(target, Target::Unset) && !serial {
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
    if serial {
        written.put("disable_parallel_tool_use", &true);
    }
}

enum Target<'t> {
    Unset,
    Auto,
    None,
    Any,
    Tool(Cow<'t, str>),
}

fn named<'t>(wanted: &ToolRef<'_>, toolset: &Toolset<'t, '_>, pen: &mut Pen<'_>) -> Target<'t> {
    let ToolRef { at, kind, name, namespace, extra } = wanted;
    pen.ledger.only(extra);
    match (toolset.find(wanted), kind) {
        (Some(declared), _) => match &declared.crossing {
            Crossing::Dropped(code) => {
                pen.ledger.refused(declared.tool.at, code.clone());
                Target::Unset
            }
            Crossing::Same | Crossing::Freeform | Crossing::Native(_) | Crossing::Hosted(_) => {
                Target::Tool(tools_out::wire_name(declared, toolset))
            }
        },
        // The upstream says what is wrong with a name that nobody declared.
        (None, ToolRefKind::Function | ToolRefKind::Freeform | ToolRefKind::Any) => {
            let namespace = namespace.as_ref().map(|namespace| namespace.decode());
            let name = name.decode();
            Target::Tool(Cow::Owned(toolset.wire_name(namespace.as_deref(), &name).into_owned()))
        }
        (None, ToolRefKind::Typed | ToolRefKind::Mcp) => {
            pen.ledger.refused(*at, Code::ChoiceTarget);
            Target::Unset
        }
    }
}

/// Messages refuses a choice without tools. One that forces a call means
/// nothing then; any other says what happens anyway.
fn without_tools(choice: &Choice<'_>, toolset: &Toolset<'_, '_>, pen: &mut Pen<'_>) {
    let Choice { mode, subset: _, parallel, extra: _ } = choice;
    match mode {
        Some(At { pos: _, value: Mode::Named(wanted) }) => match toolset.find(wanted) {
            Some(Declared { tool, namespace: _, inline: _, crossing: Crossing::Dropped(code) }) => {
                pen.ledger.refused(tool.at, code.clone());
            }
            Some(_) | None => {
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
