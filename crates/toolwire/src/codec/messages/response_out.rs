//! An answer out of the model, for a client that speaks Messages.

use super::block_list_out::Blocks;
use super::calls_out::answer_call;
use super::content_out::Pen;
use super::stop_out::{self, Said};
use super::turns_out::turn_losses;
use super::{reasoning_out, usage_out};
use crate::ledger::{Code, Ledger};
use crate::model::{Candidate, Item, Protocol, Response, ResponseContext, Stop, Turn};
use crate::wire::{Object, Str, hash, ids};

/// Writes an answer.
pub(super) fn encode(
    response: &Response<'_>,
    asked: Option<&ResponseContext>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let Response { origin, id, model, created, candidates, usage, tier, extra } = response;
    debug_assert_ne!(*origin, Protocol::Messages, "the bytes of one protocol pass");
    let mut pen = Pen::new(ledger);
    let mut object = Object::new(out);
    let id = match id {
        Some(id) => Str::plain(message_id(&id.decode())),
        None => Str::plain(message_id("")),
    };
    object.put("id", &id);
    object.put("type", "message");
    object.put("role", "assistant");
    let wanted = asked.and_then(|asked| asked.model.as_deref()).map(Str::from);
    object.maybe("model", model.as_ref().or(wanted.as_ref()));
    if let Some(created) = created {
        let name = origin.conventions().created_member;
        pen.ledger.dropped(created.pos, Code::Only(name.to_owned())).info();
    }
    match candidates.split_first() {
        Some((first, others)) => {
            for other in others {
                pen.ledger.dropped(other.at, Code::MultipleAnswers);
            }
            candidate(first, &id.decode(), &mut object, &mut pen);
        }
        None => {
            object.array("content");
            object.put("stop_reason", &());
            object.put("stop_sequence", &());
        }
    }
    usage_out::encode(usage.as_ref(), tier.as_ref(), &mut object, &mut pen);
    pen.ledger.only(extra);
}

/// The id of an answer that had another protocol's.
pub(super) fn message_id(id: &str) -> String {
    format!("msg_{}", hash::base62(&[id.as_bytes()], 24))
}

fn candidate(answer: &Candidate<'_>, scope: &str, object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Candidate { at: _, turns, stop, logprobs, extra } = answer;
    let cut = matches!(stop.value, Stop::MaxTokens | Stop::ContextWindow);
    let said = content(turns, scope, cut, object.key("content"), pen);
    if let Some(logprobs) = logprobs {
        pen.ledger.dropped(logprobs.pos(), Code::Logprobs).info();
    }
    stop_out::encode(stop, &said, object, pen);
    pen.ledger.only(extra);
}

fn content<'r>(
    turns: &'r [Turn<'r>],
    scope: &str,
    cut: bool,
    out: &mut Vec<u8>,
    pen: &mut Pen<'_>,
) -> Said<'r> {
    let mut said = Said::default();
    let mut blocks = Blocks::default();
    let total = turns.iter().flat_map(|turn| &turn.items).filter(|item| is_call(item)).count();
    for turn in turns {
        turn_losses(turn, pen);
        for item in &turn.items {
            match item {
                Item::Call(made) => {
                    let last = said.calls + 1 == total;
                    let minted = ids::mint(scope, said.calls);
                    blocks.add(|out| answer_call(made, &minted, cut && last, out, pen));
                    said.calls += 1;
                }
                Item::Reasoning(item) => blocks.add(|out| reasoning_out::encode(item, pen, out)),
                Item::Refusal(refusal) => {
                    said.refusal = Some(&refusal.text);
                    blocks.add(|out| pen.part(item, out));
                }
                Item::Text(_)
                | Item::Image(_)
                | Item::Document(_)
                | Item::Audio(_)
                | Item::SearchResult(_)
                | Item::Result(_)
                | Item::Hosted(_)
                | Item::Tools(_)
                | Item::ToolReference(_)
                | Item::Json(_)
                | Item::Opaque(_) => blocks.add(|out| pen.part(item, out)),
            }
        }
    }
    blocks.write_list(out);
    said
}

fn is_call(item: &Item<'_>) -> bool {
    matches!(item, Item::Call(_))
}
