//! Tool definitions: writing them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::calls_out::Wrapping;
use super::tool_description_out::ToolDescription;
use super::tool_losses_out::{
    is_carried, report_namespace, report_native, report_strict, report_tool_losses,
};
use super::web_search_out;
use crate::codec::context::EncodeContext;
use crate::codec::losses_out::report_root;
use crate::codec::sent_tools::{SameNames, SentTools, client_name};
use crate::ledger::{Code, Ledger};
use crate::model::{Grammar, Native, Protocol, Tool, ToolKind};
use crate::native;
use crate::profile::Profile;
use crate::schema::{self, RootChange};
use crate::toolset::{Declared, ToolMapping, Toolset};
use crate::wire::{Array, Object, Raw, Write as _};

/// Writes a bare list of tools that was read from `origin`.
pub(super) fn encode(
    tools: &[Tool<'_>],
    origin: Protocol,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let toolset = Toolset::of_list(tools, origin, profile);
    let cx = &mut EncodeContext::new(origin, profile, &toolset.names, ledger);
    let every_tool = None;
    ChatTools::new(&toolset, every_tool).write_list(&mut Array::new(out), cx);
}

/// The tools that are sent, and in which shape their arguments go up.
pub(super) struct ChatTools<'t, 'r, 'a> {
    pub(super) sent: SentTools<'t, 'r, 'a>,
    /// The wire names of the only tools to send, if the upstream cannot restrict
    /// a choice to some tools.
    subset: Option<BTreeSet<String>>,
    /// The wire names of tools whose arguments become the property `value` of an
    /// object.
    wrapped: BTreeSet<Cow<'r, str>>,
}

impl<'t, 'r, 'a> ChatTools<'t, 'r, 'a> {
    /// The tools of a request, of which none has been written.
    pub(super) fn new(toolset: &'t Toolset<'r, 'a>, subset: Option<BTreeSet<String>>) -> Self {
        // A hosted tool is no tool in Chat, so it has no name.
        let sent = SentTools::none(toolset, |_class| None, SameNames::Reported);
        Self { sent, subset, wrapped: BTreeSet::new() }
    }

    /// Writes `tools` and `web_search_options`.
    pub(super) fn write(&mut self, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
        // Chat refuses an empty list, and only after the last tool is it known
        // whether the list has any.
        object.array_if_any("tools", |list| {
            self.write_list(list, cx);
            !self.sent.is_empty()
        });
        for declared in &self.sent.toolset.entries {
            if let ToolMapping::Hosted(_) = declared.crossing {
                web_search_out::write_options(object, declared.tool, cx);
                return;
            }
        }
    }

    /// Writes every tool that Chat takes in a list.
    pub(super) fn write_list(&mut self, array: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
        let mut last: Option<&Tool<'_>> = None;
        let toolset = self.sent.toolset;
        if let (Some(written), None) = (&toolset.written, &self.subset) {
            written.write(array, cx.ledger);
            return self.sent.send_all();
        }
        for (index, declared) in toolset.entries.iter().enumerate() {
            let Declared { tool, namespace, inline, crossing, root: _ } = declared;
            if let Some(namespace) = namespace
                && !last.is_some_and(|last| std::ptr::eq(last, *namespace))
            {
                report_namespace(namespace, cx);
                last = Some(namespace);
            }
            let wire = client_name(declared, cx.names);
            if let Some(subset) = &self.subset
                && !subset.contains(wire.as_ref())
            {
                continue;
            }
            if let Some(code) = crossing.loss() {
                cx.ledger.dropped(tool.at, code.clone());
                continue;
            }
            if let ToolMapping::Hosted(_) = crossing {
                continue;
            }
            if let ToolKind::Native(Native { kind, kind_text }) = &tool.kind
                && native::function(*kind, &kind_text.decode()).is_none()
            {
                cx.ledger.dropped(tool.at, Code::UnknownTool);
                continue;
            }
            if !self.sent.send(index, wire.clone(), cx.ledger) {
                continue;
            }
            if *inline {
                cx.ledger.moved(tool.at, Code::ToolPosition);
            }
            if wire != tool.name.decode() {
                match namespace {
                    Some(_) => cx.ledger.emulated(tool.at, Code::NamespaceFlattened),
                    None => cx.ledger.renamed(tool.name.pos(), Code::ToolName),
                };
            }
            if write_tool(array, declared, &wire, cx) {
                self.wrapped.insert(wire);
            }
        }
    }

    /// How the arguments of a call of a tool are wrapped.
    pub(super) fn wrapping(&self, wire_name: &str) -> Wrapping {
        if self.wrapped.contains(wire_name) { Wrapping::Value } else { Wrapping::None }
    }
}

