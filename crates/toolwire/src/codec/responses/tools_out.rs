//! Tool definitions: model to wire.

use std::collections::BTreeSet;

use crate::codec::context::EncodeContext;
use crate::codec::losses_out::{report_callers, report_root};
use crate::codec::sent_tools::{SameNames, SentTools, client_name};
use crate::ledger::{Code, Ledger};
use crate::model::{Grammar, Hosted, HostedClass, Native, Protocol, Tool, ToolKind};
use crate::native;
use crate::profile::Profile;
use crate::schema;
use crate::toolset::{Declared, ToolMapping, Toolset};
use crate::wire::{Array, At, Extra, Object, Raw, Str, read_fields, write_escaped, write_str};

/// Writes a bare array of tool definitions.
pub(super) fn encode(
    tools: &[Tool<'_>],
    origin: Protocol,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    debug_assert_ne!(origin, profile.protocol, "within one protocol the bytes pass");
    let toolset = Toolset::of_list(tools, origin, profile);
    let mut cx = EncodeContext::new(origin, profile, &toolset.names, ledger);
    cx.tool_search = has_search(&toolset);
    let every_tool = None;
    write_list(&mut no_tools(&toolset), every_tool, &mut Array::new(out), &mut cx);
}

/// The tools of a request, of which none has been written.
pub(super) fn no_tools<'t, 'r, 'a>(toolset: &'t Toolset<'r, 'a>) -> SentTools<'t, 'r, 'a> {
    let hosted_name = |class| match class {
        HostedClass::WebSearch => Some("web_search"),
        HostedClass::ToolSearch => Some("tool_search"),
        HostedClass::WebFetch
        | HostedClass::Code
        | HostedClass::FileSearch
        | HostedClass::ImageGeneration
        | HostedClass::Computer
        | HostedClass::Mcp
        | HostedClass::Advisor
        | HostedClass::Other => None,
    };
    SentTools::none(toolset, hosted_name, SameNames::Sent)
}

/// Writes the tools that `allowed` names, or all of them. Those that are declared
/// in the middle of the conversation are written there.
pub(super) fn write_list(
    sent: &mut SentTools<'_, '_, '_>,
    allowed: Option<&BTreeSet<String>>,
    list: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    if let (Some(written), None) = (&sent.toolset.written, allowed) {
        written.write(list, cx.ledger);
        return sent.send_all();
    }
    for namespace in &sent.toolset.namespaces {
        cx.ledger.dropped(namespace.at, Code::UnknownTool);
    }
    for (index, declared) in sent.toolset.entries.iter().enumerate() {
        let Declared { tool, namespace, inline, crossing, root: _ } = declared;
        let is_allowed =
            *inline || allowed.is_none_or(|allowed| allowed.contains(tool.name.decode().as_ref()));
        if namespace.is_some() || !is_allowed {
            continue;
        }
        match crossing.loss() {
            // It was reported with the conversation that withdrew it.
            Some(Code::ToolPosition) => {}
            Some(_) if *inline => {}
            Some(code) => _ = cx.ledger.dropped(tool.at, code.clone()),
            None => {
                let name = client_name(declared, cx.names);
                if !*inline {
                    write_tool(tool, &name, list, cx);
                }
                sent.send(index, name, cx.ledger);
            }
        }
    }
}

/// Writes tools that are declared in the middle of a conversation.
pub(super) fn write_inline(tools: &[Tool<'_>], list: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
    for tool in tools {
        match ToolMapping::of(tool, cx.origin, cx.profile).loss() {
            Some(code) => _ = cx.ledger.dropped(tool.at, code.clone()),
            None => {
                let own = tool.name.decode();
                write_tool(tool, &cx.names.wire(None, &own), list, cx);
            }
        }
    }
}

/// Writes a tool. `name` is what the target calls it.
fn write_tool(tool: &Tool<'_>, name: &str, list: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
    if let ToolKind::Namespace { tools: _ } | ToolKind::Unknown(_) = &tool.kind {
        return;
    }
    let mut item = list.object();
    match &tool.kind {
        ToolKind::Function { schema } => {
            item.put("type", "function");
            write_function(tool, name, schema.as_ref(), &mut item, cx);
        }
        ToolKind::Freeform { grammar } if cx.profile.freeform_tools => {
            item.put("type", "custom");
            put_name(&tool.name, name, &mut item, cx);
            item.maybe("description", tool.description.as_ref());
            write_grammar(grammar.as_ref(), &mut item, cx.ledger);
        }
        ToolKind::Freeform { grammar } => {
            write_wrapped(tool, name, grammar.as_ref(), &mut item, cx);
        }
        ToolKind::Native(native) => write_native(tool, name, native, &mut item, cx),
        ToolKind::Hosted(hosted) => write_hosted(tool, hosted, &mut item, cx),
        // They are left out above.
        ToolKind::Namespace { tools: _ } | ToolKind::Unknown(_) => {}
    }
    write_common(tool, &mut item, cx);
}

/// Writes a tool's name as the target knows it.
pub(super) fn write_tool_name(name: &Str<'_>, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let own = name.decode();
    put_name(name, &cx.names.wire(None, &own), object, cx);
}

/// Writes the target's name of a tool, with the client's escapes if it is the
/// client's.
fn put_name(name: &Str<'_>, wire: &str, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    if *name == *wire {
        object.put("name", name);
    } else {
        cx.ledger.renamed(name.pos(), Code::ToolName);
        object.put("name", wire);
    }
}

