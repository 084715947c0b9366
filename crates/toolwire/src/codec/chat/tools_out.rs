//! Tool definitions: writing them.

use std::collections::BTreeSet;

use super::calls_out::Wrapping;
use super::tool_description_out::ToolDescription;
use super::tool_losses_out::{
    is_carried, report_namespace, report_native, report_root, report_strict, report_tool_losses,
};
use super::web_search_out;
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Grammar, Native, Protocol, Tool, ToolKind};
use crate::native;
use crate::profile::Profile;
use crate::schema::{self, RootChange};
use crate::toolset::{Declared, ToolMapping, Toolset};
use crate::wire::{Array, Object, Raw};

/// Writes a bare list of tools that was read from `origin`.
pub(super) fn encode(
    tools: &[Tool<'_>],
    origin: Protocol,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    debug_assert!(origin != Protocol::Chat, "within one protocol the bytes pass");
    let toolset = Toolset::of_list(tools, origin, profile);
    let cx = &mut EncodeContext::new(origin, profile, &toolset.names, ledger);
    WrittenTools::new(&toolset).write_list(&mut Array::new(out), cx);
}

/// The tools that have been written, for the choice and the calls that name
/// them.
pub(super) struct WrittenTools<'t, 'r, 'a> {
    pub(super) toolset: &'t Toolset<'r, 'a>,
    /// The wire names of the only tools to send, if the upstream cannot restrict
    /// a choice to some tools.
    pub(super) subset: Option<BTreeSet<String>>,
    /// The wire names written so far.
    pub(super) written: BTreeSet<String>,
    /// The wire names of tools whose arguments become the property `value` of an
    /// object.
    wrapped: BTreeSet<String>,
}

impl<'t, 'r, 'a> WrittenTools<'t, 'r, 'a> {
    /// Nothing written yet.
    pub(super) fn new(toolset: &'t Toolset<'r, 'a>) -> Self {
        let (written, wrapped) = (BTreeSet::new(), BTreeSet::new());
        Self { toolset, subset: None, written, wrapped }
    }

    /// Writes `tools` and `web_search_options`.
    pub(super) fn write(&mut self, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
        // Chat refuses an empty list, and only after the last tool is it known
        // whether the list has any.
        let mut list = Vec::new();
        self.write_list(&mut Array::new(&mut list), cx);
        if !self.written.is_empty() {
            object.key("tools").extend_from_slice(&list);
        }
        for declared in &self.toolset.entries {
            if let ToolMapping::Hosted(_) = declared.crossing {
                web_search_out::write_options(object, declared.tool, cx);
                return;
            }
        }
    }

    /// Writes every tool that Chat takes in a list.
    pub(super) fn write_list(&mut self, array: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
        let mut last: Option<&Tool<'_>> = None;
        for declared in &self.toolset.entries {
            let Declared { tool, namespace, inline, crossing } = declared;
            if let Some(namespace) = namespace
                && !last.is_some_and(|last| std::ptr::eq(last, *namespace))
            {
                report_namespace(namespace, cx);
                last = Some(namespace);
            }
            let wire = self.wire_name(declared);
            if let Some(subset) = &self.subset
                && !subset.contains(&wire)
            {
                continue;
            }
            match crossing {
                ToolMapping::Dropped(code) => {
                    cx.ledger.dropped(tool.at, code.clone());
                    continue;
                }
                ToolMapping::Hosted(_) => continue,
                ToolMapping::Same | ToolMapping::Freeform | ToolMapping::Native(_) => {}
            }
            if let ToolKind::Native(Native { kind, kind_text }) = &tool.kind
                && native::function(*kind, &kind_text.decode()).is_none()
            {
                cx.ledger.dropped(tool.at, Code::UnknownTool);
                continue;
            }
            if !self.written.insert(wire.clone()) {
                let note = cx.ledger.dropped(tool.at, Code::ToolName);
                note.detail("Another tool has the same name, and the target takes one of each.");
                if *inline {
                    note.info();
                }
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
            if self.write_one(array, declared, &wire, cx) {
                self.wrapped.insert(wire);
            }
        }
    }

    /// How the arguments of a call of a tool are wrapped.
    pub(super) fn wrapping(&self, wire_name: &str) -> Wrapping {
        if self.wrapped.contains(wire_name) { Wrapping::Value } else { Wrapping::None }
    }

    /// A tool's name toward the upstream.
    pub(super) fn wire_name(&self, declared: &Declared<'_, '_>) -> String {
        let namespace = declared.namespace.map(|namespace| namespace.name.decode());
        let name = declared.tool.name.decode();
        self.toolset.wire_name(namespace.as_deref(), &name).into_owned()
    }

    /// Writes one tool and says whether its arguments go up wrapped.
    fn write_one(
        &self,
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
                let changed = schema.as_ref().map(|schema| schema::root(Some(schema)));
                let (schema, change) = match changed {
                    Some((schema, change)) => (Some(schema), change),
                    None => (None, None),
                };
                if let Some(change) = change {
                    report_root(tool, change, cx);
                }
                let strict = strict(tool, schema.as_ref(), cx);
                put_function(array, wire, &description, schema.as_ref(), strict);
                change == Some(RootChange::Wrapped)
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
                put_function(array, wire, &description, Some(&Raw::made(INPUT_SCHEMA)), None);
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
    let mut object = array.object();
    object.put("type", "function");
    let mut function = object.object("function");
    function.put("name", name);
    description.put(&mut function);
    function.maybe("parameters", schema);
    function.maybe("strict", strict.as_ref());
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

/// The schema of a freeform tool as a function of one text.
const INPUT_SCHEMA: &str =
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;
