//! The settings of a request: from the model to the protocol.

use toolwire::codec::context::EncodeContext;
use toolwire::codec::sent_tools::SentTools;
use toolwire::model::{
    Format, Identity, JsonSchema, Output, Request, Sampling, ServerState, Stream, Thinking,
};
use toolwire::toolset::Toolset;
use toolwire::wire::{At, Object};
use toolwire::{Code, Ledger, Profile};

use super::{choice_out, content_out, tools_out, turns_out};

/// Writes a request. Its model and whether it is streamed go into the URL.
pub(super) fn encode(
    request: &Request<'_>,
    toolset: &Toolset<'_, '_>,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let Request {
        origin,
        model: _,
        turns,
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
        // Only a protocol whose answers repeat the request needs it again.
        echoed: _,
        extra,
    } = request;
    let sent = SentTools::new(toolset, None, tools_out::hosted_name, ledger);
    let mut cx = EncodeContext::new(*origin, profile, &toolset.names, ledger);
    if *legacy_functions {
        cx.ledger.emulated(*tools_at, Code::LegacyFunctions);
    }
    let mut object = Object::new(out);
    let mut wrapped = Default::default();
    if !sent.is_empty() {
        wrapped = tools_out::encode(&sent, object.key("instruments"), &mut cx);
    }
    choice_out::encode(choice, &sent, &mut object, &mut cx);
    turns_out::encode(turns, &wrapped, &mut object, &mut cx);
    write_thinking(thinking, &mut object, &mut cx);
    write_output(output, &mut object, &mut cx);
    write_sampling(sampling, &mut object, &mut cx);
    write_identity(identity, &mut object, &mut cx);
    content_out::lose_cache(cache.as_ref(), cx.ledger);
    if let Some(tier) = tier {
        let note = cx.ledger.dropped(tier.pos(), Code::Tier);
        if cx.origin.conventions().standard_tiers.contains(&tier.decode().as_ref()) {
            note.info();
        }
    }
    lose_state(state, &mut cx);
    if let Some(raw) = context_management {
        cx.ledger.dropped(raw.pos(), Code::ContextManagement);
    }
    lose_stream_options(stream, &mut cx);
    cx.ledger.only(extra);
}

fn write_thinking(thinking: &Thinking<'_>, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let Thinking { at: _, effort, mode, budget, display, extra } = thinking;
    if let Some(At { pos: _, value }) = effort {
        object.put("ponder", &value.name());
    }
    if let Some(mode) = mode {
        cx.ledger.dropped(mode.pos, Code::ThinkingMode);
    }
    if let Some(budget) = budget {
        cx.ledger.dropped(budget.pos, Code::ThinkingBudget);
    }
    if let Some(display) = display {
        cx.ledger.dropped(display.pos, Code::ReasoningDisplay).info();
    }
    cx.ledger.only(extra);
}

fn write_output(output: &Output<'_>, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let Output {
        max_tokens,
        format,
        verbosity,
        stop,
        stop_at: _,
        n,
        logprobs,
        top_logprobs,
        max_tool_calls,
    } = output;
    if max_tokens.is_some() || !stop.is_empty() {
        let mut limits = object.object("limits");
        limits.maybe("tokens", max_tokens.as_ref());
        if !stop.is_empty() {
            limits.put("stops", stop);
        }
    }
    if let Some(format) = format {
        write_format(format, object, cx);
    }
    if let Some(verbosity) = verbosity {
        cx.ledger.dropped(verbosity.pos(), Code::Verbosity).info();
    }
    match n {
        Some(At { pos, value: 0 | 1 }) => {
            let note = cx.ledger.emulated(*pos, Code::MultipleAnswers);
            note.detail("One answer is what the target gives anyway.");
        }
        Some(At { pos, value: _ }) => {
            cx.ledger.refused(*pos, Code::MultipleAnswers);
        }
        None => {}
    }
    let logprobs = logprobs.as_ref().filter(|wanted| wanted.value).map(|wanted| wanted.pos);
    let top_logprobs = top_logprobs.as_ref().map(|most| most.pos);
    for pos in logprobs.into_iter().chain(top_logprobs) {
        cx.ledger.dropped(pos, Code::Logprobs);
    }
    if let Some(most) = max_tool_calls {
        cx.ledger.dropped(most.pos, Code::MaxToolCalls);
    }
}

