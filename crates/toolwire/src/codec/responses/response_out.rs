//! The answer: model to wire. Responses requires every member of the object and
//! repeats the client's settings.

use std::ops::Range;

use super::items_out::write_items;
use super::stop_out::{ResponseEnd, authored};
use super::{echo_out, error_out, usage_out};
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Protocol, Response, ResponseContext};
use crate::profile::Profile;
use crate::stateful::WrittenAnswer;
use crate::wire::names::Names;
use crate::wire::{Array, Extra, Kind, Object, Raw, Str, hash};

/// Writes an answer for a client.
pub(super) fn encode(
    response: &Response<'_>,
    context: Option<&ResponseContext>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) -> Option<WrittenAnswer> {
    let profile = Profile::of(Protocol::Responses);
    // Calls have been restored already, so the names are the client's own.
    let names = Names::default();
    let cx = &mut EncodeContext::new(response.origin, &profile, &names, ledger);
    let (candidate, others) = match response.candidates.split_first() {
        Some((candidate, others)) => (Some(candidate), others),
        None => (None, [].as_slice()),
    };
    for other in others {
        cx.ledger.dropped(other.at, Code::MultipleAnswers);
    }
    let ended = match candidate {
        Some(candidate) => ResponseEnd::of(&candidate.stop, authored(candidate), cx.ledger),
        None => ResponseEnd::new("completed", None),
    };
    let id = response_id(response.origin, response.id.as_ref(), context);
    let parts = write_response(response, &id, &ended, context, out, cx, |items, cx| {
        let candidate = candidate.map(|candidate| write_items(candidate, &id, &ended, items, cx));
        candidate.unwrap_or_default()
    });
    let WrittenParts { output, repeats } = parts;
    Some(WrittenAnswer { id, status: ended.status, output, repeats })
}

/// Where parts of an answer are, counted from where it begins.
pub(super) struct WrittenParts {
    /// Its items.
    pub(super) output: Vec<Range<usize>>,
    /// What says again what the request said.
    pub(super) repeats: Range<usize>,
}

/// Writes the object of an answer. `write_items` writes its items, and says where each of
/// them is in the buffer.
pub(super) fn write_response(
    response: &Response<'_>,
    id: &str,
    ended: &ResponseEnd<'_>,
    context: Option<&ResponseContext>,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
    write_items: impl FnOnce(&mut Array<'_>, &mut EncodeContext<'_>) -> Vec<Range<usize>>,
) -> WrittenParts {
    let Response { origin: _, id: _, model, created, candidates: _, usage: tokens, tier, extra } =
        response;
    let ResponseEnd { status, reason, explanation: _, failure } = ended;
    let start = out.len();
    let mut object = Object::new(out);
    object.put("id", id);
    object.put("object", "response");
    let made = created_at(created.map(|created| created.value), context);
    object.put("created_at", &made);
    object.put("status", status);
    object.put("completed_at", &(*status == "completed").then_some(made));
    match failure {
        Some(failure) => error_out::write_failure(failure, object.object("error")),
        None => object.put("error", &()),
    }
    match reason {
        Some(reason) => object.object("incomplete_details").put("reason", reason),
        None => object.put("incomplete_details", &()),
    }
    match (model, context.and_then(|context| context.model.as_ref())) {
        (Some(model), _) => object.put("model", model),
        (None, context) => object.put("model", context.map_or("", String::as_str)),
    }
    let mut output = write_items(&mut object.array("output"), cx);
    for place in &mut output {
        *place = place.start - start..place.end - start;
    }
    match tokens {
        Some(tokens) => usage_out::write(tokens, &mut object, cx.ledger),
        None => object.put("usage", &()),
    }
    write_tier(tier.as_ref(), context, &mut object, cx);
    let defaults;
    let echo = match context.filter(|context| !context.echo.members.is_empty()) {
        Some(context) => &context.echo,
        None => {
            defaults = echo_out::defaults();
            &defaults
        }
    };
    let echo_start = object.members_in_parts(echo.parts()) - start;
    let repeats = echo_start..echo_start + echo.common_len();
    let labels = extra.iter().find(|field| is_metadata(field));
    match (labels, context.and_then(|context| context.metadata.as_deref())) {
        (Some(field), _) => object.put("metadata", &field.value),
        (None, labels) => object.put("metadata", &Raw::made(labels.unwrap_or("{}").to_owned())),
    }
    lose_members(extra, cx.ledger);
    WrittenParts { output, repeats }
}

/// When the answer was begun. One with an id of its own may have been shown to the
/// client before the upstream was asked.
fn created_at(upstream: Option<u64>, context: Option<&ResponseContext>) -> u64 {
    let known = context.and_then(|context| context.created);
    let own = context.filter(|context| context.id.is_some()).and(known);
    own.or(upstream).or(known).unwrap_or_default()
}

/// Reports the members of an answer that have no place here.
pub(super) fn lose_members(extra: &[Extra<'_>], ledger: &mut Ledger) {
    for field in extra.iter().filter(|field| !is_metadata(field)) {
        ledger.only(std::slice::from_ref(field));
    }
}

/// Whether a member is the labels of an answer, which OpenAI's protocols share.
fn is_metadata(field: &Extra<'_>) -> bool {
    field.key == "metadata" && field.value.kind() == Kind::Object
}

/// The answer's id: one of its own, or the one that the upstream gave it or, if that
/// is another protocol's or missing, one made from it.
pub(super) fn response_id(
    origin: Protocol,
    id: Option<&Str<'_>>,
    context: Option<&ResponseContext>,
) -> String {
    if let Some(own) = context.and_then(|context| context.id.as_ref()) {
        return own.clone();
    }
    let own = id.map(Str::decode).unwrap_or_default();
    if origin == Protocol::Responses && !own.is_empty() {
        return own.into_owned();
    }
    format!("resp_{}", hash::base62(&[own.as_bytes()], ID_LENGTH))
}

/// Writes the tier the answer was processed in, or the one that was asked for.
pub(super) fn write_tier(
    tier: Option<&Str<'_>>,
    context: Option<&ResponseContext>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Some(tier) = tier else {
        let context = context.and_then(|context| context.tier.as_deref());
        object.put("service_tier", context.unwrap_or("default"));
        return;
    };
    match tier.decode().as_ref() {
        word if cx.same_vendor() && TIERS.contains(&word) => object.put("service_tier", word),
        "priority" => object.put("service_tier", "priority"),
        word => {
            if !cx.conventions().standard_tiers.contains(&word) {
                cx.ledger.degraded(tier.pos(), Code::Tier);
            }
            object.put("service_tier", "default");
        }
    }
}

/// The published tiers. Vendors that speak Chat have others, and clients refuse
/// what they do not know.
pub(super) const TIERS: [&str; 7] =
    ["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"];

/// The length of the ids that toolwire makes, without their prefix.
pub(super) const ID_LENGTH: usize = 24;
