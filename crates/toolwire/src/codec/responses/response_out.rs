//! The answer: model to wire. Responses wants every member of its object, with
//! the client's own settings repeated.

use super::calls_out::{Frame, call_type, write_call, write_result};
use super::content_out::{Voice, is_content, is_lost, is_silent, write_part};
use super::turns_out::{lose_turn, write_additional, write_hosted};
use super::{Out, echo, error, reasoning, usage};
use crate::ledger::{Code, Ledger};
use crate::model::{Asked, Call, Candidate, Item, Opaque, Protocol, Refusal, Response, Stop, Turn};
use crate::profile::Profile;
use crate::wire::ids::{self, IdRule};
use crate::wire::names::Names;
use crate::wire::{Array, Object, Pos, Raw, Read, Str, hash};

/// Writes an answer for a client.
pub(super) fn encode(
    response: &Response<'_>,
    asked: Option<&Asked>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let Response { origin, id, model, created, candidates, usage: tokens, tier, extra } = response;
    let profile = Profile::of(Protocol::Responses);
    // The calls were restored before, so names are the client's own.
    let names = Names::default();
    let cx = Out { origin: *origin, profile: &profile, names: &names, tool_search: false };
    let id = response_id(id.as_ref(), &cx);
    let (candidate, others) = match candidates.split_first() {
        Some((candidate, others)) => (Some(candidate), others),
        None => (None, [].as_slice()),
    };
    for other in others {
        ledger.dropped(other.at, Code::MultipleAnswers);
    }
    let ended = Ended::of(candidate, &cx, ledger);
    let mut object = Object::new(out);
    object.put("id", &id);
    object.put("object", "response");
    let made = created.map_or(0, |created| created.value);
    object.put("created_at", &made);
    object.put("status", &ended.status);
    object.put("completed_at", &(ended.status == "completed").then_some(made));
    write_error(candidate, &mut object);
    match &ended.reason {
        Some(reason) => object.object("incomplete_details").put("reason", reason),
        None => object.put("incomplete_details", &()),
    }
    match (model, asked.and_then(|asked| asked.model.as_ref())) {
        (Some(model), _) => object.put("model", model),
        (None, asked) => object.put("model", asked.map_or("", String::as_str)),
    }
    {
        let mut items = object.array("output");
        if let Some(candidate) = candidate {
            write_items(candidate, &id, &ended, &mut items, &cx, ledger);
        }
    }
    match tokens {
        Some(tokens) => usage::write(tokens, &mut object, &cx, ledger),
        None => object.put("usage", &()),
    }
    write_tier(tier.as_ref(), asked, &mut object, &cx, ledger);
    match asked.filter(|asked| !asked.echo.is_empty()) {
        Some(asked) => object.members(&asked.echo),
        None => object.members(&echo::defaults()),
    }
    cx.extra(&mut object, extra, ledger);
}

/// The answer's id: the upstream's own, or one that follows from it.
fn response_id<'r>(id: Option<&'r Str<'_>>, cx: &Out<'_>) -> Str<'r> {
    match id {
        Some(id) if cx.same() => id.borrowed(),
        Some(id) => {
            Str::plain(format!("resp_{}", hash::base62(&[id.decode().as_bytes()], ID_LENGTH)))
        }
        None => Str::plain(format!("resp_{}", hash::base62(&[b""], ID_LENGTH))),
    }
}

/// How an answer ended, in the words of Responses.
struct Ended<'r> {
    status: &'static str,
    reason: Option<Str<'r>>,
    /// What another vendor says about a refusal.
    explanation: Option<&'r Str<'r>>,
}

impl<'r> Ended<'r> {
    fn of(candidate: Option<&'r Candidate<'_>>, cx: &Out<'_>, ledger: &mut Ledger) -> Self {
        let with = |status, reason: Option<&'static str>| Self {
            status,
            reason: reason.map(Str::plain),
            explanation: None,
        };
        let Some(candidate) = candidate else { return with("completed", None) };
        let pos = candidate.stop.pos;
        match &candidate.stop.value {
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
            Stop::Refusal { category: _, explanation: _ } if authored(candidate) => {
                with("completed", None)
            }
            Stop::Refusal { category, explanation } => {
                if let Some(category) = category {
                    ledger.dropped(category.pos(), Code::StopReason);
                }
                let mut ended = with("incomplete", Some("content_filter"));
                ended.explanation = explanation.as_ref();
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
            Stop::Failed(_) => with("failed", None),
            Stop::Other(reason) if cx.same() => {
                let mut ended = with("incomplete", None);
                ended.reason = Some(reason.borrowed());
                ended
            }
            Stop::Other(_) => {
                ledger.degraded(pos, Code::StopReason);
                with("completed", None)
            }
        }
    }
}

