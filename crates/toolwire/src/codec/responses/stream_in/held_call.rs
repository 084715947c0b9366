//! A call that waits for the next item, because its result may follow it.

use super::ResponsesStreamReader;
use crate::codec::EventSink;
use crate::codec::responses::output_in::{hosted, settled_later};
use crate::model::{Event, Item, Own, Turn};
use crate::wire::{Pos, Raw};

/// A call that the client or its vendor runs. If the vendor runs it, its result
/// is the next item of the answer.
#[derive(Debug)]
pub(super) struct HeldCall {
    id: String,
    /// The call as it came.
    item: String,
    turn: Turn<'static>,
}

impl HeldCall {
    /// The call, if it must wait.
    pub(super) fn new(turn: &Turn<'_>, item: &Raw<'_>) -> Option<Self> {
        let id = settled_later(turn)?;
        let mut turn = turn.clone().into_owned();
        // It is passed on with another event, in which its places mean nothing.
        turn.at = Pos::START;
        turn.id = None;
        turn.status = None;
        for item in &mut turn.items {
            if let Item::Call(call) = item {
                call.at = Pos::START;
                call.caller = call.caller.take().map(|caller| caller.at(Pos::START));
                for field in &mut call.extra {
                    field.value = field.value.clone().at(Pos::START);
                }
            }
        }
        Some(Self { id, item: item.text().to_owned(), turn })
    }

    /// Whether an item is the result of the call.
    fn is_answered_by(&self, item: &Raw<'_>) -> bool {
        let tag = |key| item.reader().tag(key).ok().flatten();
        tag("type").is_some_and(|kind| kind.decode().ends_with("_output"))
            && tag("call_id").is_some_and(|id| id == self.id.as_str())
    }

    /// Whether a whole answer holds the result of the call.
    fn is_answered_in(&self, turns: &[Turn<'_>]) -> bool {
        let mut items = turns.iter().flat_map(|turn| &turn.items);
        items.any(|item| {
            let Item::Result(result) = item else { return false };
            result.call_id.as_ref().is_some_and(|id| *id == self.id.as_str())
        })
    }
}

impl ResponsesStreamReader {
    /// Passes on the call that waits, before an event about this item.
    pub(super) fn release_before(&mut self, item: Option<&Raw<'_>>, sink: &mut dyn EventSink) {
        if let Some(held) = self.held.take() {
            let answered = item.is_some_and(|item| held.is_answered_by(item));
            self.release(held, answered, sink);
        }
    }

    /// Passes on the call that waits, before the whole answer ends.
    pub(super) fn release_last(&mut self, turns: &[Turn<'_>], sink: &mut dyn EventSink) {
        if let Some(held) = self.held.take() {
            let answered = held.is_answered_in(turns);
            self.release(held, answered, sink);
        }
    }

    fn release(&mut self, held: HeldCall, answered: bool, sink: &mut dyn EventSink) {
        let HeldCall { id: _, item, turn } = held;
        self.called |= !answered;
        let turn = if answered { hosted(Raw::made(item).at(Pos::START)) } else { turn };
        sink.event(Event::Whole(turn));
    }
}
