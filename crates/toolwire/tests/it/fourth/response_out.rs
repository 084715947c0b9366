//! An answer: from the model to the protocol.

use toolwire::model::{Candidate, Item, Response, ResponseContext, Turn};
use toolwire::stateful::WrittenAnswer;
use toolwire::wire::{Array, Object, Str};
use toolwire::{Code, Ledger};

use super::content_out::{self, same_vendor};
use super::turns_out::lose_labels;
use super::{calls_out, reasoning_out, stop_out, usage_out};

/// Writes an answer.
pub(super) fn encode(
    response: &Response<'_>,
    context: Option<&ResponseContext>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) -> Option<WrittenAnswer> {
    let Response { origin, id, model, created, candidates, usage, tier, extra } = response;
    let mut object = Object::new(out);
    object.maybe("ref", id.as_ref());
    let asked = context.and_then(|context| context.model.as_deref()).map(Str::from);
    object.maybe("by", model.as_ref().or(asked.as_ref()));
    object.maybe("when", created.as_ref());
    let mut pieces = Pieces {
        scope: id.as_ref().map(|id| id.decode().into_owned()).unwrap_or_default(),
        same_vendor: same_vendor(*origin),
        calls: 0,
    };
    match candidates.split_first() {
        Some((first, others)) => {
            for other in others {
                ledger.dropped(other.at, Code::MultipleAnswers);
            }
            let Candidate { at: _, turns, stop, logprobs, extra } = first;
            let mut reply = object.array("reply");
            for turn in turns {
                pieces.write_turn(turn, &mut reply, ledger);
            }
            drop(reply);
            if let Some(logprobs) = logprobs {
                ledger.dropped(logprobs.pos(), Code::Logprobs).info();
            }
            stop_out::encode(stop, pieces.calls > 0, &mut object, ledger);
            ledger.only(extra);
        }
        None => drop(object.array("reply")),
    }
    if let Some(usage) = usage {
        usage_out::encode(usage, &mut object.object("spent"), ledger);
    }
    if let Some(tier) = tier {
        ledger.dropped(tier.pos(), Code::Tier).info();
    }
    ledger.only(extra);
    None
}

/// The pieces of an answer, whether it comes whole or as a stream.
pub(super) struct Pieces {
    /// What makes the ids of calls that have none differ from those of another
    /// answer.
    pub(super) scope: String,
    pub(super) same_vendor: bool,
    /// How many calls there have been.
    pub(super) calls: usize,
}

impl Pieces {
    /// Writes what a turn says.
    pub(super) fn write_turn(
        &mut self,
        turn: &Turn<'_>,
        reply: &mut Array<'_>,
        ledger: &mut Ledger,
    ) {
        lose_labels(turn, ledger);
        for item in &turn.items {
            match item {
                Item::Call(call) => {
                    calls_out::encode_answer(call, &self.scope, self.calls, reply, ledger);
                    self.calls += 1;
                }
                Item::Reasoning(reasoning) => reasoning_out::encode(reasoning, reply, ledger),
                Item::Text(_)
                | Item::Image(_)
                | Item::Document(_)
                | Item::Audio(_)
                | Item::SearchResult(_)
                | Item::Refusal(_)
                | Item::Result(_)
                | Item::Hosted(_)
                | Item::Tools(_)
                | Item::ToolReference(_)
                | Item::Json(_)
                | Item::Opaque(_) => {
                    content_out::write_piece(item, self.same_vendor, reply, ledger);
                }
            }
        }
    }
}
