//! The items of an answer: wire to model.

use std::collections::BTreeSet;

use super::namespaces_in::drop_own_name;
use super::turns_in::ItemList;
use crate::model::{Arguments, HostedClass, HostedItem, Item, NativeKind, Role, Turn};
use crate::wire::{Raw, Read, ReadError, Reader};

/// `output`: the items of an answer.
#[derive(Debug)]
pub(super) struct Output<'a>(pub(super) Vec<Turn<'a>>);

impl<'a> Read<'a> for Output<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let again = reader.clone();
        let ItemList(mut turns) = ItemList::read(reader)?;
        for item in turns.iter_mut().flat_map(|turn| &mut turn.items) {
            if let Item::Call(call) = item {
                drop_own_name(call);
            }
        }
        settle(&mut turns, again)?;
        Ok(Self(turns))
    }
}

/// Calls whose results are in the same answer are not the client's to run. The
/// vendor ran them, as it does with a shell in a container of its own.
fn settle<'a>(turns: &mut [Turn<'a>], mut reader: Reader<'a>) -> Result<(), ReadError> {
    let results = turns.iter().flat_map(|turn| &turn.items).filter_map(|item| {
        let Item::Result(result) = item else { return None };
        Some(result.call_id.as_ref()?.decode().into_owned())
    });
    let answered: BTreeSet<String> = results.collect();
    if answered.is_empty() {
        return Ok(());
    }
    let spelled: Vec<Raw<'a>> = Vec::read(&mut reader)?;
    for (turn, raw) in turns.iter_mut().zip(spelled) {
        if call_id(turn).is_some_and(|id| answered.contains(&id)) {
            *turn = hosted(raw);
        }
    }
    Ok(())
}

/// Leaves out what an item says about itself to its vendor's API alone: its id,
/// and that it is complete, as every item of an answer is unless it says
/// otherwise.
pub(super) fn drop_bookkeeping(turn: &mut Turn<'_>) {
    turn.id = None;
    if turn.status.as_ref().is_some_and(|status| *status == "completed") {
        turn.status = None;
    }
}

/// A call that its vendor ran.
pub(super) fn hosted(raw: Raw<'_>) -> Turn<'_> {
    let item = Item::Hosted(HostedItem { class: HostedClass::Code, raw: raw.clone() });
    Turn::new(raw.pos(), Role::Assistant, vec![item])
}

/// The id by which the result of a call names it.
fn call_id(turn: &Turn<'_>) -> Option<String> {
    let [Item::Call(call)] = turn.items.as_slice() else { return None };
    Some(call.id.as_ref()?.decode().into_owned())
}

/// The id of a call that its vendor may have run: its result may follow it.
pub(super) fn settled_later(turn: &Turn<'_>) -> Option<String> {
    let [Item::Call(call)] = turn.items.as_slice() else { return None };
    matches!(call.arguments, Arguments::Native(NativeKind::Shell, _)).then(|| call_id(turn))?
}