/// Writes the members of an ordinary function.
fn write_function(
    tool: &Tool<'_>,
    name: &str,
    schema: Option<&Raw<'_>>,
    item: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    put_name(&tool.name, name, item, cx);
    write_description(tool, item, cx);
    let (root, change) = schema::root(schema);
    let at = schema.map_or(tool.at, Raw::pos);
    let typed = "The root of the schema names no type; `object` was added.";
    report_root(at, change, (Code::SchemaRootWrapped, typed), cx.ledger);
    item.put("parameters", &root);
    write_strict(tool.strict, &root, item, cx);
}

/// Writes `strict`. If it is left out, Responses tries to use the schema as a
/// strict one. Other protocols do not, so for them it is written as false.
fn write_strict(
    strict: Option<At<bool>>,
    schema: &Raw<'_>,
    item: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let wanted = strict.filter(|strict| strict.value);
    let fits = wanted.is_some() && cx.profile.strict && schema::fits_openai_strict(schema);
    if let Some(At { pos, value: _ }) = wanted
        && !fits
    {
        cx.ledger.degraded(pos, Code::StrictDowngraded);
    }
    if cx.profile.strict {
        item.put("strict", &fits);
    }
}

fn write_description(tool: &Tool<'_>, item: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    match (&tool.description, &tool.examples) {
        (description, Some(examples)) if cx.profile.examples_in_description => {
            cx.ledger
                .emulated(examples.pos(), Code::InputExamples)
                .detail("The examples stand in the description.");
            let out = item.key("description");
            out.push(b'"');
            if let Some(description) = description {
                description.write_inside(out);
                out.extend_from_slice(b"\\n\\n");
            }
            out.extend_from_slice(b"Examples: ");
            write_escaped(examples.text(), out);
            out.push(b'"');
        }
        (description, Some(examples)) => {
            cx.ledger.dropped(examples.pos(), Code::InputExamples);
            item.maybe("description", description.as_ref());
        }
        (description, None) => item.maybe("description", description.as_ref()),
    }
}

fn write_grammar(grammar: Option<&Grammar<'_>>, item: &mut Object<'_>, ledger: &mut Ledger) {
    let Some(Grammar { at: _, syntax, definition, extra }) = grammar else { return };
    let mut format = item.object("format");
    format.put("type", "grammar");
    format.maybe("syntax", syntax.as_ref());
    format.maybe("definition", definition.as_ref());
    ledger.only(extra);
}

/// Writes a freeform tool for a server that has only functions.
fn write_wrapped(
    tool: &Tool<'_>,
    name: &str,
    grammar: Option<&Grammar<'_>>,
    item: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    cx.ledger.emulated(tool.at, Code::FreeformWrapped);
    item.put("type", "function");
    put_name(&tool.name, name, item, cx);
    let mut text = tool.description.as_ref().map(|text| text.decode().into_owned());
    if let Some(Grammar { at, syntax, definition, extra }) = grammar {
        cx.ledger.degraded(*at, Code::GrammarUnenforced);
        cx.ledger.only(extra);
        let text = text.get_or_insert_default();
        text.push_str("\n\nThe input must follow this ");
        text.push_str(&syntax.as_ref().map_or("".into(), |syntax| syntax.decode()));
        text.push_str(" grammar:\n");
        text.push_str(&definition.as_ref().map_or("".into(), |text| text.decode()));
    }
    if let Some(text) = text {
        write_str(&text, item.key("description"));
    }
    item.put("parameters", &Raw::made(schema::FREEFORM));
    if cx.profile.strict {
        item.put("strict", &false);
    }
}

