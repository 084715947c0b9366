//! The request object: settings, model to wire.

use super::cache_out::lose_cache;
use super::choice_out::{filter, write_choice};
use super::request_in::INCLUDE_LOGPROBS;
use super::response_out::TIERS;
use super::thinking_out::write_thinking;
use super::tools_out::{has_search, no_tools, write_list};
use super::turns_out;
use super::withdrawn_out::{self, RemainingTurns};
use crate::codec::context::EncodeContext;
use crate::codec::losses_out::report_answer_count;
use crate::codec::sampling_out::{SamplingRules, write_sampling};
use crate::ledger::{Code, Ledger};
use crate::model::{Format, Identity, JsonSchema, Output, Request, ServerState, Stream};
use crate::profile::Profile;
use crate::schema;
use crate::toolset::Toolset;
use crate::wire::{Extra, Object, Pos, Str, hash};

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
        tools: _,
        tools_at,
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
    let left = (!toolset.withdrawn.is_empty())
        .then(|| withdrawn_out::without(request, &toolset.withdrawn, ledger));
    let (turns, emptied) = match &left {
        Some(RemainingTurns { turns, emptied }) => (turns, emptied.as_slice()),
        None => (turns, [].as_slice()),
    };
    let cx = &mut EncodeContext::new(*origin, profile, &toolset.names, ledger);
    cx.tool_search = has_search(toolset);
    if *legacy_functions {
        cx.ledger.emulated(*tools_at, Code::LegacyFunctions);
    }
    for turn in emptied {
        turns_out::lose_turn(turn, cx.ledger);
    }
    let mut object = Object::new(out);
    object.maybe("model", model.as_ref());
    turns_out::write_input(turns, &mut object, cx);
    let allowed = filter(choice, cx);
    let sent = &mut no_tools(toolset);
    object.array_if_any("tools", |list| {
        write_list(sent, allowed.as_ref(), list, cx);
        !toolset.is_empty()
    });
    write_choice(choice, sent, &mut object, cx);
    write_thinking(thinking, &mut object, cx);
    write_text(output, &mut object, cx);
    write_limits(output, &mut object, cx.ledger);
    let rules = SamplingRules { top_k: false, penalties: false, max_temperature: None };
    write_sampling(sampling, &rules, &mut object, cx);
    write_identity(identity, &mut object, cx.ledger);
    lose_cache(cache.as_ref(), cx);
    if let Some(tier) = tier {
        write_tier(tier, &mut object, cx);
    }
    write_state(state, output, &mut object, cx);
    cx.ledger.lost(context_management, Code::ContextManagement);
    write_stream(stream, &mut object, cx.ledger);
    write_extra(extra, &mut object, cx);
}

fn write_text(output: &Output<'_>, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let format = output.format.as_ref().filter(|format| match &format.value {
        Format::Other(raw) => {
            cx.ledger.dropped(raw.pos(), Code::UnknownValue);
            false
        }
        Format::Text | Format::JsonObject | Format::JsonSchema(_) => true,
    });
    if format.is_none() && output.verbosity.is_none() {
        return;
    }
    let mut text = object.object("text");
    match format.map(|format| &format.value) {
        Some(Format::Text) => text.object("format").put("type", "text"),
        Some(Format::JsonObject) => text.object("format").put("type", "json_object"),
        Some(Format::JsonSchema(schema)) => {
            let at = format.map_or(Pos::NONE, |format| format.pos);
            write_schema(schema, at, &mut text.object("format"), cx);
        }
        Some(Format::Other(_)) | None => {}
    }
    text.maybe("verbosity", output.verbosity.as_ref());
}

fn write_schema(
    format: &JsonSchema<'_>,
    at: Pos,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let JsonSchema { name, description, schema, strict, extra } = format;
    object.put("type", "json_schema");
    match name {
        Some(name) => object.put("name", name),
        None => {
            cx.ledger
                .emulated(at, Code::FormatName)
                .detail("The target requires a name of the schema; one was made up.");
            object.put("name", "response");
        }
    }
    object.maybe("description", description.as_ref());
    object.maybe("schema", schema.as_ref());
    match strict {
        Some(strict) => object.put("strict", strict),
        // In some protocols the output always fits the schema.
        None if cx.conventions().formats_are_strict => {
            let fits = schema.as_ref().is_some_and(schema::fits_openai_strict);
            if !fits {
                let at = schema.as_ref().map_or(at, |schema| schema.pos());
                cx.ledger.degraded(at, Code::StrictDowngraded);
            }
            object.put("strict", &fits);
        }
        None => {}
    }
    cx.ledger.only(extra);
}

