//! The request object: settings, both directions.

use std::collections::BTreeSet;

use super::content::{self, Pen};
use super::pick::Pick;
use super::wire::{self, Body, List, Metadata, OutputConfig, OutputFormat};
use super::{choice, replay, settings, tools, tools_out, turns_in, turns_out};
use crate::ledger::{Code, Ledger};
use crate::model::{
    Display, Effort, Format, Item, JsonSchema, Protocol, Request, Thinking, ThinkingMode,
};
use crate::profile::Profile;
use crate::schema;
use crate::toolset::Toolset;
use crate::wire::{At, Extra, Kind, Object, Pos, Raw, Read, ReadError, Reader, Str};

/// Reads a request.
pub(super) fn decode(body: &str) -> Result<Request<'_>, ReadError> {
    let mut reader = Reader::new(body);
    let Body {
        at: _,
        model,
        messages,
        system,
        max_tokens,
        tools,
        tool_choice,
        thinking,
        output_config,
        metadata,
        stop_sequences,
        temperature,
        top_p,
        top_k,
        service_tier,
        cache_control,
        context_management,
        stream,
        extra,
    } = Body::read(&mut reader)?;
    reader.finish()?;
    let mut request = Request::new(Protocol::Messages);
    request.model = model;
    request.turns.extend(system.map(turns_in::system));
    if let Some(List { at: _, items }) = messages {
        request.turns.extend(items.into_iter().map(turns_in::message));
    }
    if let Some(List { at, items }) = tools {
        request.tools_at = at;
        request.tools = items.into_iter().map(|tools::Definition(tool)| tool).collect();
    }
    if let Some(raw) = tool_choice {
        request.choice = choice::decode(raw)?;
    }
    request.extra = extra;
    request.thinking = thinking.map(decode_thinking).unwrap_or_default();
    if let Some(config) = output_config {
        decode_output(config, &mut request)?;
    }
    request.output.max_tokens = max_tokens;
    if let Some(List { at, items }) = stop_sequences {
        request.output.stop_at = at;
        request.output.stop = items;
    }
    request.sampling.temperature = temperature;
    request.sampling.top_p = top_p;
    request.sampling.top_k = top_k;
    if let Some(Metadata { at: _, user_id, extra }) = metadata {
        request.identity.end_user = user_id;
        request.identity.metadata_extra = extra;
    }
    request.tier = service_tier;
    request.cache = cache_control.map(content::cache);
    request.context_management = context_management;
    request.stream.on = stream;
    Ok(request)
}

fn decode_thinking(thinking: wire::Thinking<'_>) -> Thinking<'_> {
    let wire::Thinking { at, kind, budget_tokens, display, extra } = thinking;
    let mode = kind.map(|kind| {
        let mode = match kind.decode().as_ref() {
            "adaptive" => ThinkingMode::Adaptive,
            "enabled" => ThinkingMode::Enabled,
            "between_tools" => ThinkingMode::BetweenTools,
            "disabled" => ThinkingMode::Disabled,
            _other => ThinkingMode::Other(kind.clone()),
        };
        At::new(kind.pos(), mode)
    });
    let display = display.map(|display| {
        let meant = match display.decode().as_ref() {
            "summarized" => Display::Summary,
            "omitted" => Display::Omitted,
            _other => Display::Other(display.clone()),
        };
        At::new(display.pos(), meant)
    });
    Thinking { at, effort: None, mode, budget: budget_tokens, display, extra }
}

fn decode_output<'a>(config: OutputConfig<'a>, request: &mut Request<'a>) -> Result<(), ReadError> {
    let OutputConfig { at: _, effort, format, extra } = config;
    request.thinking.effort = effort.map(|effort| At::new(effort.pos(), Effort::parse(effort)));
    if let Some(raw) = format {
        request.output.format = Some(At::new(raw.pos(), decode_format(raw)?));
    }
    // These belong inside `output_config`, which the request has no room for:
    // they keep the way there in their name.
    request.extra.extend(extra.into_iter().map(|Extra { key, value }| Extra {
        key: Str::plain(format!("{CONFIG}{}", key.decode())).at(key.pos()),
        value,
    }));
    Ok(())
}

