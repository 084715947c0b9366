//! The client's own settings, repeated in the answer. The published type
//! requires most of them, and clients read them.

use std::sync::Arc;

use super::request_in::REASONING;
use super::thinking_out::summary_word;
use crate::model::{
    Echo, Echoed, Effort, Format, Item, Protocol, Request, ResponseContext, Slot, Tool, ToolKind,
};
use crate::schema;
use crate::wire::{Array, At, Kind, Object, Raw, Str, Write, read_fields};

/// What of a request its answers depend on, the settings that they repeat
/// included.
pub(super) fn response_context(request: &Request<'_>) -> ResponseContext {
    let mut context = ResponseContext::of(request);
    context.echo = echo(request);
    context.metadata = metadata(request);
    context
}

/// The settings of a client whose request is not known: the API's defaults.
pub(super) fn defaults() -> Echo {
    echo(&Request::new(Protocol::Responses))
}

/// The settings as members without their object. Where the client left one out, it is the
/// API's default.
fn echo(request: &Request<'_>) -> Echo {
    let instructions = instructions(request);
    let mut members = Vec::with_capacity(instructions.map_or(0, Str::size_hint) + SETTINGS);
    let mut object = Object::members_only(&mut members);
    object.put("instructions", &instructions);
    object.put("max_output_tokens", &request.output.max_tokens);
    object.put("max_tool_calls", &request.output.max_tool_calls);
    drop(object.array("tools"));
    drop(object);
    let behind = members.len();
    write_settings(request, &mut Object::more_members(&mut members));
    let turn_at = members.len();
    write_turn(request, &mut Object::more_members(&mut members));
    join_lines(members.get_mut(behind..).unwrap_or_default());
    Echo { members, tools_at: behind - "]".len(), turn_at, tools: tools(request) }
}

/// About how many bytes the settings take besides tools and instructions.
const SETTINGS: usize = 1024;

/// Makes one line of values as the client spelled them, whose own spacing would end the
/// line of an event. A line end cannot be inside a string.
fn join_lines(values: &mut [u8]) {
    for byte in values {
        if let b'\n' | b'\r' = byte {
            *byte = b' ';
        }
    }
}

/// Writes the settings that follow the tools.
fn write_settings(request: &Request<'_>, object: &mut Object<'_>) {
    match &request.echoed.choice {
        Some(choice) => copy(choice, object.key("tool_choice")),
        None => object.put("tool_choice", "auto"),
    }
    object.put("parallel_tool_calls", &request.choice.parallel.unwrap_or(At::made(true)));
    write_reasoning(request, object);
    write_text(request, object);
    let one = Raw::made("1.0");
    object.put("temperature", request.sampling.temperature.as_ref().unwrap_or(&one));
    object.put("top_p", request.sampling.top_p.as_ref().unwrap_or(&one));
    let zero = At::made(0u64);
    object.put("top_logprobs", request.output.top_logprobs.as_ref().unwrap_or(&zero));
    for key in ["presence_penalty", "frequency_penalty"] {
        // Open Responses has them in the request too.
        let sent = request.extra.iter().find(|field| field.key == key);
        object.put(key, sent.map_or(&Raw::made("0.0"), |field| &field.value));
    }
}

/// Writes what the turn is part of and what becomes of it.
fn write_turn(request: &Request<'_>, object: &mut Object<'_>) {
    object.put("previous_response_id", &request.state.previous.as_ref());
    if let Some(conversation) = &request.state.conversation {
        if conversation.kind() == Kind::String {
            object.object("conversation").put("id", conversation);
        } else {
            object.put("conversation", conversation);
        }
    }
    object.put("store", &request.state.store.is_none_or(|store| store.value));
    object.put("background", &request.state.background.is_some_and(|later| later.value));
    let disabled = Str::plain("disabled");
    object.put("truncation", request.state.truncation.as_ref().unwrap_or(&disabled));
    object.put("prompt_cache_key", &request.identity.cache_key.as_ref());
    object.put("safety_identifier", &request.identity.end_user.as_ref());
    object.put("user", &request.identity.user.as_ref());
}

/// The client's labels, as one line.
pub(super) fn metadata(request: &Request<'_>) -> Option<String> {
    let labels = request.identity.metadata.as_ref()?;
    Some(labels.text().replace(['\n', '\r'], " "))
}

