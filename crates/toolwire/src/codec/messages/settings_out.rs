//! The smaller settings of a request: from the model to Messages.

use crate::codec::context::EncodeContext;
use crate::codec::losses_out::report_answer_count;
use crate::ledger::{Code, Ledger};
use crate::model::{Identity, Output, ServerState, Stream};
use crate::wire::{At, Object, Pos, Str};

/// Writes `max_tokens`, which the API requires.
pub(super) fn write_limit(
    output: &Output<'_>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    match &output.max_tokens {
        Some(limit) => object.put("max_tokens", limit),
        None => {
            object.put("max_tokens", &cx.profile.default_max_tokens);
            cx.ledger.degraded(Pos::START, Code::MaxTokensDefault).key("max_tokens").info();
        }
    }
}

/// Writes `stop_sequences` and reports the other output settings.
pub(super) fn write_output(output: &Output<'_>, object: &mut Object<'_>, ledger: &mut Ledger) {
    let Output {
        max_tokens: _,
        format: _,
        verbosity,
        stop,
        stop_at: _,
        n,
        logprobs,
        top_logprobs,
        max_tool_calls,
    } = output;
    let kept: Vec<&Str<'_>> = stop.iter().filter(|text| !text.is_blank()).collect();
    if !kept.is_empty() {
        object.put("stop_sequences", &kept);
    }
    for blank in stop.iter().filter(|text| text.is_blank()) {
        let note = ledger.dropped(blank.pos(), Code::Stop);
        note.detail("The target refuses stop texts of nothing but spaces.");
    }
    ledger.lost_info(verbosity, Code::Verbosity);
    report_answer_count(*n, ledger);
    if let Some(logprobs) = logprobs {
        let note = if logprobs.value {
            ledger.dropped(logprobs.pos, Code::Logprobs)
        } else {
            ledger.emulated(logprobs.pos, Code::Logprobs)
        };
        note.detail("The target gives no log probabilities.");
    }
    ledger.lost(top_logprobs, Code::Logprobs);
    ledger.lost(max_tool_calls, Code::MaxToolCalls);
}

/// Writes `metadata`.
pub(super) fn write_identity(
    identity: &Identity<'_>,
    object: &mut Object<'_>,
    ledger: &mut Ledger,
) {
    let Identity { end_user, user, metadata, metadata_extra, cache_key } = identity;
    if let Some(id) = end_user.as_ref().or(user.as_ref()) {
        object.object("metadata").put("user_id", id);
    }
    match (end_user, user) {
        (Some(_), Some(user)) => {
            ledger.dropped(user.pos(), Code::User);
        }
        (None, Some(user)) => {
            let note = ledger.emulated(user.pos(), Code::User);
            note.detail("The deprecated user crosses as the end user.");
        }
        (_, None) => {}
    }
    ledger.lost(metadata, Code::Metadata);
    ledger.only(metadata_extra);
    ledger.lost_info(cache_key, Code::PromptCacheKey);
}

/// Writes `service_tier`.
pub(super) fn write_tier(tier: Option<&Str<'_>>, object: &mut Object<'_>, ledger: &mut Ledger) {
    let Some(tier) = tier else { return };
    let word = match tier.decode().as_ref() {
        "auto" => "auto",
        "priority" => {
            let note = ledger.emulated(tier.pos(), Code::Tier);
            note.detail("The target uses the priority capacity it has when the tier is auto.");
            "auto"
        }
        "default" => {
            let note = ledger.emulated(tier.pos(), Code::Tier);
            note.detail("The default tier is called standard by the target.");
            "standard_only"
        }
        _other => {
            ledger.degraded(tier.pos(), Code::Tier);
            "auto"
        }
    };
    object.put("service_tier", word);
}

/// Reports what the API cannot do, because it keeps nothing between requests.
pub(super) fn report_state(state: &ServerState<'_>, ledger: &mut Ledger) {
    let ServerState { store, previous, conversation, background, include, truncation } = state;
    match store {
        Some(At { pos, value: true }) => {
            ledger.dropped(*pos, Code::ServerState);
        }
        Some(At { pos, value: false }) => {
            ledger.emulated(*pos, Code::ServerState);
        }
        None => {}
    }
    if let Some(previous) = previous {
        ledger.refused(previous.pos(), Code::PreviousResponse);
    }
    if let Some(conversation) = conversation {
        ledger.refused(conversation.pos(), Code::Conversation);
    }
    match background {
        Some(At { pos, value: true }) => {
            ledger.refused(*pos, Code::Background);
        }
        Some(At { pos, value: false }) => {
            let note = ledger.emulated(*pos, Code::Background);
            note.detail("The target always answers at once.");
        }
        None => {}
    }
    for wanted in include {
        if *wanted == *"reasoning.encrypted_content" {
            let note = ledger.emulated(wanted.pos(), Code::Include);
            note.detail("Sealed reasoning is always part of the answer.");
        } else {
            ledger.dropped(wanted.pos(), Code::Include);
        }
    }
    if let Some(truncation) = truncation {
        if *truncation == *"disabled" {
            let note = ledger.emulated(truncation.pos(), Code::Truncation);
            note.detail("The target never shortens a conversation by itself.");
        } else {
            ledger.dropped(truncation.pos(), Code::Truncation);
        }
    }
}

/// Writes `stream`.
pub(super) fn write_stream(stream: &Stream<'_>, object: &mut Object<'_>, ledger: &mut Ledger) {
    let Stream { on, usage, obfuscation, extra } = stream;
    object.maybe("stream", on.as_ref());
    if let Some(usage) = usage {
        let note = ledger.emulated(usage.pos, Code::StreamOptions);
        note.detail("The target always counts tokens at the end of a stream.");
    }
    ledger.lost_info(obfuscation, Code::StreamOptions);
    ledger.only(extra);
}
