//! The request object: settings, wire to model.

use super::choice_in::ToolChoice;
use super::namespaces_in;
use super::tools_in::ToolList;
use super::wire::{self, JsonSchemaFormat, ReasoningConfig, StreamOptions, TextConfig};
use crate::model::{
    Display, Effort, Format, Item, JsonSchema, Protocol, Request, Role, Slot, Text, Turn,
};
use crate::wire::{At, Read, ReadError, Reader, Str};

/// Reads a request.
pub(super) fn decode(reader: Reader<'_>) -> Result<Request<'_>, ReadError> {
    let wire::Request {
        at: _,
        model,
        input,
        instructions,
        tools,
        tool_choice,
        parallel_tool_calls,
        reasoning,
        text,
        max_output_tokens,
        max_tool_calls,
        top_logprobs,
        temperature,
        top_p,
        metadata,
        user,
        safety_identifier,
        prompt_cache_key,
        service_tier,
        store,
        previous_response_id,
        conversation,
        background,
        include,
        truncation,
        context_management,
        stream,
        stream_options,
        extra,
    } = reader.document()?;
    let mut request = Request::new(Protocol::Responses);
    request.model = model;
    request.turns = turns(instructions, input.map(|input| input.0).unwrap_or_default());
    if let Some(ToolList { at, list, raw, known }) = tools {
        request.tools_at = at;
        request.tools = list;
        request.echoed.tools = Some(raw);
        request.echoed.known_tools = known;
    }
    if let Some(ToolChoice { choice, raw }) = tool_choice {
        request.choice = choice;
        request.echoed.choice = Some(raw);
    }
    request.choice.parallel = parallel_tool_calls;
    request.extra = extra;
    set_thinking(&mut request, reasoning);
    set_text(&mut request, text);
    request.output.max_tokens = max_output_tokens;
    request.output.max_tool_calls = max_tool_calls;
    request.output.top_logprobs = top_logprobs;
    request.sampling.temperature = temperature;
    request.sampling.top_p = top_p;
    request.identity.metadata = metadata;
    request.identity.user = user;
    request.identity.end_user = safety_identifier;
    request.identity.cache_key = prompt_cache_key;
    request.tier = service_tier;
    request.state.store = store;
    request.state.previous = previous_response_id;
    request.state.conversation = conversation;
    request.state.background = background;
    if let Some(At { pos: _, value: mut list }) = include {
        // Asking for log probabilities is a setting of its own elsewhere.
        list.retain(|word| {
            let logprobs = *word == INCLUDE_LOGPROBS;
            if logprobs {
                request.output.logprobs = Some(At::new(word.pos(), true));
            }
            !logprobs
        });
        request.state.include = list;
    }
    request.state.truncation = truncation;
    request.context_management = context_management;
    request.stream.on = stream;
    if let Some(StreamOptions { at: _, include_obfuscation, extra }) = stream_options {
        request.stream.obfuscation = include_obfuscation;
        request.stream.extra = extra;
    }
    namespaces_in::drop_own_names(&mut request);
    Ok(request)
}

fn turns<'a>(instructions: Option<Str<'a>>, input: Vec<Turn<'a>>) -> Vec<Turn<'a>> {
    let Some(text) = instructions else { return input };
    let mut turns = Vec::with_capacity(input.len() + 1);
    let mut turn = Turn::new(text.pos(), Role::System, vec![Item::Text(Text::new(text))]);
    turn.slot = Slot::Top;
    turns.push(turn);
    turns.extend(input);
    turns
}

fn set_thinking<'a>(request: &mut Request<'a>, config: Option<ReasoningConfig<'a>>) {
    let Some(ReasoningConfig { at, effort, summary, extra }) = config else { return };
    request.thinking.at = at;
    request.thinking.effort = effort.map(|word| At::new(word.pos(), Effort::parse(word)));
    request.thinking.display = summary.map(|word| At::new(word.pos(), display(word)));
    request.thinking.extra = extra.into_iter().map(|field| field.under(REASONING)).collect();
}

fn display(word: Str<'_>) -> Display<'_> {
    match word.decode().as_ref() {
        "auto" => Display::Summary,
        "concise" => Display::Concise,
        "detailed" => Display::Detailed,
        _unknown => Display::Other(word.clone()),
    }
}

fn set_text<'a>(request: &mut Request<'a>, config: Option<TextConfig<'a>>) {
    let Some(TextConfig { at: _, format, verbosity, extra }) = config else { return };
    request.output.format = format.map(|format| format.0);
    request.output.verbosity = verbosity;
    request.extra.extend(extra.into_iter().map(|field| field.under(TEXT)));
}

/// The format of the output.
#[derive(Debug)]
pub(super) struct TextFormat<'a>(At<Format<'a>>);

impl<'a> Read<'a> for TextFormat<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        let tag = reader.tag("type")?;
        let format = match tag.as_ref().map(Str::decode).as_deref() {
            Some("json_schema") => {
                let JsonSchemaFormat { at: _, kind: _, name, description, schema, strict, extra } =
                    JsonSchemaFormat::read(reader)?;
                Format::JsonSchema(JsonSchema { name, description, schema, strict, extra })
            }
            Some(word @ ("text" | "json_object")) => {
                let plain = if word == "text" { Format::Text } else { Format::JsonObject };
                let raw = reader.raw()?;
                let members =
                    crate::wire::read_fields(&mut raw.reader()).map_or(0, |all| all.len());
                if members == 1 { plain } else { Format::Other(raw) }
            }
            Some(_) | None => Format::Other(reader.raw()?),
        };
        Ok(Self(At::new(at, format)))
    }
}

/// Members of `text` that the model has no room for are kept among those of
/// the request under their path.
pub(super) const TEXT: &str = "text";

/// Members of `reasoning` that the model has no room for are named by their path
/// too, because `context` alone would say little in a report.
pub(super) const REASONING: &str = "reasoning";

/// The word in `include` that asks for log probabilities.
pub(super) const INCLUDE_LOGPROBS: &str = "message.output_text.logprobs";
