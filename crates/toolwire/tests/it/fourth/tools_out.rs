//! Tool definitions: from the model to the protocol.

use std::borrow::Cow;
use std::collections::BTreeSet;

use toolwire::codec::context::EncodeContext;
use toolwire::codec::sent_tools::SentTools;
use toolwire::model::{Grammar, HostedClass, Native, NativeKind, Tool, ToolKind};
use toolwire::schema::{self, RootChange};
use toolwire::toolset::{Declared, ToolMapping, Toolset};
use toolwire::wire::{Array, At, Kind, Object, Raw, Str};
use toolwire::{Code, Ledger, Profile, Protocol, native};

use super::content_out::lose_cache;

/// The protocol has no hosted tools.
pub(super) fn hosted_name(_class: HostedClass) -> Option<&'static str> {
    None
}

/// Writes a bare array of definitions.
pub(super) fn encode_list(
    tools: &[Tool<'_>],
    origin: Protocol,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let toolset = Toolset::of_list(tools, origin, profile);
    let sent = SentTools::new(&toolset, None, hosted_name, ledger);
    let mut cx = EncodeContext::new(origin, profile, &toolset.names, ledger);
    encode(&sent, out, &mut cx);
}

/// Writes `instruments` and gives the names of the tools whose arguments are
/// wrapped, since their schema is not of an object.
pub(super) fn encode(
    sent: &SentTools<'_, '_, '_>,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
) -> BTreeSet<String> {
    let mut wrapped = BTreeSet::new();
    let mut list = Array::new(out);
    for (declared, name) in sent.iter() {
        let Declared { tool, namespace, inline, crossing, root: _ } = declared;
        if *inline {
            cx.ledger.moved(tool.at, Code::ToolPosition);
        }
        if namespace.is_some() {
            cx.ledger.emulated(tool.at, Code::NamespaceFlattened);
        } else if tool.name != **name {
            cx.ledger.renamed(tool.name.pos(), Code::ToolName);
        }
        let mut entry = list.object();
        entry.put("tool", name);
        write_about(tool, *namespace, crossing, &mut entry);
        match &tool.kind {
            ToolKind::Function { schema } => {
                let (takes, change) = schema::root(schema.as_ref());
                report_root(tool, schema.as_ref(), change, cx.ledger);
                if change == Some(RootChange::Wrapped) {
                    wrapped.insert(name.to_string());
                }
                entry.put("takes", &takes);
            }
            ToolKind::Freeform { grammar } => write_grammar(grammar.as_ref(), &mut entry, cx),
            ToolKind::Native(Native { kind, kind_text }) => {
                cx.ledger.emulated(tool.at, Code::NativeToolWrapped);
                let function = native::function(*kind, &kind_text.decode());
                let schema = function.map_or(schema::EMPTY, |function| function.schema);
                let own = own_schema(tool).map(Raw::borrowed);
                entry.put("takes", &own.unwrap_or(Raw::made(schema)));
            }
            // The toolset lets none of these through.
            ToolKind::Namespace { tools: _ } | ToolKind::Hosted(_) | ToolKind::Unknown(_) => {
                cx.ledger.dropped(tool.at, Code::UnknownTool);
            }
        }
        write_rest(tool, &mut entry, cx);
    }
    wrapped
}

/// A tool's description, behind that of its namespace.
fn write_about(
    tool: &Tool<'_>,
    namespace: Option<&Tool<'_>>,
    crossing: &ToolMapping,
    entry: &mut Object<'_>,
) {
    let group = namespace.and_then(|namespace| namespace.description.as_ref());
    let usual = match (crossing, &tool.kind) {
        (ToolMapping::Native(kind), ToolKind::Native(Native { kind: _, kind_text })) => {
            native::function(*kind, &kind_text.decode()).map(|function| function.description)
        }
        (_, _) => None,
    };
    let own = tool.description.as_ref().map(Str::decode).or(usual.map(Cow::Borrowed));
    match (group, own) {
        (Some(group), Some(own)) => {
            entry.put("about", &format!("{}\n\n{own}", group.decode()));
        }
        (Some(group), None) => entry.put("about", group),
        (None, Some(own)) => entry.put("about", &own),
        (None, None) => {}
    }
}

fn report_root(
    tool: &Tool<'_>,
    schema: Option<&Raw<'_>>,
    change: Option<RootChange>,
    ledger: &mut Ledger,
) {
    let at = schema.map_or(tool.at, Raw::pos);
    match change {
        Some(RootChange::Empty | RootChange::Typed) => {
            ledger.emulated(at, Code::SchemaEmpty);
        }
        Some(RootChange::Union) => {
            ledger.degraded(at, Code::SchemaRootUnion);
        }
        Some(RootChange::Wrapped) => {
            ledger.emulated(at, Code::SchemaRootWrapped);
        }
        None => {}
    }
}

fn write_grammar(
    grammar: Option<&Grammar<'_>>,
    entry: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let mut writes = entry.object("writes");
    if let Some(Grammar { at: _, syntax, definition, extra }) = grammar {
        writes.maybe("syntax", syntax.as_ref());
        writes.maybe("rules", definition.as_ref());
        cx.ledger.only(extra);
    }
}

/// Writes what a tool has beside its shape, and reports what cannot be said.
fn write_rest(tool: &Tool<'_>, entry: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
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
        extra,
    } = tool;
    entry.maybe("exact", strict.as_ref());
    if let Some(At { pos, value: true }) = defer {
        cx.ledger.dropped(*pos, Code::DeferLoading);
    }
    if let Some(callers) = callers {
        cx.ledger.dropped(callers.pos(), Code::ProgrammaticCallers);
    }
    if let Some(examples) = examples {
        cx.ledger.dropped(examples.pos(), Code::InputExamples);
    }
    if let Some(schema) = output_schema {
        cx.ledger.dropped(schema.pos(), Code::OutputSchema);
    }
    if let Some(At { pos, value: true }) = deferred_result {
        cx.ledger.dropped(*pos, Code::AsyncTool);
    }
    if let Some(eager) = eager {
        cx.ledger.dropped(eager.pos, Code::Only("eager_input_streaming".to_owned())).info();
    }
    lose_cache(cache.as_ref(), cx.ledger);
    let written = own_schema(tool).map(Raw::pos);
    for field in extra.iter().filter(|field| Some(field.value.pos()) != written) {
        cx.ledger.only(std::slice::from_ref(field));
    }
}

/// The schema that a search that the client runs brings along.
fn own_schema<'t, 'a>(tool: &'t Tool<'a>) -> Option<&'t Raw<'a>> {
    let ToolKind::Native(Native { kind: NativeKind::ToolSearch, kind_text: _ }) = &tool.kind else {
        return None;
    };
    let field = tool.extra.iter().find(|field| field.key == "parameters")?;
    (field.value.kind() == Kind::Object).then_some(&field.value)
}
