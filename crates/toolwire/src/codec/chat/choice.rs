//! `tool_choice`, its deprecated ancestor `function_call`, and
//! `parallel_tool_calls`.

use std::collections::BTreeSet;

use super::content_in::Toward;
use super::tools_out::Shipment;
use super::wire::{AllowedTools, Named, NamedChoice, nest, reread, string};
use crate::ledger::Code;
use crate::model::{Choice, Mode, Subset, ToolKind, ToolRef, ToolRefKind};
use crate::toolset::{Declared, ToolMapping};
use crate::wire::{At, Kind, Object, Pos, Raw, ReadError, Str, read_fields};

/// Reads `tool_choice`.
pub(super) fn read<'a>(raw: Raw<'a>, choice: &mut Choice<'a>) -> Result<(), ReadError> {
    let at = raw.pos();
    if raw.kind() != Kind::Object {
        choice.mode = Some(At::new(at, word(&raw)));
        return Ok(());
    }
    let Some(read) = reread::<NamedChoice<'a>>(&raw) else { return Ok(()) };
    let NamedChoice { at, kind, function, custom, allowed_tools, name, extra } = read?;
    if let Some(AllowedTools { at: inner, mode, tools, extra: nested }) = allowed_tools {
        choice.mode = Some(At::new(at, mode.as_ref().map_or(Mode::Auto, word)));
        let mut references = Vec::new();
        for raw in tools.unwrap_or_default() {
            if let Some(named) = reread(&raw).transpose()? {
                references.push(reference(&raw, named)?);
            }
        }
        choice.subset = Some(Subset { at: inner, tools: references });
        choice.extra = extra;
        nest(&mut choice.extra, "allowed_tools", nested);
        return Ok(());
    }
    let mode = if function.is_none() && custom.is_none() && name.is_none() {
        Mode::Other(raw)
    } else {
        let named = NamedChoice { at, kind, function, custom, allowed_tools: None, name, extra };
        Mode::Named(reference(&raw, named)?)
    };
    choice.mode = Some(At::new(at, mode));
    Ok(())
}

/// Reads the deprecated `function_call`.
pub(super) fn read_legacy<'a>(raw: Raw<'a>, choice: &mut Choice<'a>) -> Result<(), ReadError> {
    let at = raw.pos();
    choice.mode = Some(match reread::<Named<'a>>(&raw).filter(|_| raw.kind() == Kind::Object) {
        Some(read) => {
            let Named { at, name, extra: nested } = read?;
            let name = name.ok_or_else(|| ReadError::missing(at, "name"))?;
            let kind = ToolRefKind::Function;
            let mut extra = Vec::new();
            nest(&mut extra, "function", nested);
            At::new(at, Mode::Named(ToolRef { at, kind, name, namespace: None, extra }))
        }
        None => At::new(at, word(&raw)),
    });
    Ok(())
}

fn word<'a>(raw: &Raw<'a>) -> Mode<'a> {
    match string(raw).as_ref().map(Str::decode).as_deref() {
        Some("auto") => Mode::Auto,
        Some("none") => Mode::None,
        Some("required") => Mode::Any,
        Some(_) | None => Mode::Other(raw.clone()),
    }
}

fn reference<'a>(raw: &Raw<'a>, named: NamedChoice<'a>) -> Result<ToolRef<'a>, ReadError> {
    let NamedChoice { at, kind, function, custom, allowed_tools: _, name, mut extra } = named;
    let word = kind.as_ref().map(Str::decode);
    let (kind, under, inner) = match (word.as_deref(), function, custom) {
        (Some("function"), inner, None) => (ToolRefKind::Function, "function", inner),
        (Some("custom"), None, inner) => (ToolRefKind::Freeform, "custom", inner),
        (None, None, Some(inner)) => (ToolRefKind::Freeform, "custom", Some(inner)),
        (None, inner, None) => (ToolRefKind::Function, "function", inner),
        (other, _, _) => return Ok(typed(at, other.unwrap_or_default(), raw)),
    };
    // Some write the name flat, as Responses does.
    let (mut found, mut inside) = (name, at);
    if let Some(Named { at, name, extra: nested }) = inner {
        (found, inside) = (name.or(found), at);
        nest(&mut extra, under, nested);
    }
    let name = found.ok_or_else(|| ReadError::missing(inside, "name"))?;
    Ok(ToolRef { at, kind, name, namespace: None, extra })
}

