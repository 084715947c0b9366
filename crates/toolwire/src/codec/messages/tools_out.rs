//! Tool definitions: from the model to Messages.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::content_out::write_cache;
use super::hosted_tools_out::{hosted_name, write_hosted_tool};
use super::tool_description_out::DescriptionText;
use crate::codec::context::EncodeContext;
use crate::codec::losses_out::{report_callers, report_root};
use crate::codec::sent_tools::SentTools;
use crate::ledger::{Code, Ledger};
use crate::model::{Grammar, HostedClass, Native, NativeKind, Protocol, Tool, ToolKind};
use crate::native;
use crate::profile::Profile;
use crate::schema::{self, RootChange};
use crate::toolset::{Declared, ToolMapping, Toolset};
use crate::wire::{Array, At, Extra, Raw, Str};

/// Writes a bare array of tool definitions.
pub(super) fn encode(
    tools: &[Tool<'_>],
    origin: Protocol,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    debug_assert_ne!(origin, Protocol::Messages, "the bytes of one protocol pass");
    let toolset = Toolset::of_list(tools, origin, profile);
    let cx = &mut EncodeContext::new(origin, profile, &toolset.names, ledger);
    let sent = SentTools::new(&toolset, None, hosted_name, cx.ledger);
    write_tools(&sent, out, cx);
}

/// Writes the tools, and returns the names of those whose arguments are wrapped
/// in an object because their schema is of another type.
pub(super) fn write_tools(
    sent: &SentTools<'_, '_, '_>,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
) -> BTreeSet<String> {
    if let (Some(written), true) = (&sent.toolset.written, sent.sends_all()) {
        written.write(&mut Array::new(out), cx.ledger);
        return BTreeSet::new();
    }
    let is_search = |(declared, _): (&Declared<'_, '_>, _)| {
        declared.crossing == ToolMapping::Hosted(HostedClass::ToolSearch)
    };
    cx.tool_search = sent.iter().any(is_search);
    let mut list = Array::new(out);
    let mut wrapped = BTreeSet::new();
    for (declared, name) in sent.iter() {
        if write_tool(declared, name, &mut list, cx) == Some(RootChange::Wrapped) {
            wrapped.insert(name.to_string());
        }
    }
    wrapped
}

/// Writes a tool, and returns what became of the root of its schema.
fn write_tool(
    declared: &Declared<'_, '_>,
    name: &str,
    list: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) -> Option<RootChange> {
    let Declared { tool, namespace, inline, crossing, root: _ } = declared;
    if *inline {
        cx.ledger.moved(tool.at, Code::ToolPosition);
    }
    if namespace.is_some() {
        cx.ledger.emulated(tool.at, Code::NamespaceFlattened);
    } else if tool.name != *name && !matches!(crossing, ToolMapping::Hosted(_)) {
        cx.ledger.renamed(tool.name.pos(), Code::ToolName);
    }
    match crossing {
        ToolMapping::Hosted(class) => {
            write_hosted_tool(tool, *class, list, cx);
            return None;
        }
        ToolMapping::Native(kind) => {
            write_native_tool(tool, *kind, name, list, cx);
            return None;
        }
        ToolMapping::Same | ToolMapping::Freeform => {}
        ToolMapping::Dropped(_) => return None,
    }
    match &tool.kind {
        ToolKind::Function { schema } => {
            let root = match declared.schema_root() {
                (Some(root), change) => (root.borrowed(), *change),
                (None, _) => schema::root(None),
            };
            let (schema, change) = input_schema(tool, schema.as_ref(), root, cx.ledger);
            let description = DescriptionText::new(tool, *namespace, Vec::new());
            write_definition(tool, name, &description, &schema, &tool.extra, list, cx);
            change
        }
        ToolKind::Freeform { grammar } => {
            cx.ledger.emulated(tool.at, Code::FreeformWrapped);
            let mut notes = vec![Cow::Borrowed(FREEFORM_NOTE)];
            if let Some(Grammar { at, syntax, definition, extra }) = grammar {
                cx.ledger.degraded(*at, Code::GrammarUnenforced);
                cx.ledger.only(extra);
                let syntax = syntax.as_ref().map_or(Cow::Borrowed(""), Str::decode);
                let grammar = definition.as_ref().map_or(Cow::Borrowed(""), Str::decode);
                let note = format!("\n\nThe text must match this {syntax} grammar:\n{grammar}");
                notes.push(Cow::Owned(note));
            }
            let description = DescriptionText::new(tool, *namespace, notes);
            let schema = Raw::made(schema::FREEFORM);
            write_definition(tool, name, &description, &schema, &tool.extra, list, cx);
            None
        }
        // Tools of these kinds have a mapping of their own, or none.
        ToolKind::Namespace { tools: _ }
        | ToolKind::Native(_)
        | ToolKind::Hosted(_)
        | ToolKind::Unknown(_) => {
            cx.ledger.dropped(tool.at, Code::UnknownTool);
            None
        }
    }
}

fn write_definition(
    tool: &Tool<'_>,
    name: &str,
    description: &DescriptionText<'_>,
    schema: &Raw<'_>,
    extra: &[Extra<'_>],
    list: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Tool {
        at: _,
        name: _,
        description: _,
        kind: _,
        strict,
        defer,
        callers,
        examples,
        output_schema,
        deferred_result,
        eager,
        cache,
        extra: _,
    } = tool;
    let mut object = list.object();
    object.put("name", name);
    if !description.is_empty() {
        description.write(object.key("description"));
    }
    object.put("input_schema", schema);
    match strict {
        Some(At { pos: _, value: true })
            if cx.profile.strict && schema::fits_anthropic_strict(schema) =>
        {
            object.put("strict", &true);
        }
        Some(At { pos, value: true }) => {
            cx.ledger.degraded(*pos, Code::StrictDowngraded);
        }
        Some(At { pos, value: false }) => {
            let note = cx.ledger.emulated(*pos, Code::StrictDowngraded);
            note.detail("Not strict is what the target does by itself.");
        }
        None => {}
    }
    match defer {
        Some(defer) if cx.tool_search || !defer.value => object.put("defer_loading", &defer.value),
        Some(defer) => {
            cx.ledger.dropped(defer.pos, Code::DeferLoading);
        }
        None => {}
    }
    report_callers(callers.as_ref(), cx.ledger);
    object.maybe("input_examples", examples.as_ref());
    cx.ledger.lost(output_schema, Code::OutputSchema);
    match deferred_result {
        Some(At { pos, value: true }) => {
            cx.ledger.dropped(*pos, Code::AsyncTool);
        }
        Some(At { pos, value: false }) => {
            let note = cx.ledger.emulated(*pos, Code::AsyncTool);
            note.detail("The target expects every result at once.");
        }
        None => {}
    }
    object.maybe("eager_input_streaming", eager.as_ref());
    write_cache(cache.as_ref(), &mut object, cx);
    cx.ledger.only(extra);
}

fn write_native_tool(
    tool: &Tool<'_>,
    kind: NativeKind,
    name: &str,
    list: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let ToolKind::Native(Native { kind: _, kind_text }) = &tool.kind else { return };
    let Some(native::Function { description, schema }) =
        native::function(kind, &kind_text.decode())
    else {
        cx.ledger.dropped(tool.at, Code::UnknownTool);
        return;
    };
    cx.ledger.emulated(tool.at, Code::NativeToolWrapped);
    let own = tool.description.as_ref().map(Str::borrowed);
    let text = Some(own.unwrap_or(Str::plain(description)));
    let description = DescriptionText { text, notes: Vec::new() };
    // A search that the client runs has a schema of its own, and `execution`
    // says that the client runs it.
    let is_search = kind == NativeKind::ToolSearch;
    let is_schema = |field: &&Extra<'_>| is_search && field.key == *"parameters";
    let schema = match tool.extra.iter().find(is_schema) {
        Some(field) => {
            let own = Some(&field.value);
            input_schema(tool, own, schema::root(own), cx.ledger).0
        }
        None => Raw::made(schema),
    };
    let known =
        |field: &Extra<'_>| is_search && (field.key == *"parameters" || field.key == *"execution");
    let rest: Vec<Extra<'_>> = tool.extra.iter().filter(|field| !known(field)).cloned().collect();
    write_definition(tool, name, &description, &schema, &rest, list, cx);
}

/// The schema of a tool's arguments as the API accepts it, and what became of
/// its root. `own` is what the client wrote.
fn input_schema<'s>(
    tool: &Tool<'_>,
    own: Option<&Raw<'_>>,
    (schema, change): (Raw<'s>, Option<RootChange>),
    ledger: &mut Ledger,
) -> (Raw<'s>, Option<RootChange>) {
    // A single illegal name makes the API refuse the whole request, with a
    // message that does not help the client to find it.
    if let Some(property) = own.and_then(schema::property_names) {
        let note = ledger.refused(property.pos(), Code::SchemaProperty);
        let (property, tool) = (property.decode(), tool.name.decode());
        note.detail(format!(
            "The target refuses the property name {property:?} of the tool {tool:?}: it takes 1 to 64 letters, digits, `_`, `.` and `-`."
        ));
    }
    let typed = "The target wants the schema to say that arguments are an object.";
    report_root(own.map_or(tool.at, Raw::pos), change, (Code::SchemaEmpty, typed), ledger);
    match schema::definitions(&schema) {
        Some(moved) => {
            ledger.emulated(schema.pos(), Code::SchemaDefinitions);
            (moved, change)
        }
        None => (schema, change),
    }
}

const FREEFORM_NOTE: &str = "\n\nGive the whole text as the one argument `input`.";
