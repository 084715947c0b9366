//! An answer: from the model to Messages.

use super::blocks_out::BlockWriter;
use super::calls_out::write_answer_call;
use super::content_out::write_part;
use super::reasoning_out;
use super::stop_out::{AnswerSummary, write_stop};
use super::turns_out::report_turn_losses;
use super::usage_out::write_usage;
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Candidate, Item, Protocol, Response, ResponseContext, Stop, Turn};
use crate::profile::Profile;
use crate::stateful::WrittenAnswer;
use crate::wire::names::Names;
use crate::wire::{Object, Pos, Str, hash, ids};

/// Writes an answer.
pub(super) fn encode(
    response: &Response<'_>,
    context: Option<&ResponseContext>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) -> Option<WrittenAnswer> {
    let Response { origin, id, model, created, candidates, usage, tier, extra } = response;
    let (profile, names) = (Profile::of(Protocol::Messages), Names::default());
    let mut cx = EncodeContext::new(*origin, &profile, &names, ledger);
    let mut object = Object::new(out);
    let id = message_id(*origin, id.as_ref());
    object.put("id", &id);
    object.put("type", "message");
    object.put("role", "assistant");
    let requested = context.and_then(|context| context.model.as_deref()).map(Str::from);
    object.maybe("model", model.as_ref().or(requested.as_ref()));
    if let Some(created) = created {
        let name = cx.conventions().created_member;
        cx.ledger.dropped(created.pos, Code::Only(name.to_owned())).info();
    }
    match candidates.split_first() {
        Some((first, others)) => {
            for other in others {
                cx.ledger.dropped(other.at, Code::MultipleAnswers);
            }
            write_candidate(first, &id, &mut object, &mut cx);
        }
        None => {
            object.array("content");
            object.put("stop_reason", &());
            object.put("stop_sequence", &());
        }
    }
    write_usage(usage.as_ref(), tier.as_ref(), &mut object, cx.ledger);
    cx.ledger.only(extra);
    None
}

/// The id of an answer: the one that the upstream gave it or, if that is another
/// protocol's or missing, one made from it.
pub(super) fn message_id(origin: Protocol, id: Option<&Str<'_>>) -> String {
    let id = id.map(Str::decode).unwrap_or_default();
    if origin == Protocol::Messages && !id.is_empty() {
        return id.into_owned();
    }
    format!("msg_{}", hash::base62(&[id.as_bytes()], 24))
}

fn write_candidate(
    candidate: &Candidate<'_>,
    message_id: &str,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Candidate { at: _, turns, stop, logprobs, extra } = candidate;
    let is_cut = matches!(stop.value, Stop::MaxTokens | Stop::ContextWindow);
    let summary = write_content(turns, message_id, is_cut, object.key("content"), cx);
    cx.ledger.lost_info(logprobs, Code::Logprobs);
    write_stop(stop, &summary, object, cx.ledger);
    cx.ledger.only(extra);
}

/// Writes `content`. If the answer `is_cut`, its last call may be incomplete.
fn write_content<'r>(
    turns: &'r [Turn<'r>],
    message_id: &str,
    is_cut: bool,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
) -> AnswerSummary<'r> {
    let mut summary = AnswerSummary::default();
    let mut blocks = BlockWriter::default();
    let items = turns.iter().flat_map(|turn| &turn.items);
    let calls = items.filter(|item| matches!(item, Item::Call(_))).count();
    for turn in turns {
        report_turn_losses(turn, cx.ledger);
        for item in &turn.items {
            if let Item::Call(call) = item {
                let minted_id = ids::mint(message_id, summary.calls);
                summary.calls += 1;
                let is_cut = is_cut && summary.calls == calls;
                blocks.add(|out| write_answer_call(call, &minted_id, is_cut, out, cx.ledger));
            } else if let Item::Reasoning(reasoning) = item {
                blocks.add(|out| reasoning_out::write_block(reasoning, out, cx.ledger));
            } else {
                if let Item::Refusal(refusal) = item {
                    summary.refusal = Some(&refusal.text);
                }
                report_item_loss(item, turn.at, cx.ledger);
                blocks.add(|out| write_part(item, out, cx));
            }
        }
    }
    blocks.write_list(out);
    summary
}

/// Reports an item that Messages has only in requests.
pub(super) fn report_item_loss(item: &Item<'_>, turn: Pos, ledger: &mut Ledger) {
    if let Item::Result(result) = item {
        let note = ledger.dropped(result.at, Code::HostedHistory);
        note.detail("The target has no results of tools in an answer.");
    } else if let Item::Tools(_) = item {
        let note = ledger.dropped(turn, Code::ToolPosition);
        note.detail("The target has no tools in an answer.");
    }
}
