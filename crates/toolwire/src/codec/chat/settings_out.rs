//! Sampling, identity, tier, state and streaming: writing them.

use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::{Identity, ServerState, Stream};
use crate::wire::{At, Extra, Object, Raw, Str, Write, read_fields};

/// Writes who the request is for.
pub(super) fn put_identity(
    object: &mut Object<'_>,
    identity: &Identity<'_>,
    cx: &mut EncodeContext<'_>,
) {
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

/// Writes the processing tier, or the one that comes closest.
pub(super) fn put_tier(
    object: &mut Object<'_>,
    tier: Option<&Str<'_>>,
    cx: &mut EncodeContext<'_>,
) {
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
pub(super) fn put_state(
    object: &mut Object<'_>,
    state: &ServerState<'_>,
    cx: &mut EncodeContext<'_>,
) -> bool {
    let ServerState { store, previous, conversation, background, include, truncation } = state;
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

/// Writes whether the answer is streamed, and how.
pub(super) fn put_stream(object: &mut Object<'_>, stream: &Stream<'_>, cx: &mut EncodeContext<'_>) {
    let Stream { on, usage, obfuscation, extra } = stream;
    object.maybe("stream", on.as_ref());
    // Streams of the other protocols always end with token counts.
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
pub(super) fn put_extra(object: &mut Object<'_>, extra: &[Extra<'_>], cx: &mut EncodeContext<'_>) {
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

/// The longest safety identifier that every version of the API takes.
const MAX_IDENTIFIER: usize = 64;