fn write_limits(output: &Output<'_>, object: &mut Object<'_>, ledger: &mut Ledger) {
    let Output {
        max_tokens,
        format: _,
        verbosity: _,
        stop,
        stop_at,
        n,
        logprobs: _,
        top_logprobs,
        max_tool_calls,
    } = output;
    if let Some(limit) = max_tokens {
        let mut value = limit.value;
        if value < FLOOR {
            let note = ledger.degraded(limit.pos, Code::MaxTokensFloor);
            if value > 0 {
                note.info();
            } else {
                note.detail("The target cannot only read a prompt; a few tokens are generated.");
            }
            value = FLOOR;
        }
        object.put("max_output_tokens", &value);
    }
    if !stop.is_empty() {
        ledger.dropped(*stop_at, Code::Stop);
    }
    report_answer_count(*n, ledger);
    object.maybe("top_logprobs", top_logprobs.as_ref());
    object.maybe("max_tool_calls", max_tool_calls.as_ref());
}

fn write_identity(identity: &Identity<'_>, object: &mut Object<'_>, ledger: &mut Ledger) {
    let Identity { end_user, user, metadata, metadata_extra, cache_key } = identity;
    if let Some(end_user) = end_user {
        let name = end_user.decode();
        if name.chars().count() > USER_MAX {
            // Claude Code's identifiers are longer than OpenAI accepts.
            ledger
                .degraded(end_user.pos(), Code::User)
                .detail("The identifier is too long for the target; a stable hash stands for it.")
                .info();
            let short = format!("user_{}", hash::base62(&[name.as_bytes()], 32));
            object.put("safety_identifier", &short);
        } else {
            object.put("safety_identifier", end_user);
        }
    }
    object.maybe("user", user.as_ref());
    object.maybe("metadata", metadata.as_ref());
    for field in metadata_extra {
        ledger.dropped(field.value.pos(), Code::Metadata);
    }
    object.maybe("prompt_cache_key", cache_key.as_ref());
}

fn write_tier(tier: &Str<'_>, object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    match tier.decode().as_ref() {
        word if cx.same_vendor() && TIERS.contains(&word) => object.put("service_tier", word),
        "auto" => object.put("service_tier", "auto"),
        word if cx.conventions().standard_tiers.contains(&word) => {
            cx.ledger.emulated(tier.pos(), Code::Tier);
            object.put("service_tier", "default");
        }
        _unknown => {
            cx.ledger.dropped(tier.pos(), Code::Tier);
        }
    }
}

/// A client of another protocol does not know stored answers. So none is stored
/// unless the client asks for it, and the answer includes sealed reasoning, which
/// OpenAI refuses to include for a model that does not reason.
fn write_state(
    state: &ServerState<'_>,
    output: &Output<'_>,
    object: &mut Object<'_>,
    cx: &EncodeContext<'_>,
) {
    let ServerState {
        store,
        previous,
        conversation,
        background,
        // Only Responses has it, so another protocol never sets it.
        include: _,
        truncation,
    } = state;
    object.put("store", &store.is_some_and(|store| store.value));
    object.maybe("previous_response_id", previous.as_ref());
    object.maybe("conversation", conversation.as_ref());
    object.maybe("background", background.as_ref());
    object.array_if_any("include", |list| {
        let reasons = !cx.profile.model.never_thinks();
        if reasons {
            list.push("reasoning.encrypted_content");
        }
        let logprobs = output.logprobs.is_some_and(|wanted| wanted.value);
        if logprobs {
            list.push(INCLUDE_LOGPROBS);
        }
        reasons || logprobs
    });
    object.maybe("truncation", truncation.as_ref());
}

fn write_stream(stream: &Stream<'_>, object: &mut Object<'_>, ledger: &mut Ledger) {
    let Stream { on, usage, obfuscation, extra } = stream;
    object.maybe("stream", on.as_ref());
    if let Some(usage) = usage {
        ledger
            .emulated(usage.pos, Code::StreamOptions)
            .detail("Every stream of the target ends with usage.");
    }
    ledger.only(extra);
    if let Some(obfuscation) = obfuscation {
        object.object("stream_options").put("include_obfuscation", obfuscation);
    }
}

fn write_extra(extra: &[Extra<'_>], object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    for field in extra {
        let name = field.key.decode();
        if cx.same_vendor() && SHARED.contains(&name.as_ref()) {
            object.extra(std::slice::from_ref(field));
        } else {
            cx.ledger.only(std::slice::from_ref(field));
        }
    }
}

/// Fields that all of OpenAI's protocols have in the same shape.
const SHARED: [&str; 3] = ["moderation", "prompt_cache_options", "prompt_cache_retention"];

/// OpenAI refuses a smaller limit of output tokens with status 400.
const FLOOR: u64 = 16;

/// The longest `safety_identifier` that every version of the API accepts.
const USER_MAX: usize = 64;
