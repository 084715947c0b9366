//! The request object: writing it.

use super::content_in::Toward;
use super::tools_out::Shipment;
use super::wire::replay;
use super::{choice, tools_in, turns_out};
use crate::ledger::{Code, Ledger};
use crate::model::{
    Display, Effort, Format, Identity, JsonSchema, Output, Request, Sampling, State, Stream,
    Thinking, ThinkingMode, Tool, ToolKind,
};
use crate::profile::Profile;
use crate::schema;
use crate::toolset::Toolset;
use crate::wire::{At, Extra, Object, Pos, Raw, Str, Write, read_fields};

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
        echoed: _,
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
    let toward = &mut Toward { origin: *origin, profile, ledger };
    let object = &mut Object::new(out);
    object.maybe("model", model.as_ref());
    if toward.same() {
        tools_in::replay_tools(object, tools, *legacy_functions);
        // Where both spellings came, the model has what `tool_choice` says.
        let both = extra.iter().any(|field| field.key == "function_call");
        choice::replay_choice(object, choice, *legacy_functions && !both);
        turns_out::replay_turns(&mut object.array("messages"), turns, toward);
    } else {
        let toolset = Toolset::new(request, profile);
        let mut shipment = Shipment::new(&toolset);
        shipment.subset = choice::filter(choice, &shipment, toward);
        empty_namespaces(tools, toward);
        shipment.write(object, toward);
        choice::write(object, choice, &shipment, toward);
        turns_out::write(&mut object.array("messages"), turns, &shipment, toward);
    }
    put_thinking(object, thinking, toward);
    let wants_logprobs = put_state(object, state, toward);
    put_output(object, output, wants_logprobs, extra, toward);
    put_sampling(object, sampling, toward);
    put_identity(object, identity, toward);
    toward.drop_marker(cache.as_ref());
    put_tier(object, tier.as_ref(), toward);
    if let Some(raw) = context_management {
        toward.ledger.dropped(raw.pos(), Code::ContextManagement);
    }
    put_stream(object, stream, toward);
    put_extra(object, extra, toward);
}

