//! A conversation without the tools that it withdrew.

use std::collections::BTreeSet;

use crate::ledger::{Code, Ledger};
use crate::model::{Item, Request, Tool, Turn};

/// What is left of a conversation.
pub(super) struct RemainingTurns<'a> {
    pub(super) turns: Vec<Turn<'a>>,
    /// Turns that only declared tools that were withdrawn. Each would be an empty
    /// message.
    pub(super) emptied: Vec<Turn<'a>>,
}

/// Reports the tools that were withdrawn, and takes them out of the turns. Like Messages, Responses can declare
/// tools in the middle of a conversation, but it cannot withdraw one.
pub(super) fn without<'a>(
    request: &Request<'a>,
    withdrawn: &BTreeSet<String>,
    ledger: &mut Ledger,
) -> RemainingTurns<'a> {
    let mut stays = |tool: &Tool<'_>| {
        let stays = !withdrawn.contains(tool.name.decode().as_ref());
        if !stays {
            let note = ledger.dropped(tool.at, Code::ToolPosition);
            note.detail("The conversation withdrew the tool, and the target cannot.");
        }
        stays
    };
    for tool in &request.tools {
        stays(tool);
    }
    let mut turns = Vec::with_capacity(request.turns.len());
    let mut emptied = Vec::new();
    for mut turn in request.turns.iter().cloned() {
        let before = turn.items.len();
        turn.items.retain_mut(|item| {
            let Item::Tools(tools) = item else { return true };
            tools.retain(&mut stays);
            !tools.is_empty()
        });
        if turn.items.is_empty() && before > 0 {
            emptied.push(turn);
        } else {
            turns.push(turn);
        }
    }
    RemainingTurns { turns, emptied }
}
