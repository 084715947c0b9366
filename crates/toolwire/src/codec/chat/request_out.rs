//! The request object: writing it.

use super::cache_out::drop_marker;
use super::tools_out::WrittenTools;
use super::{choice_out, turns_out};
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{
    Display, Effort, Format, Identity, JsonSchema, Output, Protocol, Request, Sampling, State,
    Stream, Thinking, ThinkingMode, Tool, ToolKind,
};
use crate::profile::Profile;
use crate::schema;
use crate::toolset::Toolset;
use crate::wire::{At, Extra, Object, Raw, Str, Write, read_fields};

/// Writes a request for an upstream.
pub(super) fn encode(
    request: &Request<'_>,
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
    debug_assert!(*origin != Protocol::Chat, "within one protocol the bytes pass");
    let toolset = Toolset::new(request, profile);
    let cx = &mut EncodeContext::new(*origin, profile, &toolset.names, ledger);
    let object = &mut Object::new(out);
    object.maybe("model", model.as_ref());
    let mut sent = WrittenTools::new(&toolset);
    sent.subset = choice_out::filter(choice, &sent, cx);
    report_empty_namespaces(tools, cx);
    sent.write(object, cx);
    choice_out::write(object, choice, &sent, cx);
    turns_out::write(&mut object.array("messages"), turns, &sent, cx);
    put_thinking(object, thinking, cx);
    let wants_logprobs = put_state(object, state, cx);
    put_output(object, output, wants_logprobs, cx);
    put_sampling(object, sampling, cx);
    put_identity(object, identity, cx);
    drop_marker(cache.as_ref(), cx.ledger);
    put_tier(object, tier.as_ref(), cx);
    if let Some(raw) = context_management {
        cx.ledger.dropped(raw.pos(), Code::ContextManagement);
    }
    put_stream(object, stream, cx);
    put_extra(object, extra, cx);
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

fn put_thinking(object: &mut Object<'_>, thinking: &Thinking<'_>, cx: &mut EncodeContext<'_>) {
    let Thinking { at: _, effort, mode, budget, display, extra } = thinking;
    cx.ledger.only(extra);
    let disabled = matches!(mode, Some(At { pos: _, value: ThinkingMode::Disabled }));
    match (effort, budget) {
        (Some(effort), budget) => {
            object.put("reasoning_effort", &effort.value.name());
            if let Some(budget) = budget {
                cx.ledger.dropped(budget.pos, Code::ThinkingBudget);
            }
        }
        (None, Some(budget)) if !disabled => {
            let effort = match budget.value {
                0..=2_048 => Effort::Low,
                2_049..=8_192 => Effort::Medium,
                8_193..=24_576 => Effort::High,
                24_577..=u64::MAX => Effort::XHigh,
            };
            object.put("reasoning_effort", &effort.name());
            cx.ledger.degraded(budget.pos, Code::ThinkingBudget);
        }
        (None, Some(budget)) => {
            object.put("reasoning_effort", &Effort::None.name());
            let note = cx.ledger.emulated(budget.pos, Code::ThinkingBudget);
            note.detail("Thinking is off, so its budget says nothing.");
        }
        (None, None) if disabled => object.put("reasoning_effort", &Effort::None.name()),
        (None, None) => {}
    }
    if let Some(At { pos, value }) = mode {
        match value {
            ThinkingMode::Disabled if effort.is_none() => {
                cx.ledger.emulated(*pos, Code::ThinkingMode)
            }
            // Thinking with a budget is reported with the budget.
            ThinkingMode::Enabled => cx.ledger.dropped(*pos, Code::ThinkingMode).info(),
            ThinkingMode::Disabled
            | ThinkingMode::Adaptive
            | ThinkingMode::BetweenTools
            | ThinkingMode::Other(_) => cx.ledger.dropped(*pos, Code::ThinkingMode),
        };
    }
    if let Some(At { pos, value }) = display {
        match value {
            Display::Summary
            | Display::Concise
            | Display::Detailed
            | Display::Omitted
            | Display::Other(_) => cx.ledger.dropped(*pos, Code::ReasoningDisplay),
        };
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
        legacy_max_tokens: _,
        format,
        verbosity,
        stop,
        stop_at: _,
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
    match stop.as_slice() {
        [] => {}
        texts => {
            let mut array = object.array("stop");
            for (index, text) in texts.iter().enumerate() {
                if index < MAX_STOPS {
                    array.push(text);
                } else {
                    cx.ledger
                        .dropped(text.pos(), Code::Stop)
                        .detail("Chat takes four stop texts at most.");
                }
            }
        }
    }
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
    if let Some(limit) = max_tool_calls {
        cx.ledger.dropped(limit.pos, Code::MaxToolCalls);
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

fn put_sampling(object: &mut Object<'_>, sampling: &Sampling<'_>, cx: &mut EncodeContext<'_>) {
    let Sampling {
        temperature,
        top_p,
        top_k,
        frequency_penalty,
        presence_penalty,
        seed,
        logit_bias,
    } = sampling;
    let takes = cx.profile.sampling;
    let both = cx.profile.temperature_with_top_p || temperature.is_none();
    let fields = [
        ("temperature", temperature, takes),
        ("top_p", top_p, takes && both),
        ("top_k", top_k, false),
        ("frequency_penalty", frequency_penalty, true),
        ("presence_penalty", presence_penalty, true),
        ("seed", seed, true),
        ("logit_bias", logit_bias, true),
    ];
    for (key, value, taken) in fields {
        match value {
            Some(value) if taken => object.put(key, value),
            Some(value) => {
                cx.ledger.dropped(value.pos(), Code::Sampling);
            }
            None => {}
        }
    }
}

fn put_identity(object: &mut Object<'_>, identity: &Identity<'_>, cx: &mut EncodeContext<'_>) {
    let Identity { end_user, user, metadata, metadata_extra, cache_key } = identity;
    object.maybe("metadata", metadata.as_ref());
    for field in metadata_extra {
        cx.ledger.dropped(field.value.pos(), Code::Metadata);
    }
    object.maybe("prompt_cache_key", cache_key.as_ref());
    object.maybe("user", user.as_ref());
    let Some(name) = end_user else { return };
    if name.decode().chars().count() <= MAX_IDENTIFIER {
        object.put("safety_identifier", name);
    } else if user.is_none() {
        object.put("user", name);
        cx.ledger
            .moved(name.pos(), Code::User)
            .detail("Chat refuses a safety identifier of this length; it is sent as `user`.")
            .info();
    } else {
        cx.ledger.dropped(name.pos(), Code::User);
    }
}

fn put_tier(object: &mut Object<'_>, tier: Option<&Str<'_>>, cx: &mut EncodeContext<'_>) {
    let Some(tier) = tier else { return };
    let nearest = match tier.decode().as_ref() {
        "auto" => return object.put("service_tier", "auto"),
        "ultrafast" if cx.same_vendor() => "fast",
        word if cx.same_vendor() => return object.put("service_tier", word),
        word if cx.conventions().standard_tiers.contains(&word) => {
            cx.ledger.emulated(tier.pos(), Code::Tier);
            return object.put("service_tier", "default");
        }
        word => {
            let detail = format!("Chat has no tier `{word}`.");
            cx.ledger.dropped(tier.pos(), Code::Tier).detail(detail);
            return;
        }
    };
    object.put("service_tier", nearest);
    cx.ledger.degraded(tier.pos(), Code::Tier);
}

/// Writes what Chat has of the server's state. Returns whether the includes ask
/// for log probabilities.
fn put_state(object: &mut Object<'_>, state: &State<'_>, cx: &mut EncodeContext<'_>) -> bool {
    let State { store, previous, conversation, background, include, include_at: _, truncation } =
        state;
    object.maybe("store", store.as_ref());
    if let Some(previous) = previous {
        cx.ledger.refused(previous.pos(), Code::PreviousResponse);
    }
    if let Some(conversation) = conversation {
        cx.ledger.refused(conversation.pos(), Code::Conversation);
    }
    if let Some(At { pos, value }) = background {
        if *value {
            cx.ledger.refused(*pos, Code::Background);
        } else {
            cx.ledger.dropped(*pos, Code::Background).info();
        }
    }
    let mut logprobs = false;
    for wanted in include {
        if *wanted == "message.output_text.logprobs" {
            logprobs = true;
            cx.ledger.emulated(wanted.pos(), Code::Include);
        } else {
            cx.ledger.dropped(wanted.pos(), Code::Include).info();
        }
    }
    if let Some(word) = truncation {
        // Chat never truncates, which is what `disabled` asks for.
        if *word == "disabled" {
            cx.ledger.emulated(word.pos(), Code::Truncation);
        } else {
            cx.ledger.dropped(word.pos(), Code::Truncation);
        }
    }
    logprobs
}

fn put_stream(object: &mut Object<'_>, stream: &Stream<'_>, cx: &mut EncodeContext<'_>) {
    let Stream { on, usage, obfuscation, extra } = stream;
    object.maybe("stream", on.as_ref());
    // The other protocols always end a stream with its usage.
    let asks = usage.is_none() && on.as_ref().is_some_and(|on| on.value);
    if usage.is_some() || obfuscation.is_some() || asks {
        let mut options = object.object("stream_options");
        options.maybe("include_usage", usage.as_ref());
        if asks {
            options.put("include_usage", &true);
        }
        options.maybe("include_obfuscation", obfuscation.as_ref());
    }
    cx.ledger.only(extra);
}

/// Writes the members that all of OpenAI's protocols have.
fn put_extra(object: &mut Object<'_>, extra: &[Extra<'_>], cx: &mut EncodeContext<'_>) {
    for field in extra {
        match field.key.decode().as_ref() {
            "prompt_cache_retention" | "moderation" if cx.same_vendor() => {
                field.value.write(object.foreign_key(&field.key));
            }
            "prompt_cache_options" if cx.same_vendor() => {
                put_cache_options(object, &field.value, cx);
            }
            other => {
                cx.ledger.dropped(field.value.pos(), Code::Only(other.to_owned()));
            }
        }
    }
}

fn put_cache_options(object: &mut Object<'_>, raw: &Raw<'_>, cx: &mut EncodeContext<'_>) {
    let fields = read_fields(&mut raw.reader()).unwrap_or_default();
    if fields.iter().all(|field| field.key == "mode" || field.key == "ttl") {
        return object.put("prompt_cache_options", raw);
    }
    let mut options = object.object("prompt_cache_options");
    for field in &fields {
        match field.key.decode().as_ref() {
            "mode" => options.put("mode", &field.value),
            "ttl" => options.put("ttl", &field.value),
            other => {
                let code = Code::Only(format!("prompt_cache_options.{other}"));
                cx.ledger.dropped(field.value.pos(), code);
            }
        }
    }
}

/// OpenAI refuses a fifth stop text.
const MAX_STOPS: usize = 4;

/// The longest safety identifier that every version of the API takes.
const MAX_IDENTIFIER: usize = 64;