fn authored(candidate: &Candidate<'_>) -> bool {
    let mut items = candidate.turns.iter().flat_map(|turn| &turn.items);
    items.any(|item| matches!(item, Item::Refusal(_)))
}

fn write_error(candidate: Option<&Candidate<'_>>, object: &mut Object<'_>) {
    match candidate.map(|candidate| &candidate.stop.value) {
        Some(Stop::Failed(failure)) => {
            let mut detail = object.object("error");
            detail.put("code", error::code(failure));
            detail.put("message", &failure.message);
        }
        Some(
            Stop::EndTurn
            | Stop::ToolCalls
            | Stop::MaxTokens
            | Stop::ContextWindow
            | Stop::StopSequence(_)
            | Stop::ContentFilter
            | Stop::Refusal { category: _, explanation: _ }
            | Stop::Paused
            | Stop::Compaction
            | Stop::Cancelled
            | Stop::Steered
            | Stop::Running
            | Stop::Other(_),
        )
        | None => object.put("error", &()),
    }
}

/// Writes the items of an answer, each with an id of its own.
fn write_items(
    candidate: &Candidate<'_>,
    id: &Str<'_>,
    ended: &Ended<'_>,
    items: &mut Array<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let Candidate { at: _, turns, stop: _, logprobs, extra } = candidate;
    if !cx.same() {
        ledger.only(extra);
    }
    let groups = |turn| groups(turn, cx).count();
    let mut writer = ItemWriter {
        response: id.decode().into_owned(),
        index: 0,
        left: turns.iter().map(groups).sum(),
        // Only the last item can be cut off.
        cut: ended.status == "incomplete" || ended.status == "in_progress",
        logprobs: logprobs.as_ref().and_then(|logprobs| text_logprobs(logprobs, ledger)),
    };
    for turn in turns {
        lose_turn(turn, cx, ledger);
        for group in self::groups(turn, cx) {
            writer.group(group, turn, items, cx, ledger);
        }
    }
    if let Some(explanation) = ended.explanation {
        // An item of its own: Codex drops a message whole that holds a part
        // it does not know.
        let refusal = Refusal { at: Pos::NONE, text: explanation.borrowed(), extra: Vec::new() };
        let turn = Turn::new(Pos::NONE, crate::model::Role::Assistant, Vec::new());
        writer.cut = false;
        writer.message(&[Item::Refusal(refusal)], &turn, items, cx, ledger);
    }
}

/// The stretches of a turn that become one item each.
fn groups<'t, 'a>(turn: &'t Turn<'a>, cx: &'t Out<'_>) -> impl Iterator<Item = &'t [Item<'a>]> {
    turn.items.chunk_by(|a, b| is_content(a, turn.at, cx) && is_content(b, turn.at, cx))
}

/// Chat keeps the log probabilities of all text beside it; here they belong to
/// the text.
fn text_logprobs<'r>(logprobs: &'r Raw<'_>, ledger: &mut Ledger) -> Option<Raw<'r>> {
    let parsed = ChatLogprobs::read(&mut logprobs.reader()).ok();
    let Some(ChatLogprobs { at: _, content, refusal, extra }) = parsed else {
        ledger.dropped(logprobs.pos(), Code::Logprobs);
        return None;
    };
    if let Some(refusal) = refusal {
        ledger.dropped(refusal.pos(), Code::Logprobs);
    }
    ledger.only(&extra);
    content
}

wire! {
    struct ChatLogprobs<'a> {
        content: Raw<'a> = "content",
        refusal: Raw<'a> = "refusal",
    }
}

struct ItemWriter<'r> {
    response: String,
    /// How many items have been written.
    index: u64,
    /// How many are still to come.
    left: usize,
    /// Whether the last of them is cut off.
    cut: bool,
    /// Log probabilities for the first text that has none.
    logprobs: Option<Raw<'r>>,
}

