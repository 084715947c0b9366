//! `tool_choice` and `parallel_tool_calls`: model to wire.

use std::collections::BTreeSet;

use super::tools_out::write_tool_name;
use crate::codec::context::EncodeContext;
use crate::codec::sent_tools::SentTools;
use crate::ledger::Code;
use crate::model::{Choice, HostedClass, Mode, Subset, ToolKind, ToolRef, ToolRefKind};
use crate::toolset::{Declared, ToolMapping};
use crate::wire::{Array, At, Extra, Kind, Object};

/// Writes the choice for an upstream.
pub(super) fn write_choice(
    choice: &Choice<'_>,
    sent: &SentTools<'_, '_, '_>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Choice { mode, subset, parallel, extra } = choice;
    match subset {
        Some(subset) if cx.profile.allowed_tools => {
            write_subset(subset, mode.as_ref(), extra, sent, object, cx);
        }
        Some(_) | None => {
            if let Some(mode) = mode {
                write_mode(mode, sent, object, cx);
            }
            cx.ledger.only(extra);
        }
    }
    object.maybe("parallel_tool_calls", parallel.as_ref());
}

/// The names of the only tools to send, for a server without `allowed_tools`.
pub(super) fn filter(choice: &Choice<'_>, cx: &mut EncodeContext<'_>) -> Option<BTreeSet<String>> {
    let Subset { at, tools } = choice.subset.as_ref()?;
    if cx.profile.allowed_tools {
        return None;
    }
    cx.ledger.degraded(*at, Code::AllowedToolsFiltered).info();
    Some(tools.iter().map(|tool| tool.name.decode().into_owned()).collect())
}

fn write_mode(
    mode: &At<Mode<'_>>,
    sent: &SentTools<'_, '_, '_>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    match &mode.value {
        Mode::Auto => object.put("tool_choice", "auto"),
        Mode::None => object.put("tool_choice", "none"),
        Mode::Any => {
            if sent.is_empty() {
                cx.ledger.refused(mode.pos, Code::ChoiceWithoutTools);
                return;
            }
            object.put("tool_choice", "required");
        }
        Mode::Named(wanted) => match target(wanted, sent.toolset.find(wanted)) {
            Some(target) => {
                let mut choice = object.object("tool_choice");
                target.write(&mut choice, cx);
            }
            None => {
                cx.ledger.refused(wanted.at, Code::ChoiceTarget);
            }
        },
        Mode::Other(raw) => {
            cx.ledger.dropped(raw.pos(), Code::UnknownValue);
        }
    }
}

fn write_subset(
    subset: &Subset<'_>,
    mode: Option<&At<Mode<'_>>>,
    extra: &[Extra<'_>],
    sent: &SentTools<'_, '_, '_>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Subset { at, tools } = subset;
    let forced = mode.is_some_and(|mode| matches!(mode.value, Mode::Any));
    let mut choice = object.object("tool_choice");
    choice.put("type", "allowed_tools");
    match mode.map(|mode| &mode.value) {
        Some(Mode::Any) => choice.put("mode", "required"),
        Some(Mode::None) => choice.put("mode", "none"),
        // OpenAI's protocols share these words, and may get more of them.
        Some(Mode::Other(word)) if cx.same_vendor() && word.kind() == Kind::String => {
            choice.put("mode", word);
        }
        Some(Mode::Other(value)) => {
            cx.ledger.dropped(value.pos(), Code::UnknownValue);
            choice.put("mode", "auto");
        }
        Some(Mode::Auto | Mode::Named(_)) | None => choice.put("mode", "auto"),
    }
    {
        let finder = sent.toolset.finder();
        let mut list: Array<'_> = choice.array("tools");
        for wanted in tools {
            match target(wanted, finder.find(wanted)) {
                Some(target) => target.write(&mut list.object(), cx),
                None => {
                    cx.ledger.dropped(wanted.at, Code::ChoiceTarget);
                }
            }
        }
        if list.is_empty() && forced {
            cx.ledger.refused(*at, Code::ChoiceTarget);
        }
    }
    cx.ledger.only(extra);
}

/// How a choice names a tool.
enum NamedTool<'t, 'a> {
    Function(&'t ToolRef<'a>),
    Freeform(&'t ToolRef<'a>),
    WebSearch(&'t ToolRef<'a>),
}

/// What a reference means to the target. `None` if the tool does not cross.
fn target<'t, 'a>(
    wanted: &'t ToolRef<'a>,
    declared: Option<&Declared<'_, '_>>,
) -> Option<NamedTool<'t, 'a>> {
    let Some(Declared { tool, namespace: _, inline: _, crossing, root: _ }) = declared else {
        // The tool was not declared. The upstream can say that best.
        return Some(match wanted.kind {
            ToolRefKind::Freeform => NamedTool::Freeform(wanted),
            ToolRefKind::Function | ToolRefKind::Any => NamedTool::Function(wanted),
            ToolRefKind::Typed | ToolRefKind::Mcp => return None,
        });
    };
    match crossing {
        ToolMapping::Dropped(_) => None,
        ToolMapping::Hosted(HostedClass::WebSearch) => Some(NamedTool::WebSearch(wanted)),
        // A search for tools cannot be forced.
        ToolMapping::Hosted(_) => None,
        ToolMapping::Freeform | ToolMapping::Native(_) => Some(NamedTool::Function(wanted)),
        ToolMapping::Same => Some(if let ToolKind::Freeform { grammar: _ } = tool.kind {
            NamedTool::Freeform(wanted)
        } else {
            NamedTool::Function(wanted)
        }),
    }
}

impl NamedTool<'_, '_> {
    fn write(&self, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
        let wanted = match self {
            Self::Function(wanted) => {
                object.put("type", "function");
                write_tool_name(&wanted.name, object, cx);
                wanted
            }
            Self::Freeform(wanted) => {
                object.put("type", "custom");
                write_tool_name(&wanted.name, object, cx);
                wanted
            }
            Self::WebSearch(wanted) => {
                if wanted.name != "web_search" {
                    cx.ledger.renamed(wanted.at, Code::ToolName);
                }
                object.put("type", "web_search");
                wanted
            }
        };
        object.maybe("namespace", wanted.namespace.as_ref());
        cx.ledger.only(&wanted.extra);
    }
}
