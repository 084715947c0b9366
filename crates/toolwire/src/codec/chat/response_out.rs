//! The answer: writing it.

use std::borrow::Cow;

use super::calls_out::{Wrapping, put_arguments, put_call};
use super::response_losses_out::{
    report_call_losses, report_item_loss, report_surplus_call, report_turn_losses,
};
use super::{citations_out, logprobs_out, reasoning_out, stop_out, usage_out};
use crate::ledger::{Code, Ledger};
use crate::model::{
    Arguments, Call, Candidate, Item, Protocol, Reasoning, Refusal, Response, ResponseContext,
    Stop, Text, Turn,
};
use crate::stateful::WrittenAnswer;
use crate::wire::{At, Object, Pos, Raw, Str, hash, ids};

/// Writes an answer for a client.
pub(super) fn encode(
    response: &Response<'_>,
    context: Option<&ResponseContext>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) -> Option<WrittenAnswer> {
    let Response { origin, id, model, created, candidates, usage, tier, extra } = response;
    let mut object = Object::new(out);
    let upstream = id.as_ref().map(Str::decode).unwrap_or_default();
    object.put("id", &*completion_id(*origin, &upstream));
    object.put("object", "chat.completion");
    let made = created.as_ref().map(|at| at.value);
    let made = made.or(context.and_then(|context| context.created)).unwrap_or_default();
    object.put("created", &made);
    match (model, context.and_then(|context| context.model.as_ref())) {
        (Some(model), _) => object.put("model", model),
        (None, Some(model)) => object.put("model", model),
        (None, _) => {}
    }
    let legacy = context.is_some_and(|context| context.legacy_functions);
    {
        let mut choices = object.array("choices");
        for (index, candidate) in candidates.iter().enumerate() {
            let writer = ChoiceWriter { origin: *origin, upstream: &upstream, legacy };
            writer.write(&mut choices.object(), candidate, index as u64, ledger);
        }
    }
    match usage {
        Some(usage) => usage_out::write(&mut object, usage, ledger),
        None => {
            ledger.dropped(Pos::START, Code::UsageMissing).key("usage").info();
        }
    }
    write_tier(&mut object, tier.as_ref(), *origin, ledger);
    ledger.only(extra);
    None
}

/// The id of an answer: the one that the upstream gave it or, if that is another
/// protocol's or missing, one made from it.
pub(super) fn completion_id(origin: Protocol, upstream: &str) -> Cow<'_, str> {
    if origin == Protocol::Chat && !upstream.is_empty() {
        return Cow::Borrowed(upstream);
    }
    Cow::Owned(format!("chatcmpl-{}", hash::base62(&[upstream.as_bytes()], 24)))
}

pub(super) fn write_tier(
    object: &mut Object<'_>,
    tier: Option<&Str<'_>>,
    origin: Protocol,
    ledger: &mut Ledger,
) {
    let Some(tier) = tier else { return };
    let same_vendor = origin.same_vendor(Protocol::Chat);
    match tier.decode().as_ref() {
        "ultrafast" if same_vendor => {
            object.put("service_tier", "fast");
            ledger.degraded(tier.pos(), Code::Tier);
        }
        word if same_vendor || word == "priority" => object.put("service_tier", word),
        word if origin.conventions().standard_tiers.contains(&word) => {
            object.put("service_tier", "default");
            ledger.emulated(tier.pos(), Code::Tier);
        }
        word => {
            let detail = format!("Chat has no tier `{word}`.");
            ledger.dropped(tier.pos(), Code::Tier).detail(detail);
        }
    }
}

/// Writes the choices of one answer.
pub(super) struct ChoiceWriter<'x> {
    /// The protocol that the answer was read from.
    pub(super) origin: Protocol,
    /// The upstream's id.
    pub(super) upstream: &'x str,
    /// Whether the client uses the deprecated functions.
    pub(super) legacy: bool,
}

