//! The request object: writing it.

use super::tools_out::ChatTools;
use super::{choice_out, settings_out, thinking_out, turns_out};
use crate::codec::context::EncodeContext;
use crate::codec::sampling_out::{SamplingRules, write_sampling};
use crate::ledger::{Code, Ledger};
use crate::model::{Format, JsonSchema, Output, Request, Tool, ToolKind};
use crate::profile::Profile;
use crate::schema;
use crate::toolset::Toolset;
use crate::wire::{At, Object, Pos, Str};

/// Writes a request for an upstream.
pub(super) fn encode(
    request: &Request<'_>,
    toolset: &Toolset<'_, '_>,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let Request {
        origin,
        model,
        turns,
        tools,
        tools_at: _,
        echoed: _,
        legacy_functions: _,
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
    let cx = &mut EncodeContext::new(*origin, profile, &toolset.names, ledger);
    let object = &mut Object::new(out);
    object.maybe("model", model.as_ref());
    let mut chat_tools = ChatTools::new(toolset, choice_out::filter(choice, toolset, cx));
    report_empty_namespaces(tools, cx);
    chat_tools.write(object, cx);
    choice_out::write(object, choice, &chat_tools.sent, cx);
    turns_out::write(&mut object.array("messages"), turns, &chat_tools, cx);
    thinking_out::put_thinking(object, thinking, !chat_tools.sent.is_empty(), cx);
    let wants_logprobs = settings_out::put_state(object, state, cx);
    put_output(object, output, wants_logprobs, cx);
    let rules = SamplingRules { top_k: false, penalties: true, max_temperature: None };
    write_sampling(sampling, &rules, object, cx);
    settings_out::put_identity(object, identity, cx);
    cx.ledger.lost_info(cache, Code::CacheBreakpoint);
    settings_out::put_tier(object, tier.as_ref(), cx);
    cx.ledger.lost(context_management, Code::ContextManagement);
    settings_out::put_stream(object, stream, cx);
    settings_out::put_extra(object, extra, cx);
}

/// Reports namespaces without tools.
fn report_empty_namespaces(tools: &[Tool<'_>], cx: &mut EncodeContext<'_>) {
    for tool in tools {
        if let ToolKind::Namespace { tools } = &tool.kind
            && tools.is_empty()
        {
            cx.ledger.dropped(tool.at, Code::NamespaceFlattened).info();
        }
    }
}

fn put_output(
    object: &mut Object<'_>,
    output: &Output<'_>,
    wants_logprobs: bool,
    cx: &mut EncodeContext<'_>,
) {
    let Output {
        max_tokens,
        format,
        verbosity,
        stop,
        stop_at,
        n,
        logprobs,
        top_logprobs,
        max_tool_calls,
    } = output;
    let legacy = cx.profile.legacy_max_tokens;
    object.maybe(if legacy { "max_tokens" } else { "max_completion_tokens" }, max_tokens.as_ref());
    if let Some(format) = format {
        put_format(object, format, cx);
    }
    object.maybe("verbosity", verbosity.as_ref());
    put_stop(object, stop, *stop_at, cx);
    object.maybe("n", n.as_ref());
    match logprobs {
        Some(wanted) => object.put("logprobs", wanted),
        // Chat refuses `top_logprobs` without `logprobs`.
        None if wants_logprobs || top_logprobs.as_ref().is_some_and(|n| n.value > 0) => {
            object.put("logprobs", &true);
        }
        None => {}
    }
    match top_logprobs {
        Some(count) if logprobs.is_some() || wants_logprobs || count.value > 0 => {
            object.put("top_logprobs", count);
        }
        Some(count) => {
            cx.ledger.dropped(count.pos, Code::Logprobs).info();
        }
        None => {}
    }
    cx.ledger.lost(max_tool_calls, Code::MaxToolCalls);
}

/// Writes the texts that end the answer, as many as Chat takes.
fn put_stop(object: &mut Object<'_>, texts: &[Str<'_>], at: Pos, cx: &mut EncodeContext<'_>) {
    if texts.is_empty() {
        return;
    }
    if !cx.profile.takes_stop(cx.thinks) {
        cx.ledger.dropped(at, Code::Stop).detail("The model takes no stop texts.");
        return;
    }
    let mut array = object.array("stop");
    for (index, text) in texts.iter().enumerate() {
        if index < MAX_STOPS {
            array.push(text);
        } else {
            cx.ledger.dropped(text.pos(), Code::Stop).detail("Chat takes four stop texts at most.");
        }
    }
}

fn put_format(object: &mut Object<'_>, format: &At<Format<'_>>, cx: &mut EncodeContext<'_>) {
    let kind = match &format.value {
        Format::Text => "text",
        Format::JsonObject => "json_object",
        Format::JsonSchema(_) => "json_schema",
        Format::Other(raw) => {
            cx.ledger.dropped(raw.pos(), Code::UnknownValue);
            return;
        }
    };
    let mut outer = object.object("response_format");
    outer.put("type", kind);
    if let Format::JsonSchema(JsonSchema { name, description, schema, strict, extra }) =
        &format.value
    {
        let mut inner = outer.object("json_schema");
        match name {
            Some(name) => inner.put("name", name),
            None => {
                // Chat requires a name, and the model sees it.
                inner.put("name", "output");
                cx.ledger.emulated(format.pos, Code::FormatName);
            }
        }
        inner.maybe("description", description.as_ref());
        inner.maybe("schema", schema.as_ref());
        match (strict, schema) {
            (Some(strict), _) => inner.put("strict", strict),
            // In some protocols output always fits the schema.
            (None, Some(schema)) if cx.conventions().formats_are_strict => {
                if schema::fits_openai_strict(schema) {
                    inner.put("strict", &true);
                } else {
                    cx.ledger.degraded(schema.pos(), Code::StrictDowngraded);
                }
            }
            (None, _) => {}
        }
        cx.ledger.only(extra);
    }
}

/// OpenAI refuses a fifth stop text.
const MAX_STOPS: usize = 4;