fn write_format(format: &At<Format<'_>>, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    match &format.value {
        Format::Text => object.put("shape", "text"),
        Format::JsonObject => object.put("shape", "json"),
        Format::JsonSchema(JsonSchema { name, description, schema, strict, extra }) => {
            let mut shape = object.object("shape");
            shape.maybe("name", name.as_ref());
            shape.maybe("about", description.as_ref());
            shape.maybe("schema", schema.as_ref());
            let usual = cx.conventions().formats_are_strict.then_some(At::made(true));
            shape.maybe("exact", strict.as_ref().or(usual.as_ref()));
            cx.ledger.only(extra);
        }
        Format::Other(raw) => {
            cx.ledger.dropped(raw.pos(), Code::UnknownValue);
        }
    }
}

fn write_sampling(sampling: &Sampling<'_>, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let Sampling {
        temperature,
        top_p,
        top_k,
        frequency_penalty,
        presence_penalty,
        seed,
        logit_bias,
    } = sampling;
    object.maybe("heat", temperature.as_ref());
    object.maybe("nucleus", top_p.as_ref());
    let lost = [top_k, frequency_penalty, presence_penalty, seed, logit_bias];
    for value in lost.into_iter().flatten() {
        cx.ledger.dropped(value.pos(), Code::Sampling);
    }
}

fn write_identity(identity: &Identity<'_>, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let Identity { end_user, user, metadata, metadata_extra, cache_key } = identity;
    object.maybe("asker", end_user.as_ref().or(user.as_ref()));
    if let (Some(_), Some(user)) = (end_user, user) {
        cx.ledger.dropped(user.pos(), Code::User);
    }
    if let Some(metadata) = metadata {
        cx.ledger.dropped(metadata.pos(), Code::Metadata);
    }
    cx.ledger.only(metadata_extra);
    if let Some(key) = cache_key {
        cx.ledger.dropped(key.pos(), Code::PromptCacheKey).info();
    }
}

fn lose_state(state: &ServerState<'_>, cx: &mut EncodeContext<'_>) {
    let ServerState { store, previous, conversation, background, include, truncation } = state;
    if let Some(store) = store {
        let note = cx.ledger.dropped(store.pos, Code::ServerState);
        if !store.value {
            note.info();
        }
    }
    if let Some(previous) = previous {
        cx.ledger.refused(previous.pos(), Code::PreviousResponse);
    }
    if let Some(conversation) = conversation {
        cx.ledger.refused(conversation.pos(), Code::Conversation);
    }
    match background {
        Some(At { pos, value: true }) => {
            cx.ledger.refused(*pos, Code::Background);
        }
        Some(At { pos, value: false }) => {
            let note = cx.ledger.emulated(*pos, Code::Background);
            note.detail("The target answers at once anyway.");
        }
        None => {}
    }
    for word in include {
        cx.ledger.dropped(word.pos(), Code::Include).info();
    }
    if let Some(truncation) = truncation {
        cx.ledger.dropped(truncation.pos(), Code::Truncation);
    }
}

fn lose_stream_options(stream: &Stream<'_>, cx: &mut EncodeContext<'_>) {
    let Stream { on: _, usage, obfuscation, extra } = stream;
    if let Some(usage) = usage {
        let note = cx.ledger.emulated(usage.pos, Code::StreamOptions);
        note.detail("The target's streams always have token counts.");
    }
    if let Some(obfuscation) = obfuscation {
        cx.ledger.dropped(obfuscation.pos, Code::StreamOptions).info();
    }
    cx.ledger.only(extra);
}
