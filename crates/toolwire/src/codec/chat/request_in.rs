//! The request object: reading it.

use super::wire::{self, ResponseFormat, StopTexts, StreamOptions, nest, reread};
use super::{choice_in, tools_in};
use crate::model::{
    Choice, Effort, Format, Identity, JsonSchema, Output, Protocol, Request, Sampling,
};
use crate::wire::{At, Extra, Pos, Raw, ReadError, Reader, Str};

/// Reads a request.
pub(super) fn decode<'a>(reader: Reader<'a>) -> Result<Request<'a>, ReadError> {
    let read: wire::Request<'a> = reader.document()?;
    let wire::Request {
        at,
        model,
        messages,
        tools,
        functions,
        tool_choice,
        function_call,
        parallel_tool_calls,
        web_search_options,
        response_format,
        reasoning_effort,
        verbosity,
        max_tokens,
        max_completion_tokens,
        stop,
        n,
        logprobs,
        top_logprobs,
        temperature,
        top_p,
        top_k,
        frequency_penalty,
        presence_penalty,
        seed,
        logit_bias,
        metadata,
        user,
        safety_identifier,
        prompt_cache_key,
        service_tier,
        store,
        stream,
        stream_options,
        mut extra,
    } = read;
    let mut request = Request::new(Protocol::Chat);
    request.model = model;
    request.turns = messages.ok_or_else(|| ReadError::missing(at, "messages"))?.0;
    request.legacy_functions = functions.is_some() || (function_call.is_some() && tools.is_none());
    if let Some(list) = tools {
        request.tools_at = list.at;
        request.tools = list.list;
    }
    if let Some(list) = functions {
        request.tools_at = list.at;
        request.tools.extend(list.list);
    }
    request.tools.extend(web_search_options.map(tools_in::web_search));
    let mut choice =
        Choice { mode: None, subset: None, parallel: parallel_tool_calls, extra: Vec::new() };
    match (tool_choice, function_call) {
        (Some(raw), None) => choice_in::read(raw, &mut choice)?,
        (None, Some(raw)) => choice_in::read_legacy(raw, &mut choice)?,
        (Some(raw), Some(legacy)) => {
            choice_in::read(raw, &mut choice)?;
            extra.push(Extra { key: Str::plain("function_call"), value: legacy });
        }
        (None, None) => {}
    }
    request.choice = choice;
    request.thinking.effort = reasoning_effort.map(|word| At::new(word.pos(), Effort::parse(word)));
    let limit = match (max_completion_tokens, max_tokens) {
        (Some(limit), Some(old)) => {
            let value = Raw::made(old.value.to_string()).at(old.pos);
            extra.push(Extra { key: Str::plain("max_tokens"), value });
            Some(limit)
        }
        (limit, old) => limit.or(old),
    };
    let format = match response_format {
        Some(raw) => Some(At::new(raw.pos(), format(raw, &mut extra)?)),
        None => None,
    };
    let (stop, stop_at) =
        stop.map_or((Vec::new(), Pos::NONE), |StopTexts { at, texts }| (texts, at));
    request.output = Output {
        max_tokens: limit,
        format,
        verbosity,
        stop,
        stop_at,
        n,
        logprobs,
        top_logprobs,
        max_tool_calls: None,
    };
    request.sampling = Sampling {
        temperature,
        top_p,
        top_k,
        frequency_penalty,
        presence_penalty,
        seed,
        logit_bias,
    };
    request.identity = Identity {
        end_user: safety_identifier,
        user,
        metadata,
        metadata_extra: Vec::new(),
        cache_key: prompt_cache_key,
    };
    request.tier = service_tier;
    request.state.store = store;
    request.stream.on = stream;
    if let Some(StreamOptions { at: _, include_usage, include_obfuscation, extra }) = stream_options
    {
        request.stream.usage = include_usage;
        request.stream.obfuscation = include_obfuscation;
        request.stream.extra = extra;
    }
    request.extra = extra;
    Ok(request)
}

fn format<'a>(raw: Raw<'a>, extra: &mut Vec<Extra<'a>>) -> Result<Format<'a>, ReadError> {
    let Some(read) = reread::<ResponseFormat<'a>>(&raw) else { return Ok(Format::Other(raw)) };
    let ResponseFormat { at: _, kind, json_schema, extra: outer } = read?;
    let format = match (kind.as_ref().map(Str::decode).as_deref(), json_schema) {
        (Some("text"), None) => Format::Text,
        (Some("json_object"), None) => Format::JsonObject,
        (Some("json_schema"), Some(schema)) => {
            let wire::JsonSchema { at: _, name, description, schema, strict, extra } = schema;
            Format::JsonSchema(JsonSchema { name, description, schema, strict, extra })
        }
        (_, _) => return Ok(Format::Other(raw)),
    };
    nest(extra, "response_format", outer);
    Ok(format)
}
