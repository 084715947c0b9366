//! The answer: model to wire. Responses wants every member of its object, with
//! the client's own settings repeated.

use super::items_out::{Progress, write_items};
use super::{Out, echo, error, usage};
use crate::ledger::{Code, Ledger};
use crate::model::{ApiError, Candidate, Item, Protocol, Response, ResponseContext, Stop};
use crate::profile::Profile;
use crate::wire::names::Names;
use crate::wire::{Array, At, Object, Str, hash};

/// Writes an answer for a client.
pub(super) fn encode(
    response: &Response<'_>,
    asked: Option<&ResponseContext>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let profile = Profile::of(Protocol::Responses);
    debug_assert_ne!(response.origin, profile.protocol, "within one protocol the bytes pass");
    // The calls were restored before, so names are the client's own.
    let names = Names::default();
    let cx = Out { origin: response.origin, profile: &profile, names: &names, tool_search: false };
    let (candidate, others) = match response.candidates.split_first() {
        Some((candidate, others)) => (Some(candidate), others),
        None => (None, [].as_slice()),
    };
    for other in others {
        ledger.dropped(other.at, Code::MultipleAnswers);
    }
    let ended = match candidate {
        Some(candidate) => Ended::of(&candidate.stop, authored(candidate), ledger),
        None => Ended::new("completed", None),
    };
    let id = response_id(response.id.as_ref());
    write_response(response, &id, &ended, asked, out, &cx, ledger, |items, ledger| {
        if let Some(candidate) = candidate {
            write_items(candidate, &id, &ended, items, &cx, ledger);
        }
    });
}

/// Writes the object of an answer, its items by `write_items`.
#[expect(clippy::too_many_arguments, reason = "an answer and a stream share nothing else")]
pub(super) fn write_response(
    response: &Response<'_>,
    id: &str,
    ended: &Ended<'_>,
    asked: Option<&ResponseContext>,
    out: &mut Vec<u8>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
    write_items: impl FnOnce(&mut Array<'_>, &mut Ledger),
) {
    let Response { origin: _, id: _, model, created, candidates: _, usage: tokens, tier, extra } =
        response;
    let Ended { status, reason, explanation: _, failure } = ended;
    let mut object = Object::new(out);
    object.put("id", id);
    object.put("object", "response");
    let made = created.map_or(0, |created| created.value);
    object.put("created_at", &made);
    object.put("status", status);
    object.put("completed_at", &(*status == "completed").then_some(made));
    match failure {
        Some(failure) => {
            let mut detail = object.object("error");
            detail.put("code", error::code(failure));
            detail.put("message", &failure.message);
        }
        None => object.put("error", &()),
    }
    match reason {
        Some(reason) => object.object("incomplete_details").put("reason", reason),
        None => object.put("incomplete_details", &()),
    }
    match (model, asked.and_then(|asked| asked.model.as_ref())) {
        (Some(model), _) => object.put("model", model),
        (None, asked) => object.put("model", asked.map_or("", String::as_str)),
    }
    write_items(&mut object.array("output"), ledger);
    match tokens {
        Some(tokens) => usage::write(tokens, &mut object, ledger),
        None => object.put("usage", &()),
    }
    write_tier(tier.as_ref(), asked, &mut object, cx, ledger);
    match asked.filter(|asked| !asked.echo.is_empty()) {
        Some(asked) => object.members(&asked.echo),
        None => object.members(&echo::defaults()),
    }
    ledger.only(extra);
}

/// The answer's id, which follows from the upstream's own.
pub(super) fn response_id(id: Option<&Str<'_>>) -> String {
    let own = id.map(Str::decode).unwrap_or_default();
    format!("resp_{}", hash::base62(&[own.as_bytes()], ID_LENGTH))
}

/// How an answer ended, in the words of Responses.
#[derive(Clone, Debug)]
pub(super) struct Ended<'r> {
    pub(super) status: &'static str,
    pub(super) reason: Option<Str<'r>>,
    /// What another vendor says about a refusal.
    pub(super) explanation: Option<Str<'r>>,
    /// Why it failed.
    pub(super) failure: Option<&'r ApiError>,
}

impl<'r> Ended<'r> {
    pub(super) fn new(status: &'static str, reason: Option<&'static str>) -> Self {
        Self { status, reason: reason.map(Str::plain), explanation: None, failure: None }
    }

    /// How an answer ended. `authored` says whether the model itself refused.
    pub(super) fn of(stop: &'r At<Stop<'_>>, authored: bool, ledger: &mut Ledger) -> Self {
        let with = Self::new;
        let pos = stop.pos;
        match &stop.value {
            Stop::EndTurn | Stop::ToolCalls => with("completed", None),
            Stop::StopSequence(_) => {
                ledger.degraded(pos, Code::StopReason).info();
                with("completed", None)
            }
            Stop::MaxTokens => with("incomplete", Some("max_output_tokens")),
            Stop::ContextWindow => {
                ledger.degraded(pos, Code::StopReason);
                with("incomplete", Some("max_output_tokens"))
            }
            Stop::ContentFilter => with("incomplete", Some("content_filter")),
            // What the model itself says in refusing is part of its answer.
            Stop::Refusal { category: _, explanation: _ } if authored => with("completed", None),
            Stop::Refusal { category, explanation } => {
                if let Some(category) = category {
                    ledger.dropped(category.pos(), Code::StopReason);
                }
                let mut ended = with("incomplete", Some("content_filter"));
                ended.explanation = explanation.as_ref().map(Str::borrowed);
                ended
            }
            Stop::Paused => {
                ledger.degraded(pos, Code::Paused);
                with("incomplete", None)
            }
            Stop::Compaction => {
                ledger.degraded(pos, Code::StopReason);
                with("completed", None)
            }
            Stop::Cancelled => with("cancelled", None),
            Stop::Steered => with("incomplete", Some("steered")),
            Stop::Running => with("in_progress", None),
            Stop::Failed(failure) => {
                let mut ended = with("failed", None);
                ended.failure = Some(failure);
                ended
            }
            Stop::Other(_) => {
                ledger.degraded(pos, Code::StopReason);
                with("completed", None)
            }
        }
    }
}

impl Ended<'_> {
    /// How far the last item has come.
    pub(super) fn last(&self) -> Progress {
        let cut = self.status == "incomplete" || self.status == "in_progress";
        if cut { Progress::Cut } else { Progress::Whole }
    }
}

fn authored(candidate: &Candidate<'_>) -> bool {
    let mut items = candidate.turns.iter().flat_map(|turn| &turn.items);
    items.any(|item| matches!(item, Item::Refusal(_)))
}

pub(super) fn write_tier(
    tier: Option<&Str<'_>>,
    asked: Option<&ResponseContext>,
    object: &mut Object<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let Some(tier) = tier else {
        let asked = asked.and_then(|asked| asked.tier.as_deref());
        object.put("service_tier", asked.unwrap_or("default"));
        return;
    };
    match tier.decode().as_ref() {
        word if cx.same_vendor() || word == "priority" => object.put("service_tier", word),
        word => {
            if !cx.origin.conventions().standard_tiers.contains(&word) {
                ledger.degraded(tier.pos(), Code::Tier);
            }
            object.put("service_tier", "default");
        }
    }
}

/// How long the ids are that toolwire makes, without their prefix.
pub(super) const ID_LENGTH: usize = 24;