/// Writes a native tool of another vendor as a function.
fn write_native(
    tool: &Tool<'_>,
    name: &str,
    native: &Native<'_>,
    item: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Native { kind, kind_text } = native;
    cx.ledger.degraded(tool.at, Code::NativeToolTraining);
    let function = native::function(*kind, &kind_text.decode());
    item.put("type", "function");
    put_name(&tool.name, name, item, cx);
    match (&tool.description, &function) {
        (Some(description), _) => item.put("description", description),
        (None, Some(function)) => item.put("description", function.description),
        (None, None) => {}
    }
    let schema = function.map_or(schema::EMPTY, |function| function.schema);
    item.put("parameters", &Raw::made(schema));
    if cx.profile.strict {
        item.put("strict", &false);
    }
}

/// Writes another vendor's hosted tool as OpenAI's tool of the same class.
fn write_hosted(
    tool: &Tool<'_>,
    hosted: &Hosted<'_>,
    item: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Hosted { class, kind_text } = hosted;
    if *class == HostedClass::ToolSearch {
        item.put("type", "tool_search");
        cx.ledger
            .degraded(kind_text.pos(), Code::ToolSearch)
            .detail("The target searches in its own way, not by this one.")
            .info();
        return;
    }
    cx.ledger.emulated(tool.at, Code::HostedTool(*class)).detail("The target runs its own.");
    item.put("type", "web_search");
    for Extra { key, value } in &tool.extra {
        match key.decode().as_ref() {
            "allowed_domains" => item.object("filters").put("allowed_domains", value),
            "user_location" => write_location(value, item),
            "search_context_size" => item.put("search_context_size", value),
            _other => {
                cx.ledger.dropped(value.pos(), Code::WebSearchOption);
            }
        }
    }
}

/// Writes the location of a search. Chat nests it in a member that is named after
/// its kind.
fn write_location(location: &Raw<'_>, item: &mut Object<'_>) {
    let nested = location.reader().pick(["approximate"]).ok().and_then(|[place]| place);
    match nested.as_ref().and_then(|place| read_fields(&mut place.reader()).ok()) {
        Some(fields) => {
            let mut flat = item.object("user_location");
            flat.put("type", "approximate");
            flat.extra(&fields);
        }
        None => item.put("user_location", location),
    }
}

/// Writes or reports the members that every kind of tool may have.
fn write_common(tool: &Tool<'_>, item: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let Tool {
        at: _,
        name: _,
        description: _,
        kind,
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
    if !matches!(kind, ToolKind::Function { schema: _ }) {
        if let Some(At { pos, value: true }) = strict {
            cx.ledger.degraded(*pos, Code::StrictDowngraded);
        }
        cx.ledger.lost(examples, Code::InputExamples);
    }
    // OpenAI's own tools, above all the search for tools, are always loaded.
    let deferrable = cx.tool_search && !matches!(kind, ToolKind::Hosted(_));
    match defer {
        Some(defer) if defer.value && deferrable => {
            item.put("defer_loading", defer);
        }
        Some(At { pos, value: true }) => {
            cx.ledger.degraded(*pos, Code::DeferLoading);
        }
        Some(At { pos: _, value: false }) | None => {}
    }
    report_callers(callers.as_ref(), cx.ledger);
    item.maybe("output_schema", output_schema.as_ref());
    item.maybe("async", deferred_result.as_ref());
    if let Some(eager) = eager {
        cx.ledger.dropped(eager.pos, Code::Only("eager_input_streaming".to_owned())).info();
    }
    cx.ledger.lost(cache, Code::CacheBreakpoint);
    // The options of a web search are written or reported with it.
    if !matches!(kind, ToolKind::Hosted(hosted) if hosted.class != HostedClass::ToolSearch) {
        cx.ledger.only(extra);
    }
}

/// Whether a search over deferred tools reaches the target.
pub(super) fn has_search(toolset: &Toolset<'_, '_>) -> bool {
    let search = ToolMapping::Hosted(HostedClass::ToolSearch);
    toolset.entries.iter().any(|declared| !declared.inline && declared.crossing == search)
}
