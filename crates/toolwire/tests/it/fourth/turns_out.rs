//! The conversation: from the model to the protocol.

use std::collections::BTreeSet;

use toolwire::codec::context::EncodeContext;
use toolwire::model::{Item, ResultKind, Role, Slot, ToolResult, Turn};
use toolwire::thread::{Paired, ResultMatch, Step, Thread};
use toolwire::wire::{Array, Object};
use toolwire::{Code, Ledger, native};

use super::{calls_out, content_out, reasoning_out};

/// Writes `charter` and `dialogue`.
pub(super) fn encode(
    turns: &[Turn<'_>],
    wrapped: &BTreeSet<String>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    // Results are written apart from the turns they stood in, so what turns
    // lose is reported for all of them here.
    for turn in turns {
        lose_labels(turn, cx.ledger);
    }
    let thread = Thread::new(turns, cx.origin, cx.profile.ids, cx.ledger);
    let steps = thread.steps(turns, cx.ledger);
    let mut steps = steps.as_slice();
    if let [Step::System(turn), rest @ ..] = steps
        && turn.slot == Slot::Top
    {
        content_out::encode(&turn.items, object.key("charter"), cx);
        steps = rest;
    }
    let mut list = object.array("dialogue");
    for step in steps {
        match step {
            Step::System(turn) if is_declaration(turn) => {}
            Step::System(turn) => {
                let mut entry = content_out::entry(list.item(), "guide");
                content_out::encode(&turn.items, entry.key("says"), cx);
            }
            Step::User { turn, fates } => {
                let fates = thread.fates.get(fates.clone()).unwrap_or_default();
                write_user(turn, fates, &mut list, cx);
            }
            Step::Assistant { turns, calls } => {
                let calls = thread.calls.get(calls.clone()).unwrap_or_default();
                write_machine(turns, calls, wrapped, &mut list, cx);
            }
            Step::Results(order) => {
                for paired in order.iter().filter_map(|index| thread.calls.get(*index)) {
                    write_result(paired, &mut list, cx);
                }
            }
        }
    }
}

/// Whether a turn does nothing but declare tools, which are sent elsewhere.
fn is_declaration(turn: &Turn<'_>) -> bool {
    !turn.items.is_empty() && turn.items.iter().all(|item| matches!(item, Item::Tools(_)))
}

fn write_user(
    turn: &Turn<'_>,
    fates: &[ResultMatch],
    list: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let mut fates = fates.iter();
    let mut said: Vec<Item<'_>> = Vec::new();
    for item in &turn.items {
        match item {
            Item::Result(result) => {
                // The model is told a result that answers no call as the user's
                // words.
                if fates.next() == Some(&ResultMatch::Orphan) {
                    said.extend(result.content.iter().cloned());
                    cx.ledger.only(&result.extra);
                }
            }
            Item::Tools(_) => {}
            Item::Text(_)
            | Item::Image(_)
            | Item::Document(_)
            | Item::Audio(_)
            | Item::SearchResult(_)
            | Item::Refusal(_)
            | Item::Reasoning(_)
            | Item::Call(_)
            | Item::Hosted(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_) => said.push(item.clone()),
        }
    }
    let mut entry = content_out::entry(list.item(), "human");
    content_out::encode(&said, entry.key("says"), cx);
}

fn write_machine(
    turns: &[&Turn<'_>],
    calls: &[Paired<'_, '_>],
    wrapped: &BTreeSet<String>,
    list: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    if !cx.conventions().answers_are_items {
        for turn in turns.iter().skip(1) {
            cx.ledger.degraded(turn.at, Code::MessageBoundary).info();
        }
    }
    let mut entry = content_out::entry(list.item(), "machine");
    let mut pieces = entry.array("says");
    let mut calls = calls.iter();
    for item in turns.iter().flat_map(|turn| &turn.items) {
        match item {
            Item::Call(_) => {
                if let Some(paired) = calls.next() {
                    calls_out::encode(paired, wrapped, &mut pieces, cx);
                }
            }
            Item::Reasoning(reasoning) => {
                reasoning_out::encode_history(reasoning, &mut pieces, cx.ledger);
            }
            // A result inside the model's turn is written behind it.
            Item::Result(_) | Item::Tools(_) => {}
            Item::Text(_)
            | Item::Image(_)
            | Item::Document(_)
            | Item::Audio(_)
            | Item::SearchResult(_)
            | Item::Refusal(_)
            | Item::Hosted(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_) => {
                let same_vendor = cx.same_vendor();
                content_out::write_piece(item, same_vendor, &mut pieces, cx.ledger);
            }
        }
    }
}

/// Writes the result of a call, or one that says there is none.
fn write_result(paired: &Paired<'_, '_>, list: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
    let mut entry = content_out::entry(list.item(), "tool");
    entry.put("ref", &paired.id);
    let Some(result) = paired.result else {
        entry.put("gave", "no result supplied");
        entry.put("failed", &true);
        return;
    };
    let ToolResult { at, call_id: _, name, namespace, kind, content, is_error, cache, extra } =
        result;
    for label in [name, namespace].into_iter().flatten() {
        cx.ledger.dropped(label.pos(), Code::ResultName).info();
    }
    let rendered = match kind {
        ResultKind::Native(_) => native::result_text(result),
        ResultKind::Function | ResultKind::Freeform => None,
    };
    match rendered {
        Some(text) => {
            cx.ledger.emulated(*at, Code::NativeToolWrapped);
            entry.put("gave", &text);
        }
        None => content_out::encode(content, entry.key("gave"), cx),
    }
    entry.maybe("failed", is_error.as_ref());
    content_out::lose_cache(cache.as_ref(), cx.ledger);
    cx.ledger.only(extra);
}

/// Reports what a turn has beside its content and the protocol has no room for.
pub(super) fn lose_labels(turn: &Turn<'_>, ledger: &mut Ledger) {
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
    let labels = [
        (id, Code::ItemId),
        (name, Code::MessageName),
        (status, Code::Status),
        (phase, Code::Phase),
    ];
    for (label, code) in labels {
        if let Some(label) = label {
            ledger.dropped(label.pos(), code).info();
        }
    }
    ledger.only(extra);
}