impl ItemWriter<'_> {
    fn group(
        &mut self,
        group: &[Item<'_>],
        turn: &Turn<'_>,
        items: &mut Array<'_>,
        cx: &Out<'_>,
        ledger: &mut Ledger,
    ) {
        self.left = self.left.saturating_sub(1);
        match group {
            [Item::Reasoning(found)] => {
                let bound = found
                    .sealed
                    .as_ref()
                    .filter(|sealed| sealed.issuer == crate::model::Issuer::OpenAi);
                let id = match bound.and_then(|sealed| sealed.item_id.as_ref()) {
                    Some(id) => id.borrowed(),
                    None => self.id(turn, "rs", cx),
                };
                let status = turn.status.as_ref().filter(|_| cx.same());
                reasoning::write_item(found, Some(&id), status, items, cx, ledger);
            }
            [Item::Call(call)] => self.call(call, turn, items, cx, ledger),
            [Item::Result(result)] => {
                let frame = Frame {
                    id: turn.id.as_ref().map(Str::borrowed),
                    call_id: result.call_id.as_ref().map(Str::borrowed),
                    status: turn.status.as_ref().map(Str::borrowed),
                };
                write_result(result, result.kind, turn, &frame, items, cx, ledger);
            }
            [Item::Tools(tools)] => {
                let id = self.id(turn, "at", cx);
                write_additional(tools, Some(&id), turn, items, cx, ledger);
            }
            [Item::Hosted(hosted)] => write_hosted(hosted, items, cx, ledger),
            [Item::Opaque(Opaque { kind: _, raw })] if raw.pos() == turn.at && cx.same() => {
                items.push(raw);
            }
            content => self.message(content, turn, items, cx, ledger),
        }
        self.index += 1;
    }

    fn call(
        &self,
        call: &Call<'_>,
        turn: &Turn<'_>,
        items: &mut Array<'_>,
        cx: &Out<'_>,
        ledger: &mut Ledger,
    ) {
        let (_, prefix) = call_type(&call.arguments, cx);
        let minted;
        let known = call.id.as_ref().filter(|id| !id.is_empty());
        let call_id = match known {
            Some(id) if IdRule::RESPONSES.accepts(&id.decode()) => id.borrowed(),
            Some(id) => {
                ledger.renamed(id.pos(), Code::CallId);
                minted = IdRule::RESPONSES.render(&id.decode(), 0).into_owned();
                Str::plain(minted)
            }
            None => {
                let ordinal = usize::try_from(self.index).unwrap_or_default();
                Str::plain(ids::mint(&self.response, ordinal))
            }
        };
        let frame = Frame {
            id: Some(self.id(turn, prefix, cx)),
            call_id: Some(call_id),
            status: self.status(turn, cx),
        };
        write_call(call, &frame, items, cx, ledger);
    }

    fn message(
        &mut self,
        content: &[Item<'_>],
        turn: &Turn<'_>,
        items: &mut Array<'_>,
        cx: &Out<'_>,
        ledger: &mut Ledger,
    ) {
        if is_silent(content, cx, ledger) {
            return;
        }
        if is_lost(content, Voice::Answer, cx, ledger) {
            return;
        }
        let mut item = items.object();
        item.put("type", "message");
        item.put("id", &self.id(turn, "msg", cx));
        item.maybe("status", self.status(turn, cx).as_ref());
        item.put("role", "assistant");
        {
            let mut parts = item.array("content");
            for part in content {
                if let Item::Text(text) = part
                    && text.logprobs.is_none()
                    && let Some(logprobs) = self.logprobs.take()
                {
                    let mut text = text.clone();
                    text.logprobs = Some(logprobs.into_owned());
                    write_part(&Item::Text(text), Voice::Answer, &mut parts, cx, ledger);
                } else {
                    write_part(part, Voice::Answer, &mut parts, cx, ledger);
                }
            }
        }
        if cx.same() {
            item.maybe("phase", turn.phase.as_ref());
            item.extra(&turn.extra);
        }
    }

    fn id<'t>(&self, turn: &'t Turn<'_>, prefix: &str, cx: &Out<'_>) -> Str<'t> {
        match &turn.id {
            Some(id) if cx.same() => id.borrowed(),
            Some(_) | None => {
                let parts = [self.response.as_bytes(), &self.index.to_be_bytes()];
                Str::plain(format!("{prefix}_{}", hash::base62(&parts, ID_LENGTH)))
            }
        }
    }

    fn status<'t>(&self, turn: &'t Turn<'_>, cx: &Out<'_>) -> Option<Str<'t>> {
        if cx.same() {
            return turn.status.as_ref().map(Str::borrowed);
        }
        let cut = self.cut && self.left == 0;
        Some(Str::plain(if cut { "incomplete" } else { "completed" }))
    }
}

fn write_tier(
    tier: Option<&Str<'_>>,
    asked: Option<&Asked>,
    object: &mut Object<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let Some(tier) = tier else {
        let asked = asked.and_then(|asked| asked.tier.as_deref());
        object.put("service_tier", asked.unwrap_or("default"));
        return;
    };
    match (cx.origin, tier.decode().as_ref()) {
        (Protocol::Chat | Protocol::Responses, _) => object.put("service_tier", tier),
        (Protocol::Messages, "standard") => object.put("service_tier", "default"),
        (Protocol::Messages, "priority") => object.put("service_tier", "priority"),
        (Protocol::Messages, _other) => {
            ledger.degraded(tier.pos(), Code::Tier);
            object.put("service_tier", "default");
        }
    }
}

const ID_LENGTH: usize = 24;
