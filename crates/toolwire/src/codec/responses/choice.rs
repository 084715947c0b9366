//! `tool_choice` and `parallel_tool_calls`, both directions.

use std::collections::BTreeSet;

use super::Out;
use super::wire::{AllowedTools, ChoiceRef};
use crate::ledger::{Code, Ledger};
use crate::model::{Choice, HostedClass, Mode, Subset, Tool, ToolKind, ToolRef, ToolRefKind};
use crate::toolset::{Declared, ToolMapping, Toolset};
use crate::wire::{Array, At, Extra, Kind, Object, Raw, Read, ReadError, Reader, Str, Write};

/// `tool_choice` in any of its shapes.
#[derive(Debug)]
pub(super) struct ToolChoice<'a>(pub(super) Choice<'a>);

impl<'a> Read<'a> for ToolChoice<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        let mut choice = Choice::default();
        if reader.peek() == Kind::String {
            choice.mode = Some(At::new(at, mode(&reader.string()?)));
            return Ok(Self(choice));
        }
        let tag = reader.tag("type")?;
        match tag.as_ref().map(Str::decode).as_deref() {
            Some("allowed_tools") => {
                let AllowedTools { at, kind: _, mode: word, tools, extra } =
                    AllowedTools::read(reader)?;
                choice.mode = word.map(|word| At::new(word.pos(), mode(&word)));
                let tools = tools.unwrap_or_default().into_iter().map(reference).collect();
                choice.subset = Some(Subset { at, tools });
                choice.extra = extra;
            }
            Some(_kind) => {
                let wanted = reference(ChoiceRef::read(reader)?);
                choice.mode = Some(At::new(at, Mode::Named(wanted)));
            }
            None => choice.mode = Some(At::new(at, Mode::Other(reader.raw()?))),
        }
        Ok(Self(choice))
    }
}

fn mode<'a>(word: &Str<'a>) -> Mode<'a> {
    match word.decode().as_ref() {
        "auto" => Mode::Auto,
        "none" => Mode::None,
        "required" => Mode::Any,
        _unknown => Mode::Other(literal(word)),
    }
}

fn reference(wanted: ChoiceRef<'_>) -> ToolRef<'_> {
    let ChoiceRef { at, kind, name, namespace, server_label, mut extra } = wanted;
    let word = kind.as_ref().map(Str::decode);
    let (kind, name) = match (word.as_deref(), name, server_label) {
        (Some("function"), Some(name), None) => (ToolRefKind::Function, name),
        (Some("custom"), Some(name), None) => (ToolRefKind::Freeform, name),
        (Some("mcp"), name, Some(label)) => {
            extra.extend(name.map(tool_of_server));
            (ToolRefKind::Mcp, label)
        }
        (Some(word), name, label) => {
            extra.extend(name.map(tool_of_server));
            extra.extend(label.map(|label| member("server_label", label)));
            (ToolRefKind::Typed, Str::plain(word.to_owned()).at(at))
        }
        (None, name, label) => {
            extra.extend(label.map(|label| member("server_label", label)));
            (ToolRefKind::Any, name.unwrap_or(Str::plain("")))
        }
    };
    ToolRef { at, kind, name, namespace, extra }
}

/// The one tool of an MCP server that is meant.
fn tool_of_server(name: Str<'_>) -> Extra<'_> {
    member("name", name)
}

fn member<'a>(key: &'static str, text: Str<'a>) -> Extra<'a> {
    Extra { key: Str::plain(key), value: literal(&text) }
}

fn literal<'a>(text: &Str<'_>) -> Raw<'a> {
    let mut out = Vec::with_capacity(text.size_hint() + 2);
    text.write(&mut out);
    Raw::made(String::from_utf8(out).unwrap_or_default()).at(text.pos())
}

/// Writes the choice for an upstream.
pub(super) fn write_choice(
    choice: &Choice<'_>,
    toolset: &Toolset<'_, '_>,
    object: &mut Object<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let Choice { mode, subset, parallel, extra } = choice;
    match subset {
        Some(subset) if cx.same() || cx.profile.allowed_tools => {
            write_subset(subset, mode.as_ref(), extra, toolset, object, cx, ledger);
        }
        Some(_) | None => {
            if let Some(mode) = mode {
                write_mode(mode, toolset, object, cx, ledger);
            }
            if !cx.same() {
                ledger.only(extra);
            }
        }
    }
    object.maybe("parallel_tool_calls", parallel.as_ref());
}

/// The names that alone may be sent, for a server without `allowed_tools`.
pub(super) fn filter(
    choice: &Choice<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) -> Option<BTreeSet<String>> {
    let Subset { at, tools } = choice.subset.as_ref()?;
    if cx.same() || cx.profile.allowed_tools {
        return None;
    }
    ledger.degraded(*at, Code::AllowedToolsFiltered).info();
    Some(tools.iter().map(|tool| tool.name.decode().into_owned()).collect())
}

fn write_mode(
    mode: &At<Mode<'_>>,
    toolset: &Toolset<'_, '_>,
    object: &mut Object<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    match &mode.value {
        Mode::Auto => object.put("tool_choice", "auto"),
        Mode::None => object.put("tool_choice", "none"),
        Mode::Any => {
            if !cx.same() && toolset.is_empty() {
                ledger.refused(mode.pos, Code::ChoiceWithoutTools);
                return;
            }
            object.put("tool_choice", "required");
        }
        Mode::Named(wanted) => match target(wanted, toolset, cx) {
            Some(target) => {
                let mut choice = object.object("tool_choice");
                target.write(&mut choice, cx, ledger);
            }
            None => {
                ledger.refused(wanted.at, Code::ChoiceTarget);
            }
        },
        Mode::Other(raw) if cx.same() => object.put("tool_choice", raw),
        Mode::Other(raw) => {
            ledger.dropped(raw.pos(), Code::UnknownValue);
        }
    }
}