fn decode_format(raw: Raw<'_>) -> Result<Format<'_>, ReadError> {
    let Some(mut reader) = raw.source_reader().filter(|_| raw.kind() == Kind::Object) else {
        return Ok(Format::Other(raw));
    };
    if !reader.tag("type")?.is_some_and(|kind| kind == *"json_schema") {
        return Ok(Format::Other(raw));
    }
    let OutputFormat { at: _, kind: _, schema, extra } = OutputFormat::read(&mut reader)?;
    let (name, description, strict) = (None, None, None);
    Ok(Format::JsonSchema(JsonSchema { name, description, schema, strict, extra }))
}

/// Writes a request.
pub(super) fn encode(
    request: &Request<'_>,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let mut pen = Pen::new(request.origin == Protocol::Messages, ledger);
    if pen.same {
        encode_own(request, out, &mut pen);
    } else {
        encode_foreign(request, profile, out, &mut pen);
    }
}

/// Writes a request that came from Messages as it came.
fn encode_own(request: &Request<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    let Request {
        origin: _,
        model,
        turns,
        tools,
        tools_at,
        legacy_functions: _,
        choice,
        thinking,
        output,
        sampling,
        identity,
        cache,
        tier,
        state: _,
        context_management,
        stream,
        extra,
    } = request;
    let mut object = Object::new(out);
    object.maybe("model", model.as_ref());
    object.maybe("max_tokens", output.max_tokens.as_ref());
    if !tools.is_empty() || *tools_at != Pos::NONE {
        let mut list = object.array("tools");
        for tool in tools {
            tools::encode_own(tool, list.item(), pen);
        }
    }
    choice::encode_own(choice, &mut object);
    replay::encode(turns, &mut object, pen);
    settings::encode_own(thinking, output, extra, &mut object);
    if identity.end_user.is_some() || !identity.metadata_extra.is_empty() {
        let mut metadata = object.object("metadata");
        metadata.maybe("user_id", identity.end_user.as_ref());
        metadata.extra(&identity.metadata_extra);
    }
    if !output.stop.is_empty() || output.stop_at != Pos::NONE {
        object.put("stop_sequences", &output.stop);
    }
    object.maybe("temperature", sampling.temperature.as_ref());
    object.maybe("top_p", sampling.top_p.as_ref());
    object.maybe("top_k", sampling.top_k.as_ref());
    object.maybe("service_tier", tier.as_ref());
    pen.cache(&mut object, cache.as_ref());
    object.maybe("context_management", context_management.as_ref());
    object.maybe("stream", stream.on.as_ref());
    for field in extra {
        if !field.key.decode().starts_with(CONFIG) {
            object.extra(std::slice::from_ref(field));
        }
    }
}

/// Writes a request of another protocol.
fn encode_foreign(request: &Request<'_>, profile: &Profile, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    let Request {
        origin: _,
        model,
        turns: _,
        tools: _,
        tools_at,
        legacy_functions,
        choice,
        thinking,
        output,
        sampling,
        identity,
        cache,
        tier,
        state,
        context_management,
        stream,
        extra,
    } = request;
    let mut object = Object::new(out);
    object.maybe("model", model.as_ref());
    settings::limit(output, profile, &mut object, pen);
    if *legacy_functions {
        pen.ledger.emulated(*tools_at, Code::LegacyFunctions);
    }
    let toolset = Toolset::new(request, profile);
    let pick = Pick::new(&toolset, choice.subset.as_ref(), pen);
    let mut wrapped = BTreeSet::new();
    if pick.is_empty() {
        choice::encode(choice, &pick, &mut object, pen);
        stubs(request, &toolset, &mut object, pen);
    } else {
        wrapped = tools_out::encode(&pick, profile, object.key("tools"), pen);
        choice::encode(choice, &pick, &mut object, pen);
    }
    turns_out::encode(request, profile, &toolset, &wrapped, &mut object, pen);
    settings::thinking(thinking, choice::is_forced(choice), output, profile, &mut object, pen);
    settings::output(output, &mut object, pen);
    settings::sampling(sampling, profile, &mut object, pen);
    settings::identity(identity, &mut object, pen);
    settings::tier(tier.as_ref(), &mut object, pen);
    pen.cache(&mut object, cache.as_ref());
    settings::state(state, pen);
    if let Some(raw) = context_management {
        pen.ledger.dropped(raw.pos(), Code::ContextManagement);
    }
    settings::stream(stream, &mut object, pen);
    pen.ledger.only(extra);
}

/// Some deployments refuse calls in the conversation without definitions of the
/// tools, so stubs stand for those that are gone, and none may be called.
fn stubs(
    request: &Request<'_>,
    toolset: &Toolset<'_, '_>,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let calls = request
        .turns
        .iter()
        .flat_map(|turn| &turn.items)
        .filter_map(|item| if let Item::Call(call) = item { Some(call) } else { None });
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    for call in calls {
        let namespace = call.namespace.as_ref().map(|namespace| namespace.decode());
        let own = call.name.decode();
        let name = toolset.wire_name(namespace.as_deref(), &own).into_owned();
        if seen.insert(name.clone()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return;
    }
    let note = pen.ledger.emulated(Pos::START, Code::Placeholder).key("tools");
    note.detail("The target wants the tools that the conversation used; stubs stand for them and none may be called.");
    {
        let mut list = object.array("tools");
        for name in &names {
            let mut tool = list.object();
            tool.put("name", name);
            tool.put("input_schema", &Raw::made(schema::EMPTY));
        }
    }
    object.object("tool_choice").put("type", "none");
}

/// What marks the name of a field as belonging inside `output_config`.
pub(super) const CONFIG: &str = "output_config.";