/// A tool that is named by its type, which Chat does not publish but allows.
/// Everything else about it is kept as it came.
fn typed<'a>(at: Pos, kind: &str, raw: &Raw<'a>) -> ToolRef<'a> {
    let fields = raw.source_reader().and_then(|mut reader| read_fields(&mut reader).ok());
    let mut extra = fields.unwrap_or_default();
    extra.retain(|field| field.key != "type");
    let name = Str::plain(kind.to_owned()).at(at);
    ToolRef { at, kind: ToolRefKind::Typed, name, namespace: None, extra }
}

/// Works out which tools to send where the upstream cannot choose among them.
pub(super) fn filter(
    choice: &Choice<'_>,
    shipment: &Shipment<'_, '_, '_>,
    toward: &mut Toward<'_>,
) -> Option<BTreeSet<String>> {
    let Subset { at, tools } = choice.subset.as_ref()?;
    if toward.profile.allowed_tools {
        return None;
    }
    toward.ledger.emulated(*at, Code::AllowedToolsFiltered).info();
    let finder = shipment.toolset.finder();
    Some(tools.iter().map(|tool| wire_name(tool, finder.find(tool), shipment)).collect())
}

/// Writes a choice of another protocol.
pub(super) fn write(
    object: &mut Object<'_>,
    choice: &Choice<'_>,
    shipment: &Shipment<'_, '_, '_>,
    toward: &mut Toward<'_>,
) {
    let Choice { mode, subset, parallel, extra } = choice;
    toward.ledger.only(extra);
    // Chat answers 400 to either field without tools. vectors/requests/chat-choice-without-tools
    if shipment.written.is_empty() {
        return without_tools(choice, shipment, toward);
    }
    match (subset, mode) {
        (Some(subset), mode) if toward.profile.allowed_tools => {
            write_subset(object, subset, mode.as_ref(), shipment, toward);
        }
        (_, Some(mode)) => write_mode(object, mode, shipment, toward),
        (_, None) => {}
    }
    object.maybe("parallel_tool_calls", parallel.as_ref());
}

fn without_tools(choice: &Choice<'_>, shipment: &Shipment<'_, '_, '_>, toward: &mut Toward<'_>) {
    let Choice { mode, subset, parallel, extra: _ } = choice;
    match mode {
        Some(At { pos, value: Mode::Any }) => {
            toward
                .ledger
                .refused(*pos, Code::ChoiceWithoutTools)
                .detail("The choice demands a tool call, and no tool can cross.");
        }
        Some(At { pos, value: Mode::Named(tool) }) => match shipment.toolset.find(tool) {
            Some(declared) => refuse(tool, declared, toward),
            None => {
                toward.ledger.refused(*pos, Code::ChoiceTarget);
            }
        },
        Some(At { pos, value: Mode::Auto | Mode::None | Mode::Other(_) }) => {
            toward.ledger.dropped(*pos, Code::ChoiceWithoutTools).info();
        }
        None => {}
    }
    if let Some(Subset { at, tools: _ }) = subset {
        toward.ledger.dropped(*at, Code::ChoiceWithoutTools).info();
    }
    if let Some(parallel) = parallel {
        toward.ledger.dropped(parallel.pos, Code::ChoiceWithoutTools).info();
    }
}

/// Refuses a choice, and names both the choice and the tool that it forces.
fn refuse(tool: &ToolRef<'_>, declared: &Declared<'_, '_>, toward: &mut Toward<'_>) {
    toward.ledger.refused(tool.at, Code::ChoiceTarget);
    let code = match &declared.crossing {
        ToolMapping::Dropped(code) => code.clone(),
        ToolMapping::Same
        | ToolMapping::Freeform
        | ToolMapping::Native(_)
        | ToolMapping::Hosted(_) => Code::ChoiceTarget,
    };
    toward
        .ledger
        .refused(declared.tool.at, code)
        .detail("The tool choice forces this tool, and it cannot cross.");
}