impl ChoiceWriter<'_> {
    /// Writes a choice.
    pub(super) fn write(
        &self,
        choice: &mut Object<'_>,
        candidate: &Candidate<'_>,
        index: u64,
        ledger: &mut Ledger,
    ) {
        let Candidate { at: _, turns, stop, logprobs, extra } = candidate;
        choice.put("index", &index);
        let parts = AnswerParts::collect(turns, ledger);
        {
            let mut message = choice.object("message");
            message.put("role", "assistant");
            self.write_message(&mut message, &parts, stop, ledger);
        }
        let word =
            stop_out::finish_reason(&stop.value, self.origin, !parts.calls.is_empty(), self.legacy);
        choice.put("finish_reason", word);
        stop_out::report_losses(stop, self.origin, ledger);
        write_logprobs(choice, &parts.texts);
        ledger.lost(logprobs, Code::Logprobs);
        ledger.only(extra);
    }

    fn write_message(
        &self,
        message: &mut Object<'_>,
        parts: &AnswerParts<'_, '_>,
        stop: &At<Stop<'_>>,
        ledger: &mut Ledger,
    ) {
        let AnswerParts { texts, refusals, calls, reasoning } = parts;
        if texts.is_empty() {
            message.put("content", &());
        } else {
            join(texts.iter().map(|text| &text.text), message.key("content"));
        }
        self.write_refusal(message, refusals, stop, ledger);
        citations_out::write(message, texts, ledger);
        reasoning_out::write_client(message, reasoning, ledger);
        if calls.is_empty() {
            return;
        }
        if self.legacy {
            return write_legacy(message, calls, ledger);
        }
        let mut array = message.array("tool_calls");
        for (ordinal, call) in calls.iter().enumerate() {
            self.write_call(&mut array.object(), call, ordinal, ledger);
        }
    }

    fn write_refusal(
        &self,
        message: &mut Object<'_>,
        refusals: &[&Refusal<'_>],
        stop: &At<Stop<'_>>,
        ledger: &mut Ledger,
    ) {
        for Refusal { at: _, text: _, extra } in refusals {
            ledger.only(extra);
        }
        if !refusals.is_empty() {
            return join(refusals.iter().map(|refusal| &refusal.text), message.key("refusal"));
        }
        let explained = if let Stop::Refusal { category: _, explanation } = &stop.value {
            explanation.as_ref()
        } else {
            None
        };
        message.put("refusal", &explained);
    }

    fn write_call(
        &self,
        object: &mut Object<'_>,
        call: &Call<'_>,
        ordinal: usize,
        ledger: &mut Ledger,
    ) {
        let Call { at: _, id, name, namespace: _, arguments, caller: _, cache: _, extra: _ } = call;
        match id {
            Some(id) if !id.is_empty() => object.put("id", id),
            Some(_) | None => object.put("id", &ids::mint(self.upstream, ordinal)),
        }
        let freeform = matches!(arguments, Arguments::Freeform(_));
        put_call(object, name, arguments, freeform, Wrapping::None);
        report_call_losses(call, ledger);
    }
}

/// The items of an answer, sorted by the members that Chat has for them.
#[derive(Default)]
struct AnswerParts<'r, 'a> {
    texts: Vec<&'r Text<'a>>,
    refusals: Vec<&'r Refusal<'a>>,
    calls: Vec<&'r Call<'a>>,
    /// Each with its place in the message that the client will send back.
    reasoning: Vec<(u64, &'r Reasoning<'a>)>,
}

impl<'r, 'a> AnswerParts<'r, 'a> {
    fn collect(turns: &'r [Turn<'a>], ledger: &mut Ledger) -> Self {
        let items = || turns.iter().flat_map(|turn| &turn.items);
        // Chat puts all text before all calls, so after a call any text counts
        // as written already.
        let has_text = items().any(|item| matches!(item, Item::Text(_)));
        let has_refusal = items().any(|item| matches!(item, Item::Refusal(_)));
        let mut parts = Self::default();
        let mut has_text_before = false;
        for turn in turns {
            report_turn_losses(turn, &mut has_text_before, ledger);
            for item in &turn.items {
                match item {
                    Item::Reasoning(reasoning) => {
                        let after_call = !parts.calls.is_empty();
                        let text = u64::from(!parts.texts.is_empty() || (after_call && has_text));
                        let refusal =
                            u64::from(!parts.refusals.is_empty() || (after_call && has_refusal));
                        let before = (parts.calls.len() + parts.reasoning.len()) as u64;
                        parts.reasoning.push((before + text + refusal, reasoning));
                    }
                    Item::Text(text) => {
                        if !parts.calls.is_empty() {
                            ledger.moved(text.at, Code::Interleaving);
                        }
                        parts.texts.push(text);
                    }
                    Item::Refusal(refusal) => parts.refusals.push(refusal),
                    Item::Call(call) => parts.calls.push(call),
                    Item::Hosted(_)
                    | Item::Opaque(_)
                    | Item::Json(_)
                    | Item::Audio(_)
                    | Item::Image(_)
                    | Item::Document(_)
                    | Item::SearchResult(_)
                    | Item::ToolReference(_)
                    | Item::Tools(_)
                    | Item::Result(_) => report_item_loss(item, turn.at, ledger),
                }
            }
        }
        parts
    }
}

/// Writes the one call that the deprecated shape has room for, without an id.
fn write_legacy(message: &mut Object<'_>, calls: &[&Call<'_>], ledger: &mut Ledger) {
    for (ordinal, call) in calls.iter().enumerate() {
        if ordinal > 0 {
            report_surplus_call(call.at, ledger);
            continue;
        }
        let mut function = message.object("function_call");
        function.put("name", &call.name);
        put_arguments(&mut function, &call.arguments, Wrapping::None);
        report_call_losses(call, ledger);
        ledger.lost_info(&call.id, Code::CallId);
    }
}

/// Writes several texts as one string.
fn join<'s, 'a: 's>(texts: impl Iterator<Item = &'s Str<'a>>, out: &mut Vec<u8>) {
    out.push(b'"');
    for text in texts {
        text.write_inside(out);
    }
    out.push(b'"');
}

/// Writes the log probabilities of all texts, which Chat keeps beside the
/// message.
fn write_logprobs(choice: &mut Object<'_>, texts: &[&Text<'_>]) {
    let lists: Vec<&Raw<'_>> = texts
        .iter()
        .filter_map(|text| text.logprobs.as_ref())
        .filter(|raw| !raw.is_empty())
        .collect();
    if lists.is_empty() {
        return choice.put("logprobs", &());
    }
    logprobs_out::write(choice.object("logprobs"), logprobs_out::LogprobsOf::Content, &lists);
}
