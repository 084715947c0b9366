//! The conversation out of the model, in the order that Messages wants.

use std::collections::BTreeSet;

use super::block_list_out::Blocks;
use super::content_out::Pen;
use super::conversation_out::Talk;
use crate::ledger::Code;
use crate::model::{Item, Request, Role, Text, Turn};
use crate::profile::Profile;
use crate::thread::{Step, Thread};
use crate::toolset::Toolset;
use crate::wire::{Object, Pos};

/// Writes `system` and `messages` of another protocol's conversation.
pub(super) fn encode(
    request: &Request<'_>,
    profile: &Profile,
    toolset: &Toolset<'_, '_>,
    wrapped: &BTreeSet<String>,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    // Results are written apart from the turns they stood in, so what turns
    // lose is said for all of them here.
    for turn in &request.turns {
        turn_losses(turn, pen);
    }
    let thread = Thread::new(&request.turns, profile.ids, pen.ledger);
    let steps = thread.steps(&request.turns, pen.ledger);
    let lead = steps.iter().take_while(|step| matches!(step, Step::System(_))).count();
    let (lead, steps) = steps.split_at(lead);
    system(lead, object, pen);
    let legal = system_places(steps, profile);
    let mut talk = Talk::new(object.key("messages"), &thread, toolset, wrapped);
    let last = steps.len().saturating_sub(1);
    for (index, step) in steps.iter().enumerate() {
        let end = index == last;
        match step {
            Step::System(turn) => {
                let in_place = legal.get(index).copied().unwrap_or_default();
                talk.system(turn, in_place, pen);
            }
            Step::Assistant { turns, calls } => {
                if end && !profile.prefill {
                    for turn in turns {
                        pen.ledger.dropped(turn.at, Code::Prefill);
                    }
                    continue;
                }
                talk.assistant(turns, calls.start, end, pen);
            }
            Step::Results(order) => talk.results(order, pen),
            Step::User { turn, fates } => {
                let fates = thread.fates.get(fates.clone()).unwrap_or_default();
                talk.user(turn, fates, pen);
            }
        }
    }
    talk.finish(pen);
}

/// Where a system turn may stand: behind a user's message, and last or before
/// the model's.
fn system_places(steps: &[Step<'_, '_>], profile: &Profile) -> Vec<bool> {
    let mut legal = vec![false; steps.len()];
    if !profile.mid_system {
        return legal;
    }
    let mut before_model = true;
    for (step, slot) in steps.iter().zip(&mut legal).rev() {
        match step {
            Step::System(_) => *slot = before_model,
            Step::Assistant { turns: _, calls: _ } => before_model = true,
            Step::Results(_) | Step::User { turn: _, fates: _ } => before_model = false,
        }
    }
    legal
}

/// Writes the instructions that lead the conversation.
fn system(lead: &[Step<'_, '_>], object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let mut texts: Vec<&Text<'_>> = Vec::new();
    for (index, step) in lead.iter().enumerate() {
        let Step::System(turn) = step else { continue };
        if index > 0 && !is_declaration(turn) {
            pen.ledger.degraded(turn.at, Code::SystemMerged).info();
        }
        for item in &turn.items {
            match item {
                Item::Text(text) => texts.push(text),
                Item::Tools(_) => {}
                Item::Image(image) => only_text(image.at, Code::MediaType, pen),
                Item::Document(document) => only_text(document.at, Code::MediaType, pen),
                Item::Audio(audio) => only_text(audio.at, Code::Audio, pen),
                Item::Opaque(opaque) => only_text(turn.at, opaque.code(), pen),
                Item::SearchResult(_)
                | Item::Refusal(_)
                | Item::Reasoning(_)
                | Item::Call(_)
                | Item::Result(_)
                | Item::Hosted(_)
                | Item::ToolReference(_)
                | Item::Json(_) => only_text(turn.at, Code::UnknownItem, pen),
            }
        }
    }
    let mut blocks = Blocks::default();
    for text in texts {
        blocks.add(|out| pen.text(text, out));
    }
    if blocks.count > 0 {
        blocks.write(object.key("system"));
    }
}

fn only_text(at: Pos, code: Code, pen: &mut Pen<'_>) {
    pen.ledger.dropped(at, code).detail("The target takes only text in its instructions.");
}

/// Whether a turn does nothing but declare tools, which go elsewhere.
pub(super) fn is_declaration(turn: &Turn<'_>) -> bool {
    !turn.items.is_empty() && turn.items.iter().all(|item| matches!(item, Item::Tools(_)))
}

/// What a turn has beside its content and Messages has no room for.
pub(super) fn turn_losses(turn: &Turn<'_>, pen: &mut Pen<'_>) {
    let Turn { at, role, slot: _, items: _, id, name, status, phase, extra } = turn;
    match role {
        Role::Developer if is_declaration(turn) => {}
        Role::Developer => {
            pen.ledger.degraded(*at, Code::DeveloperRole).info();
        }
        Role::Other(role) => {
            pen.ledger.degraded(role.pos(), Code::Role);
        }
        Role::System | Role::User | Role::Assistant => {}
    }
    if let Some(id) = id {
        pen.ledger.dropped(id.pos(), Code::ItemId).info();
    }
    if let Some(name) = name {
        pen.ledger.dropped(name.pos(), Code::MessageName).info();
    }
    if let Some(status) = status {
        pen.ledger.dropped(status.pos(), Code::Status).info();
    }
    if let Some(phase) = phase {
        pen.ledger.dropped(phase.pos(), Code::Phase).info();
    }
    pen.ledger.only(extra);
}
