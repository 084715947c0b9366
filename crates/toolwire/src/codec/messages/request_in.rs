//! A request: from Messages into the model.

use super::wire::{self, Metadata, OutputConfig, OutputFormat, RequestBody};
use super::{choice_in, content_in, tools_in, turns_in};
use crate::model::{
    Display, Effort, Format, JsonSchema, Protocol, Request, Thinking, ThinkingMode,
};
use crate::wire::{At, Extra, Kind, Raw, Read, ReadError, Reader, Str};

/// Reads a request.
pub(super) fn decode(reader: Reader<'_>) -> Result<Request<'_>, ReadError> {
    let RequestBody {
        at: _,
        model,
        messages,
        system,
        max_tokens,
        tools,
        tool_choice,
        thinking,
        output_config,
        output_format,
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
    } = reader.document()?;
    let mut request = Request::new(Protocol::Messages);
    request.model = model;
    request.turns.extend(system.map(turns_in::system));
    if let Some(At { pos: _, value: items }) = messages {
        request.turns.extend(items.into_iter().map(turns_in::message));
    }
    if let Some(tools_in::Tools { at, list }) = tools {
        request.tools_at = at;
        request.tools = list;
    }
    if let Some(raw) = tool_choice {
        request.choice = choice_in::decode(raw)?;
    }
    request.extra = extra;
    request.thinking = thinking.map(decode_thinking).unwrap_or_default();
    if let Some(config) = output_config {
        decode_output(config, &mut request)?;
    }
    if let Some(raw) = output_format {
        decode_beta_format(raw, &mut request)?;
    }
    request.output.max_tokens = max_tokens;
    if let Some(At { pos: at, value: items }) = stop_sequences {
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
    request.cache = cache_control.map(content_in::cache);
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
    // The model has no list for unknown members of `output_config`, so they are
    // kept among those of the request, with the path in their name.
    request.extra.extend(extra.into_iter().map(|field| field.under(CONFIG)));
    Ok(())
}

/// The format under its name of the beta. The newer name counts if both are there.
fn decode_beta_format<'a>(raw: Raw<'a>, request: &mut Request<'a>) -> Result<(), ReadError> {
    if request.output.format.is_some() {
        request.extra.push(Extra { key: Str::plain("output_format"), value: raw });
    } else {
        request.output.format = Some(At::new(raw.pos(), decode_format(raw)?));
    }
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

/// The path of unknown members of `output_config`.
const CONFIG: &str = "output_config";