fn write_subset(
    subset: &Subset<'_>,
    mode: Option<&At<Mode<'_>>>,
    extra: &[Extra<'_>],
    toolset: &Toolset<'_, '_>,
    object: &mut Object<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let Subset { at, tools } = subset;
    let forced = mode.is_some_and(|mode| matches!(mode.value, Mode::Any));
    let mut choice = object.object("tool_choice");
    choice.put("type", "allowed_tools");
    match mode.map(|mode| &mode.value) {
        Some(Mode::Any) => choice.put("mode", "required"),
        Some(Mode::None) => choice.put("mode", "none"),
        // OpenAI's two protocols have one list of words, longer one day than ours.
        Some(Mode::Other(word)) if cx.same_vendor() && word.kind() == Kind::String => {
            choice.put("mode", word);
        }
        Some(Mode::Other(value)) => {
            ledger.dropped(value.pos(), Code::UnknownValue);
            choice.put("mode", "auto");
        }
        Some(Mode::Auto | Mode::Named(_)) => choice.put("mode", "auto"),
        None if cx.same() => {}
        None => choice.put("mode", "auto"),
    }
    {
        let mut list: Array<'_> = choice.array("tools");
        for wanted in tools {
            match target(wanted, toolset, cx) {
                Some(target) => target.write(&mut list.object(), cx, ledger),
                None => {
                    ledger.dropped(wanted.at, Code::ChoiceTarget);
                }
            }
        }
        if list.is_empty() && forced && !cx.same() {
            ledger.refused(*at, Code::ChoiceTarget);
        }
    }
    cx.extra(&mut choice, extra, ledger);
}

/// A tool as a choice of Responses names it.
enum Target<'t, 'a> {
    Function(&'t ToolRef<'a>),
    Freeform(&'t ToolRef<'a>),
    Typed(&'t ToolRef<'a>),
    WebSearch(&'t ToolRef<'a>),
    Mcp(&'t ToolRef<'a>),
}

/// What a reference means to the target. `None` if the tool does not cross.
fn target<'t, 'a>(
    wanted: &'t ToolRef<'a>,
    toolset: &Toolset<'_, '_>,
    cx: &Out<'_>,
) -> Option<Target<'t, 'a>> {
    if cx.same() {
        return Some(match wanted.kind {
            ToolRefKind::Function | ToolRefKind::Any => Target::Function(wanted),
            ToolRefKind::Freeform => Target::Freeform(wanted),
            ToolRefKind::Typed => Target::Typed(wanted),
            ToolRefKind::Mcp => Target::Mcp(wanted),
        });
    }
    let Some(Declared { tool, namespace: _, inline: _, crossing }) = toolset.find(wanted) else {
        // Nobody declared it; what the upstream says about that is exact.
        return Some(match wanted.kind {
            ToolRefKind::Freeform => Target::Freeform(wanted),
            ToolRefKind::Function | ToolRefKind::Any => Target::Function(wanted),
            ToolRefKind::Typed | ToolRefKind::Mcp => return None,
        });
    };
    match crossing {
        ToolMapping::Dropped(_) => None,
        ToolMapping::Hosted(HostedClass::WebSearch) => Some(Target::WebSearch(wanted)),
        // A search for tools cannot be forced.
        ToolMapping::Hosted(_) => None,
        ToolMapping::Freeform | ToolMapping::Native(_) => Some(Target::Function(wanted)),
        ToolMapping::Same => Some(if is_freeform(tool) {
            Target::Freeform(wanted)
        } else {
            Target::Function(wanted)
        }),
    }
}

fn is_freeform(tool: &Tool<'_>) -> bool {
    match &tool.kind {
        ToolKind::Freeform { grammar: _ } => true,
        ToolKind::Function { schema: _ }
        | ToolKind::Namespace { tools: _ }
        | ToolKind::Native(_)
        | ToolKind::Hosted(_)
        | ToolKind::Unknown(_) => false,
    }
}

impl Target<'_, '_> {
    fn write(&self, object: &mut Object<'_>, cx: &Out<'_>, ledger: &mut Ledger) {
        let wanted = match self {
            Self::Function(wanted) => {
                // A reference without a type is nobody's usual form but is
                // replayed as it came.
                if wanted.kind != ToolRefKind::Any || !cx.same() {
                    object.put("type", "function");
                }
                cx.name("name", &wanted.name, object, ledger);
                wanted
            }
            Self::Freeform(wanted) => {
                object.put("type", "custom");
                cx.name("name", &wanted.name, object, ledger);
                wanted
            }
            Self::Typed(wanted) => {
                object.put("type", &wanted.name);
                wanted
            }
            Self::WebSearch(wanted) => {
                if wanted.name != "web_search" {
                    ledger.renamed(wanted.at, Code::ToolName);
                }
                object.put("type", "web_search");
                wanted
            }
            Self::Mcp(wanted) => {
                object.put("type", "mcp");
                object.put("server_label", &wanted.name);
                wanted
            }
        };
        object.maybe("namespace", wanted.namespace.as_ref());
        cx.extra(object, &wanted.extra, ledger);
    }
}