/// Reports namespaces that have no member to stand for them.
fn empty_namespaces(tools: &[Tool<'_>], toward: &mut Toward<'_>) {
    for tool in tools {
        if let ToolKind::Namespace { tools } = &tool.kind
            && tools.is_empty()
        {
            toward.ledger.dropped(tool.at, Code::NamespaceFlattened).info();
        }
    }
}

fn put_thinking(object: &mut Object<'_>, thinking: &Thinking<'_>, toward: &mut Toward<'_>) {
    let Thinking { at: _, effort, mode, budget, display, extra } = thinking;
    toward.ledger.only(extra);
    let disabled = matches!(mode, Some(At { pos: _, value: ThinkingMode::Disabled }));
    match (effort, budget) {
        (Some(effort), budget) => {
            object.put("reasoning_effort", &effort.value.name());
            if let Some(budget) = budget {
                toward.ledger.dropped(budget.pos, Code::ThinkingBudget);
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
            toward.ledger.degraded(budget.pos, Code::ThinkingBudget);
        }
        (None, Some(budget)) => {
            object.put("reasoning_effort", &Effort::None.name());
            let note = toward.ledger.emulated(budget.pos, Code::ThinkingBudget);
            note.detail("Thinking is off, so its budget says nothing.");
        }
        (None, None) if disabled => object.put("reasoning_effort", &Effort::None.name()),
        (None, None) => {}
    }
    if let Some(At { pos, value }) = mode {
        match value {
            ThinkingMode::Disabled if effort.is_none() => {
                toward.ledger.emulated(*pos, Code::ThinkingMode)
            }
            // A budget says the same and is reported itself.
            ThinkingMode::Enabled => toward.ledger.dropped(*pos, Code::ThinkingMode).info(),
            ThinkingMode::Disabled
            | ThinkingMode::Adaptive
            | ThinkingMode::BetweenTools
            | ThinkingMode::Other(_) => toward.ledger.dropped(*pos, Code::ThinkingMode),
        };
    }
    if let Some(At { pos, value }) = display {
        match value {
            Display::Summary
            | Display::Concise
            | Display::Detailed
            | Display::Omitted
            | Display::Other(_) => toward.ledger.dropped(*pos, Code::ReasoningDisplay),
        };
    }
}

fn put_output(
    object: &mut Object<'_>,
    output: &Output<'_>,
    wants_logprobs: bool,
    extra: &[Extra<'_>],
    toward: &mut Toward<'_>,
) {
    let Output {
        max_tokens,
        legacy_max_tokens,
        format,
        verbosity,
        stop,
        stop_at,
        n,
        logprobs,
        top_logprobs,
        max_tool_calls,
    } = output;
    let same = toward.same();
    let legacy = if same { *legacy_max_tokens } else { toward.profile.legacy_max_tokens };
    object.maybe(if legacy { "max_tokens" } else { "max_completion_tokens" }, max_tokens.as_ref());
    if let Some(format) = format {
        put_format(object, format, extra, toward);
    }
    object.maybe("verbosity", verbosity.as_ref());
    match stop.as_slice() {
        [] if same && *stop_at != Pos::NONE => drop(object.array("stop")),
        [] => {}
        // One text that stands where the field stands was no list.
        [only] if same && only.pos() == *stop_at => object.put("stop", only),
        texts => {
            let mut array = object.array("stop");
            for (index, text) in texts.iter().enumerate() {
                if index < MAX_STOPS || same {
                    array.push(text);
                } else {
                    toward
                        .ledger
                        .dropped(text.pos(), Code::Stop)
                        .detail("Chat takes four stop texts at most.");
                }
            }
        }
    }
    object.maybe("n", n.as_ref());
    match logprobs {
        Some(wanted) => object.put("logprobs", wanted),
        // Chat refuses a number of alternatives without the switch.
        None if !same && (wants_logprobs || top_logprobs.as_ref().is_some_and(|n| n.value > 0)) => {
            object.put("logprobs", &true);
        }
        None => {}
    }
    match top_logprobs {
        Some(count) if same || logprobs.is_some() || wants_logprobs || count.value > 0 => {
            object.put("top_logprobs", count);
        }
        Some(count) => {
            toward.ledger.dropped(count.pos, Code::Logprobs).info();
        }
        None => {}
    }
    if let Some(limit) = max_tool_calls {
        toward.ledger.dropped(limit.pos, Code::MaxToolCalls);
    }
}

fn put_format(
    object: &mut Object<'_>,
    format: &At<Format<'_>>,
    extra: &[Extra<'_>],
    toward: &mut Toward<'_>,
) {
    let kind = match &format.value {
        Format::Text => "text",
        Format::JsonObject => "json_object",
        Format::JsonSchema(_) => "json_schema",
        Format::Other(raw) => {
            if toward.same() {
                object.put("response_format", raw);
            } else {
                toward.ledger.dropped(raw.pos(), Code::UnknownValue);
            }
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
            None if toward.same() => {}
            None => {
                // Chat wants a name; the model sees it.
                inner.put("name", "output");
                toward.ledger.emulated(format.pos, Code::FormatName);
            }
        }
        inner.maybe("description", description.as_ref());
        inner.maybe("schema", schema.as_ref());
        match (strict, schema) {
            (Some(strict), _) => inner.put("strict", strict),
            // Some protocols always hold the model to the schema.
            (None, Some(schema)) if toward.origin.conventions().formats_are_strict => {
                if schema::fits_openai_strict(schema) {
                    inner.put("strict", &true);
                } else {
                    toward.ledger.degraded(schema.pos(), Code::StrictDowngraded);
                }
            }
            (None, _) => {}
        }
        toward.extra(&mut inner, extra, "", &[]);
    }
    if toward.same() {
        replay(&mut outer, extra, "response_format", &[]);
    }
}

fn put_sampling(object: &mut Object<'_>, sampling: &Sampling<'_>, toward: &mut Toward<'_>) {
    let Sampling {
        temperature,
        top_p,
        top_k,
        frequency_penalty,
        presence_penalty,
        seed,
        logit_bias,
    } = sampling;
    let (same, profile) = (toward.same(), toward.profile);
    let takes = same || profile.sampling;
    let both = same || profile.temperature_with_top_p || temperature.is_none();
    let fields = [
        ("temperature", temperature, takes),
        ("top_p", top_p, takes && both),
        ("top_k", top_k, same),
        ("frequency_penalty", frequency_penalty, true),
        ("presence_penalty", presence_penalty, true),
        ("seed", seed, true),
        ("logit_bias", logit_bias, true),
    ];
    for (key, value, taken) in fields {
        match value {
            Some(value) if taken => object.put(key, value),
            Some(value) => {
                toward.ledger.dropped(value.pos(), Code::Sampling);
            }
            None => {}
        }
    }
}

fn put_identity(object: &mut Object<'_>, identity: &Identity<'_>, toward: &mut Toward<'_>) {
    let Identity { end_user, user, metadata, metadata_extra, cache_key } = identity;
    object.maybe("metadata", metadata.as_ref());
    for field in metadata_extra {
        toward.ledger.dropped(field.value.pos(), Code::Metadata);
    }
    object.maybe("prompt_cache_key", cache_key.as_ref());
    object.maybe("user", user.as_ref());
    let Some(name) = end_user else { return };
    if toward.same() || name.decode().chars().count() <= MAX_IDENTIFIER {
        object.put("safety_identifier", name);
    } else if user.is_none() {
        object.put("user", name);
        toward
            .ledger
            .moved(name.pos(), Code::User)
            .detail("Chat refuses a safety identifier of this length; it is sent as `user`.")
            .info();
    } else {
        toward.ledger.dropped(name.pos(), Code::User);
    }
}

fn put_tier(object: &mut Object<'_>, tier: Option<&Str<'_>>, toward: &mut Toward<'_>) {
    let Some(tier) = tier else { return };
    let nearest = match tier.decode().as_ref() {
        "auto" => return object.put("service_tier", "auto"),
        "ultrafast" if toward.same_vendor() => "fast",
        word if toward.same_vendor() => return object.put("service_tier", word),
        word if toward.origin.conventions().standard_tiers.contains(&word) => {
            toward.ledger.emulated(tier.pos(), Code::Tier);
            return object.put("service_tier", "default");
        }
        word => {
            let detail = format!("Chat has no tier `{word}`.");
            toward.ledger.dropped(tier.pos(), Code::Tier).detail(detail);
            return;
        }
    };
    object.put("service_tier", nearest);
    toward.ledger.degraded(tier.pos(), Code::Tier);
}

/// Writes what Chat has of the server's state, and says whether the includes
/// ask for log probabilities.
fn put_state(object: &mut Object<'_>, state: &State<'_>, toward: &mut Toward<'_>) -> bool {
    let State { store, previous, conversation, background, include, include_at: _, truncation } =
        state;
    object.maybe("store", store.as_ref());
    if let Some(previous) = previous {
        toward.ledger.refused(previous.pos(), Code::PreviousResponse);
    }
    if let Some(conversation) = conversation {
        toward.ledger.refused(conversation.pos(), Code::Conversation);
    }
    if let Some(At { pos, value }) = background {
        if *value {
            toward.ledger.refused(*pos, Code::Background);
        } else {
            toward.ledger.dropped(*pos, Code::Background).info();
        }
    }
    let mut logprobs = false;
    for wanted in include {
        if *wanted == "message.output_text.logprobs" {
            logprobs = true;
            toward.ledger.emulated(wanted.pos(), Code::Include);
        } else {
            toward.ledger.dropped(wanted.pos(), Code::Include).info();
        }
    }
    if let Some(word) = truncation {
        // Nothing is cut in Chat, which is what `disabled` asks for.
        if *word == "disabled" {
            toward.ledger.emulated(word.pos(), Code::Truncation);
        } else {
            toward.ledger.dropped(word.pos(), Code::Truncation);
        }
    }
    logprobs
}

fn put_stream(object: &mut Object<'_>, stream: &Stream<'_>, toward: &mut Toward<'_>) {
    let Stream { on, usage, obfuscation, extra } = stream;
    object.maybe("stream", on.as_ref());
    // The other protocols always end a stream with its usage.
    let asks = !toward.same() && usage.is_none() && on.as_ref().is_some_and(|on| on.value);
    if usage.is_some() || obfuscation.is_some() || asks || (toward.same() && !extra.is_empty()) {
        let mut options = object.object("stream_options");
        options.maybe("include_usage", usage.as_ref());
        if asks {
            options.put("include_usage", &true);
        }
        options.maybe("include_obfuscation", obfuscation.as_ref());
        if toward.same() {
            options.extra(extra);
        }
    }
    if !toward.same() {
        toward.ledger.only(extra);
    }
}

/// Writes the fields that all of OpenAI's protocols have.
fn put_extra(object: &mut Object<'_>, extra: &[Extra<'_>], toward: &mut Toward<'_>) {
    if toward.same() {
        return replay(object, extra, "", &["response_format"]);
    }
    for field in extra {
        match field.key.decode().as_ref() {
            "prompt_cache_retention" | "moderation" if toward.same_vendor() => {
                field.value.write(object.foreign_key(&field.key));
            }
            "prompt_cache_options" if toward.same_vendor() => {
                put_cache_options(object, &field.value, toward);
            }
            other => {
                toward.ledger.dropped(field.value.pos(), Code::Only(other.to_owned()));
            }
        }
    }
}

fn put_cache_options(object: &mut Object<'_>, raw: &Raw<'_>, toward: &mut Toward<'_>) {
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
                toward.ledger.dropped(field.value.pos(), code);
            }
        }
    }
}

/// OpenAI refuses a fifth stop text.
const MAX_STOPS: usize = 4;

/// The longest safety identifier that every version of the API takes.
const MAX_IDENTIFIER: usize = 64;