fn instructions<'r>(request: &'r Request<'_>) -> Option<&'r Str<'r>> {
    let turn = request.turns.first().filter(|turn| turn.slot == Slot::Top)?;
    turn.items
        .first()
        .and_then(|item| if let Item::Text(text) = item { Some(&text.text) } else { None })
}

/// The tools as elements without their list.
fn tools(request: &Request<'_>) -> Arc<[u8]> {
    let Echoed { tools: Some(spelled), known_tools, choice: _ } = &request.echoed else {
        return Arc::default();
    };
    let known = known_tools.as_ref();
    let kept = known.and_then(|known| known.echoed(&request.tools, write_elements));
    kept.unwrap_or_else(|| write_elements(&request.tools, spelled).into())
}

/// The tools of a list that is spelled so, as elements without their list.
fn write_elements(tools: &[Tool<'_>], spelled: &Raw<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(spelled.text().len() + 64 * tools.len());
    let mut list = Array::elements_only(&mut out);
    for tool in tools {
        match &tool.kind {
            ToolKind::Function { schema } => {
                write_function(tool, schema.as_ref(), &mut list.object());
            }
            ToolKind::Freeform { grammar: _ }
            | ToolKind::Namespace { tools: _ }
            | ToolKind::Native(_)
            | ToolKind::Hosted(_)
            | ToolKind::Unknown(_) => {
                if let Some(spelled) = spelled.part_at(tool.at) {
                    copy(&spelled, list.item());
                }
            }
        }
    }
    drop(list);
    join_lines(&mut out);
    out
}

/// A function with every member of the published type, `strict` as the API
/// resolves it when left out.
fn write_function(tool: &Tool<'_>, parameters: Option<&Raw<'_>>, item: &mut Object<'_>) {
    item.put("type", "function");
    item.put("name", &tool.name);
    item.put("description", &tool.description.as_ref());
    item.put("parameters", &parameters);
    let strict = match tool.strict {
        Some(strict) => strict.value,
        None => parameters.is_some_and(schema::fits_openai_strict),
    };
    item.put("strict", &strict);
    item.maybe("defer_loading", tool.defer.as_ref());
    item.maybe("allowed_callers", tool.callers.as_ref());
    item.maybe("output_schema", tool.output_schema.as_ref());
    item.maybe("async", tool.deferred_result.as_ref());
    item.extra(&tool.extra);
}

/// Copies a value as the client spelled it, without the white space between its
/// parts. Schemas keep theirs.
fn copy(value: &Raw<'_>, out: &mut Vec<u8>) {
    if value.kind() == Kind::Object
        && let Ok(fields) = read_fields(&mut value.reader())
    {
        let mut object = Object::new(out);
        for field in fields {
            match field.key == "parameters" {
                true => field.value.write(object.foreign_key(&field.key)),
                false => copy(&field.value, object.foreign_key(&field.key)),
            }
        }
    } else if value.kind() == Kind::Array
        && let Ok(elements) = value.elements()
    {
        let mut list = Array::new(out);
        for element in elements {
            copy(&element, list.item());
        }
    } else {
        value.write(out);
    }
}

fn write_reasoning(request: &Request<'_>, object: &mut Object<'_>) {
    let thinking = &request.thinking;
    let mut reasoning = object.object("reasoning");
    let effort = thinking.effort.as_ref().map(|effort| Effort::name(&effort.value));
    reasoning.put("effort", &effort);
    let summary = thinking.display.as_ref().and_then(|display| summary_word(&display.value));
    reasoning.put("summary", &summary);
    for field in &thinking.extra {
        if let Some(name) = field.name_under(REASONING) {
            field.value.write(reasoning.foreign_key(&Str::plain(name)));
        }
    }
}

fn write_text(request: &Request<'_>, object: &mut Object<'_>) {
    let mut text = object.object("text");
    match request.output.format.as_ref().map(|format| &format.value) {
        Some(Format::JsonSchema(format)) => {
            let mut item = text.object("format");
            item.put("type", "json_schema");
            item.maybe("name", format.name.as_ref());
            item.put("description", &format.description.as_ref());
            item.maybe("schema", format.schema.as_ref());
            item.put("strict", &format.strict.is_some_and(|strict| strict.value));
            item.extra(&format.extra);
        }
        Some(Format::JsonObject) => text.object("format").put("type", "json_object"),
        Some(Format::Other(raw)) => text.put("format", raw),
        Some(Format::Text) | None => text.object("format").put("type", "text"),
    }
    let medium = Str::plain("medium");
    text.put("verbosity", request.output.verbosity.as_ref().unwrap_or(&medium));
}
