//! Thinking settings: writing them as Chat's effort.

use crate::codec::context::EncodeContext;
use crate::codec::openai;
use crate::ledger::Code;
use crate::model::{Effort, Thinking, ThinkingMode};
use crate::wire::{At, Object, Pos};

/// Writes how hard the model is to think. Chat has words for that, but no budget.
pub(super) fn put_thinking(
    object: &mut Object<'_>,
    thinking: &Thinking<'_>,
    sends_tools: bool,
    cx: &mut EncodeContext<'_>,
) {
    let Thinking { at: _, effort, mode, budget, display, extra } = thinking;
    cx.ledger.only(extra);
    let disabled = matches!(mode, Some(At { pos: _, value: ThinkingMode::Disabled }));
    let level = match (effort, budget) {
        (Some(effort), budget) => {
            cx.ledger.lost(budget, Code::ThinkingBudget);
            Some(At { pos: effort.pos, value: Effort::parse(effort.value.name()) })
        }
        (None, Some(budget)) if !disabled => {
            cx.ledger.degraded(budget.pos, Code::ThinkingBudget);
            Some(At { pos: budget.pos, value: openai::effort_for(budget.value) })
        }
        (None, Some(budget)) => {
            let note = cx.ledger.emulated(budget.pos, Code::ThinkingBudget);
            note.detail("Thinking is off, so its budget says nothing.");
            Some(At { pos: budget.pos, value: Effort::None })
        }
        (None, None) if disabled => {
            let pos = mode.as_ref().map_or(Pos::NONE, |mode| mode.pos);
            Some(At { pos, value: Effort::None })
        }
        (None, None) => None,
    };
    if let Some(At { pos, value }) = level {
        put_effort(object, value, pos, sends_tools, cx);
    }
    if let Some(At { pos, value }) = mode {
        match value {
            ThinkingMode::Disabled if effort.is_none() => {
                cx.ledger.emulated(*pos, Code::ThinkingMode)
            }
            // Thinking with a budget is reported with the budget.
            ThinkingMode::Enabled => cx.ledger.dropped(*pos, Code::ThinkingMode).info(),
            ThinkingMode::Disabled
            | ThinkingMode::Adaptive
            | ThinkingMode::BetweenTools
            | ThinkingMode::Other(_) => cx.ledger.dropped(*pos, Code::ThinkingMode),
        };
    }
    cx.ledger.lost(display, Code::ReasoningDisplay);
}

/// Writes an effort as the model takes it.
fn put_effort(
    object: &mut Object<'_>,
    effort: Effort<'_>,
    at: Pos,
    sends_tools: bool,
    cx: &mut EncodeContext<'_>,
) {
    let reasons = effort != Effort::None;
    if reasons && sends_tools && !openai::takes_effort_with_tools(cx) {
        let note = cx.ledger.dropped(at, Code::Effort);
        note.detail("Chat takes no effort together with tools for this model.");
        return;
    }
    if let Some(effort) = openai::fit_effort(effort, at, cx) {
        object.put("reasoning_effort", &effort.name());
        cx.thinks = effort != Effort::None;
    }
}