fn write_mode(
    object: &mut Object<'_>,
    mode: &At<Mode<'_>>,
    shipment: &Shipment<'_, '_, '_>,
    toward: &mut Toward<'_>,
) {
    match &mode.value {
        Mode::Auto => object.put("tool_choice", "auto"),
        Mode::None => object.put("tool_choice", "none"),
        Mode::Any => object.put("tool_choice", "required"),
        Mode::Other(raw) => {
            toward.ledger.dropped(raw.pos(), Code::UnknownValue);
        }
        Mode::Named(tool) => {
            let declared = shipment.toolset.find(tool);
            if let Some(declared) = declared
                && !callable(declared)
            {
                return refuse(tool, declared, toward);
            }
            let by_type = matches!(tool.kind, ToolRefKind::Typed | ToolRefKind::Mcp);
            if declared.is_none() && by_type {
                toward.ledger.refused(tool.at, Code::ChoiceTarget);
                return;
            }
            let mut named = object.object("tool_choice");
            put_target(&mut named, tool, declared, shipment, toward);
        }
    }
}

fn write_subset(
    object: &mut Object<'_>,
    subset: &Subset<'_>,
    mode: Option<&At<Mode<'_>>>,
    shipment: &Shipment<'_, '_, '_>,
    toward: &mut Toward<'_>,
) {
    let Subset { at, tools } = subset;
    let any = match mode {
        None | Some(At { pos: _, value: Mode::Auto }) => false,
        Some(At { pos: _, value: Mode::Any }) => true,
        Some(At { pos: _, value: Mode::None }) => {
            toward
                .ledger
                .dropped(*at, Code::UnknownValue)
                .detail("No tool may be called, so it does not matter which of them may be.");
            return object.put("tool_choice", "none");
        }
        Some(At { pos, value: Mode::Other(_) | Mode::Named(_) }) => {
            toward.ledger.dropped(*pos, Code::UnknownValue);
            false
        }
    };
    let finder = shipment.toolset.finder();
    let mut kept = Vec::with_capacity(tools.len());
    for tool in tools {
        match finder.find(tool) {
            Some(declared) if callable(declared) => kept.push((tool, declared)),
            Some(_) | None => {
                toward.ledger.dropped(tool.at, Code::ChoiceTarget);
            }
        }
    }
    if kept.is_empty() {
        if any {
            toward
                .ledger
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
        put_target(&mut array.object(), tool, Some(declared), shipment, toward);
    }
}

fn callable(declared: &Declared<'_, '_>) -> bool {
    match declared.crossing {
        ToolMapping::Same | ToolMapping::Freeform | ToolMapping::Native(_) => true,
        ToolMapping::Hosted(_) | ToolMapping::Dropped(_) => false,
    }
}

/// Writes a reference of another protocol as one to the tool that was sent.
fn put_target(
    object: &mut Object<'_>,
    tool: &ToolRef<'_>,
    declared: Option<&Declared<'_, '_>>,
    shipment: &Shipment<'_, '_, '_>,
    toward: &mut Toward<'_>,
) {
    let ToolRef { at, kind: _, name, namespace, extra } = tool;
    toward.ledger.only(extra);
    let freeform = declared.is_some_and(|declared| {
        matches!(declared.tool.kind, ToolKind::Freeform { grammar: _ })
            && declared.crossing == ToolMapping::Same
    });
    let wire = wire_name(tool, declared, shipment);
    if let (Some(namespace), Some(Declared { tool: _, namespace: None, inline: _, crossing: _ })) =
        (namespace, declared)
    {
        let note = toward.ledger.dropped(namespace.pos(), Code::NamespaceFlattened);
        note.detail("The chosen tool is in no namespace.");
    }
    if wire != name.decode() {
        match declared {
            // The definition says so.
            Some(Declared { tool: _, namespace: Some(_), inline: _, crossing: _ }) => {}
            None if namespace.is_some() => {
                toward.ledger.emulated(*at, Code::NamespaceFlattened);
            }
            Some(_) | None => {
                toward.ledger.renamed(name.pos(), Code::ToolName);
            }
        }
    }
    let under = if freeform { "custom" } else { "function" };
    object.put("type", under);
    object.object(under).put("name", &wire);
}

fn wire_name(
    tool: &ToolRef<'_>,
    declared: Option<&Declared<'_, '_>>,
    shipment: &Shipment<'_, '_, '_>,
) -> String {
    match declared {
        Some(declared) => shipment.wire_name(declared),
        None => {
            let namespace = tool.namespace.as_ref().map(Str::decode);
            let name = tool.name.decode();
            shipment.toolset.wire_name(namespace.as_deref(), &name).into_owned()
        }
    }
}
