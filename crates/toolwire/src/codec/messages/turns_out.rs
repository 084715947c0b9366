//! `system` and `messages`: the conversation from the model to Messages.

use std::collections::BTreeSet;

use super::blocks_out::BlockWriter;
use super::content_out::write_text;
use super::conversation_out::ConversationWriter;
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Item, Role, Text, Turn};
use crate::profile::Profile;
use crate::thread::{Step, Thread};
use crate::wire::{Object, Pos};

/// Writes `system` and `messages`. `wrapped` are the names of the tools whose
/// arguments are wrapped in an object.
pub(super) fn encode(
    turns: &[Turn<'_>],
    wrapped: &BTreeSet<String>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    // Results are written apart from the turns they stood in, so what turns
    // lose is reported for all of them here.
    for turn in turns {
        report_turn_losses(turn, cx.ledger);
    }
    let thread = Thread::new(turns, cx.origin, cx.profile.ids, cx.ledger);
    let steps = thread.steps(turns, cx.ledger);
    let leading = steps.iter().take_while(|step| matches!(step, Step::System(_))).count();
    let (leading, steps) = steps.split_at(leading);
    write_system(leading, object, cx);
    let steps = match cx.profile.takes_prefill(cx.thinks) {
        true => steps,
        false => without_begun_answer(steps, cx.ledger),
    };
    let allowed = allowed_system_places(steps, cx.profile);
    let mut messages = ConversationWriter::new(object.key("messages"), &thread, wrapped);
    let last = steps.len().saturating_sub(1);
    for (index, step) in steps.iter().enumerate() {
        let is_last = index == last;
        match step {
            Step::System(turn) => {
                let is_allowed = allowed.get(index).copied().unwrap_or_default();
                messages.system(turn, is_allowed, cx);
            }
            Step::Assistant { turns, calls } => {
                messages.assistant(turns, calls.start, is_last, cx);
            }
            Step::Results(calls) => messages.results(calls, cx),
            Step::User { turn, fates } => {
                let matches = thread.fates.get(fates.clone()).unwrap_or_default();
                messages.user(turn, matches, cx);
            }
        }
    }
    messages.finish(cx);
}

/// The conversation up to what somebody else than the model has said. The model's
/// last words may be several steps: results that came between them stand with
/// their calls.
fn without_begun_answer<'s, 'r, 'a>(
    mut steps: &'s [Step<'r, 'a>],
    ledger: &mut Ledger,
) -> &'s [Step<'r, 'a>] {
    while let [rest @ .., Step::Assistant { turns, calls: _ }] = steps {
        for turn in turns {
            ledger.dropped(turn.at, Code::Prefill);
        }
        steps = rest;
    }
    steps
}

/// Where the API allows a system turn: behind a message of the user's, and last
/// or before one of the model's.
fn allowed_system_places(steps: &[Step<'_, '_>], profile: &Profile) -> Vec<bool> {
    let mut allowed = vec![false; steps.len()];
    if !profile.mid_system {
        return allowed;
    }
    let mut before_model = true;
    for (step, place) in steps.iter().zip(&mut allowed).rev() {
        match step {
            Step::System(_) => *place = before_model,
            Step::Assistant { turns: _, calls: _ } => before_model = true,
            Step::Results(_) | Step::User { turn: _, fates: _ } => before_model = false,
        }
    }
    allowed
}

/// Writes the instructions at the beginning of the conversation.
fn write_system(leading: &[Step<'_, '_>], object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let mut texts: Vec<&Text<'_>> = Vec::new();
    for (index, step) in leading.iter().enumerate() {
        let Step::System(turn) = step else { continue };
        if index > 0 && !is_declaration(turn) {
            cx.ledger.degraded(turn.at, Code::SystemMerged).info();
        }
        for item in &turn.items {
            match item {
                Item::Text(text) => texts.push(text),
                Item::Tools(_) => {}
                Item::Image(image) => drop_item(image.at, Code::MediaType, cx.ledger),
                Item::Document(document) => {
                    drop_item(document.at, Code::MediaType, cx.ledger);
                }
                Item::Audio(audio) => drop_item(audio.at, Code::Audio, cx.ledger),
                Item::Opaque(opaque) => drop_item(turn.at, opaque.code(), cx.ledger),
                Item::SearchResult(_)
                | Item::Refusal(_)
                | Item::Reasoning(_)
                | Item::Call(_)
                | Item::Result(_)
                | Item::Hosted(_)
                | Item::ToolReference(_)
                | Item::Json(_) => drop_item(turn.at, Code::UnknownItem, cx.ledger),
            }
        }
    }
    let mut blocks = BlockWriter::default();
    for text in texts {
        blocks.add(|out| write_text(text, out, cx));
    }
    if !blocks.is_empty() {
        blocks.write(object.key("system"));
    }
}

fn drop_item(at: Pos, code: Code, ledger: &mut Ledger) {
    ledger.dropped(at, code).detail("The target takes only text in its instructions.");
}

/// Whether a turn only declares tools, which are written elsewhere.
pub(super) fn is_declaration(turn: &Turn<'_>) -> bool {
    !turn.items.is_empty() && turn.items.iter().all(|item| matches!(item, Item::Tools(_)))
}

/// Reports the members of a turn, beside its content, for which Messages has no
/// room.
pub(super) fn report_turn_losses(turn: &Turn<'_>, ledger: &mut Ledger) {
    let Turn { at, role, slot: _, items: _, id, name, status, phase, extra } = turn;
    match role {
        Role::Developer if is_declaration(turn) => {}
        Role::Developer => {
            ledger.degraded(*at, Code::DeveloperRole).info();
        }
        Role::Other(role) => {
            ledger.degraded(role.pos(), Code::Role);
        }
        Role::System | Role::User | Role::Assistant => {}
    }
    ledger.lost_info(id, Code::ItemId);
    ledger.lost_info(name, Code::MessageName);
    ledger.lost_info(status, Code::Status);
    ledger.lost_info(phase, Code::Phase);
    ledger.only(extra);
}
