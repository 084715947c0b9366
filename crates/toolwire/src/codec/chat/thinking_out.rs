//! Thinking settings: writing them as Chat's effort.

use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::{Display, Effort, Thinking, ThinkingMode};
use crate::wire::{At, Object};

/// Writes how hard the model is to think. Chat has words for that, but no budget.
pub(super) fn put_thinking(
    object: &mut Object<'_>,
    thinking: &Thinking<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Thinking { at: _, effort, mode, budget, display, extra } = thinking;
    cx.ledger.only(extra);
    let disabled = matches!(mode, Some(At { pos: _, value: ThinkingMode::Disabled }));
    match (effort, budget) {
        (Some(effort), budget) => {
            object.put("reasoning_effort", &effort.value.name());
            cx.ledger.lost(budget, Code::ThinkingBudget);
        }
        (None, Some(budget)) if !disabled => {
            let effort = match budget.value {
                0..=2_048 => Effort::Low,
                2_049..=8_192 => Effort::Medium,
                8_193..=24_576 => Effort::High,
                24_577..=u64::MAX => Effort::XHigh,
            };
            object.put("reasoning_effort", &effort.name());
            cx.ledger.degraded(budget.pos, Code::ThinkingBudget);
        }
        (None, Some(budget)) => {
            object.put("reasoning_effort", &Effort::None.name());
            let note = cx.ledger.emulated(budget.pos, Code::ThinkingBudget);
            note.detail("Thinking is off, so its budget says nothing.");
        }
        (None, None) if disabled => object.put("reasoning_effort", &Effort::None.name()),
        (None, None) => {}
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
    if let Some(At { pos, value }) = display {
        match value {
            Display::Summary
            | Display::Concise
            | Display::Detailed
            | Display::Omitted
            | Display::Other(_) => cx.ledger.dropped(*pos, Code::ReasoningDisplay),
        };
    }
}
