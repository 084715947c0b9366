//! A request without the tools that its conversation withdrew.

use std::collections::BTreeSet;

use crate::ledger::{Code, Ledger};
use crate::model::{Item, Request, Tool, Turn};

/// What is left of a request.
pub(super) struct RemainingTools<'a> {
    pub(super) tools: Vec<Tool<'a>>,
    pub(super) turns: Vec<Turn<'a>>,
    /// Turns that only declared tools that were withdrawn. Each would be an empty
    /// message.
    pub(super) emptied: Vec<Turn<'a>>,
}

/// Takes out the tools that were withdrawn. Like Messages, Responses can declare
/// tools in the middle of a conversation, but it cannot withdraw one.
pub(super) fn without<'a>(
    request: &Request<'a>,
    withdrawn: &BTreeSet<String>,
    ledger: &mut Ledger,
) -> RemainingTools<'a> {
    let mut stays = |tool: &Tool<'_>| {
        let stays = !withdrawn.contains(tool.name.decode().as_ref());
        if !stays {
            let note = ledger.dropped(tool.at, Code::ToolPosition);
            note.detail("The conversation withdrew the tool, and the target cannot.");
        }
        stays
    };
    let mut tools = request.tools.clone();
    tools.retain(&mut stays);
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
    RemainingTools { tools, turns, emptied }
}