/// Writes one tool and returns whether its arguments go up wrapped.
fn write_tool(
    array: &mut Array<'_>,
    declared: &Declared<'_, '_>,
    wire: &str,
    cx: &mut EncodeContext<'_>,
) -> bool {
    let tool = declared.tool;
    report_tool_losses(tool, cx);
    let description = ToolDescription::of(declared, cx);
    match &tool.kind {
        ToolKind::Function { schema } => {
            let at = schema.as_ref().map_or(tool.at, Raw::pos);
            let (schema, change) = declared.schema_root();
            let typed = "The target needs the type of the root; it was added.";
            report_root(at, *change, (Code::SchemaRootWrapped, typed), cx.ledger);
            let strict = strict(tool, schema.as_ref(), cx);
            put_function(array, wire, &description, schema.as_ref(), strict);
            *change == Some(RootChange::Wrapped)
        }
        ToolKind::Freeform { grammar } if declared.crossing == ToolMapping::Same => {
            report_strict(tool, cx);
            let mut object = array.object();
            object.put("type", "custom");
            let mut custom = object.object("custom");
            custom.put("name", wire);
            description.put(&mut custom);
            if let Some(grammar) = grammar {
                put_grammar(&mut custom, grammar, cx);
            }
            false
        }
        ToolKind::Freeform { grammar } => {
            cx.ledger.emulated(tool.at, Code::FreeformWrapped);
            report_strict(tool, cx);
            if let Some(Grammar { at, syntax: _, definition: _, extra }) = grammar {
                cx.ledger.degraded(*at, Code::GrammarUnenforced);
                cx.ledger.only(extra);
            }
            put_function(array, wire, &description, Some(&Raw::made(schema::FREEFORM)), None);
            false
        }
        ToolKind::Native(Native { kind, kind_text }) => {
            let Some(function) = native::function(*kind, &kind_text.decode()) else {
                return false;
            };
            report_native(tool, *kind, cx);
            report_strict(tool, cx);
            let description = description.or(function.description);
            // A search that the client runs has its own schema.
            let own = tool.extra.iter().find(|field| is_carried(*kind, field));
            let schema = match own {
                Some(field) => schema::root(Some(&field.value)).0,
                None => Raw::made(function.schema),
            };
            put_function(array, wire, &description, Some(&schema), None);
            false
        }
        ToolKind::Namespace { tools: _ } | ToolKind::Hosted(_) | ToolKind::Unknown(_) => false,
    }
}

/// Writes a grammar, which Chat keeps one level deeper than other protocols do.
fn put_grammar(custom: &mut Object<'_>, grammar: &Grammar<'_>, cx: &mut EncodeContext<'_>) {
    let Grammar { at: _, syntax, definition, extra } = grammar;
    cx.ledger.only(extra);
    let mut format = custom.object("format");
    format.put("type", "grammar");
    let mut inner = format.object("grammar");
    inner.maybe("syntax", syntax.as_ref());
    inner.maybe("definition", definition.as_ref());
}

fn put_function(
    array: &mut Array<'_>,
    name: &str,
    description: &ToolDescription<'_>,
    schema: Option<&Raw<'_>>,
    strict: Option<bool>,
) {
    // Tools are most of what a request writes, and nearly all begin so.
    let out = array.item();
    out.extend_from_slice(br#"{"type":"function","function":{"name":"#);
    name.write(out);
    let mut function = Object::more_members(out);
    description.put(&mut function);
    function.maybe("parameters", schema);
    function.maybe("strict", strict.as_ref());
    drop(function);
    out.extend_from_slice(b"}}");
}

/// Whether arguments must fit the schema exactly. In Chat, no `strict` means no.
/// If it means "try" in the client's protocol, it becomes a yes if the schema
/// allows it.
fn strict(tool: &Tool<'_>, schema: Option<&Raw<'_>>, cx: &mut EncodeContext<'_>) -> Option<bool> {
    let empty = Raw::made(schema::EMPTY);
    let fits = || schema::fits_openai_strict(schema.unwrap_or(&empty));
    match &tool.strict {
        Some(wanted) if !cx.profile.strict => {
            if wanted.value {
                cx.ledger.dropped(wanted.pos, Code::StrictDowngraded);
            } else {
                let note = cx.ledger.emulated(wanted.pos, Code::StrictDowngraded);
                note.detail("Not strict is what the target does by itself.");
            }
            None
        }
        Some(wanted) if wanted.value => {
            let fits = fits();
            if !fits {
                cx.ledger.degraded(wanted.pos, Code::StrictDowngraded);
            }
            Some(fits)
        }
        Some(_) => Some(false),
        None if cx.conventions().tools_try_strict && cx.profile.strict => {
            (schema.is_some() && fits()).then_some(true)
        }
        None => None,
    }
}
