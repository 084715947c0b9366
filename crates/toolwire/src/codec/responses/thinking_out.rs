//! Reasoning settings: model to wire.

use crate::codec::context::EncodeContext;
use crate::codec::openai;
use crate::ledger::{Code, Ledger};
use crate::model::{Display, Effort, Thinking, ThinkingMode};
use crate::wire::{At, Object, Pos, Str};

/// Writes `reasoning`, unless it would be empty.
pub(super) fn write_thinking(
    thinking: &Thinking<'_>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Thinking { at, effort, mode, budget, display, extra } = thinking;
    let place = effort.as_ref().map(|effort| effort.pos).or(budget.map(|budget| budget.pos));
    let wanted = self::effort(effort.as_ref(), mode.as_ref(), budget.as_ref(), cx);
    let effort = wanted.and_then(|effort| openai::fit_effort(effort, place.unwrap_or(*at), cx));
    cx.thinks = effort.as_ref().is_some_and(|effort| *effort != Effort::None);
    let summary = match cx.profile.model.never_thinks() {
        true => lose_summary(display.as_ref(), cx.ledger),
        false => summary(display.as_ref(), mode.as_ref(), cx.ledger),
    };
    cx.ledger.only(extra);
    if effort.is_none() && summary.is_none() {
        return;
    }
    let mut reasoning = object.object("reasoning");
    reasoning.maybe("effort", effort.as_ref().map(Effort::name).as_ref());
    reasoning.maybe("summary", summary.as_ref());
}

/// The effort that is nearest to a thinking mode, a budget and an effort, which
/// Messages has separately.
fn effort<'r>(
    effort: Option<&'r At<Effort<'_>>>,
    mode: Option<&At<ThinkingMode<'_>>>,
    budget: Option<&At<u64>>,
    cx: &mut EncodeContext<'_>,
) -> Option<Effort<'r>> {
    let never_thinks = cx.profile.model.never_thinks();
    let ledger = &mut *cx.ledger;
    match mode.map(|mode| &mode.value) {
        Some(ThinkingMode::Disabled) => {
            if let Some(effort) = effort {
                ledger
                    .degraded(effort.pos, Code::Effort)
                    .detail("The target has one setting for effort and thinking, which is off.");
            }
            if let Some(budget) = budget {
                ledger
                    .emulated(budget.pos, Code::ThinkingBudget)
                    .detail("Thinking is off, so its budget says nothing.");
            }
            ledger.emulated(mode.map_or(Pos::NONE, |mode| mode.pos), Code::ThinkingMode);
            return Some(Effort::None);
        }
        Some(ThinkingMode::BetweenTools | ThinkingMode::Other(_)) => {
            ledger.degraded(mode.map_or(Pos::NONE, |mode| mode.pos), Code::ThinkingMode);
        }
        Some(ThinkingMode::Adaptive | ThinkingMode::Enabled) if never_thinks => {
            let note = ledger.dropped(mode.map_or(Pos::NONE, |mode| mode.pos), Code::ThinkingMode);
            note.detail("The model does not reason.");
        }
        Some(ThinkingMode::Adaptive | ThinkingMode::Enabled) => {
            ledger
                .emulated(mode.map_or(Pos::NONE, |mode| mode.pos), Code::ThinkingMode)
                .detail("The target's models think unless told not to.");
        }
        None => {}
    }
    match (effort, budget) {
        (Some(effort), budget) => {
            ledger.lost(&budget, Code::ThinkingBudget);
            Some(borrow(&effort.value))
        }
        (None, Some(budget)) => {
            ledger.degraded(budget.pos, Code::ThinkingBudget);
            Some(openai::effort_for(budget.value))
        }
        (None, None) => None,
    }
}

fn borrow<'r>(effort: &'r Effort<'_>) -> Effort<'r> {
    Effort::parse(effort.name())
}

/// What the client wants to see of the reasoning. Messages shows it if thinking
/// is on, Responses only if asked.
fn summary<'r>(
    display: Option<&'r At<Display<'_>>>,
    mode: Option<&At<ThinkingMode<'_>>>,
    ledger: &mut Ledger,
) -> Option<Str<'r>> {
    let thinks = match mode.map(|mode| &mode.value) {
        Some(ThinkingMode::Adaptive | ThinkingMode::Enabled | ThinkingMode::BetweenTools) => true,
        Some(ThinkingMode::Disabled | ThinkingMode::Other(_)) | None => false,
    };
    match display.map(|display| &display.value) {
        Some(Display::Other(word)) => {
            ledger.dropped(word.pos(), Code::ReasoningDisplay);
            thinks.then(|| Str::plain("auto"))
        }
        Some(Display::Omitted) => {
            let at = display.map_or(Pos::NONE, |display| display.pos);
            ledger
                .emulated(at, Code::ReasoningDisplay)
                .detail("The target shows nothing unless asked.");
            None
        }
        Some(display) => summary_word(display),
        None => thinks.then(|| Str::plain("auto")),
    }
}

/// What the client wants to see of reasoning that there is none of. OpenAI refuses
/// `reasoning` for a model that does not reason.
fn lose_summary(display: Option<&At<Display<'_>>>, ledger: &mut Ledger) -> Option<Str<'static>> {
    let At { pos, value } = display?;
    match value {
        Display::Omitted => ledger.emulated(*pos, Code::ReasoningDisplay),
        Display::Summary | Display::Concise | Display::Detailed | Display::Other(_) => {
            ledger.dropped(*pos, Code::ReasoningDisplay)
        }
    }
    .detail("The model does not reason, so there is nothing to show.");
    None
}

/// `reasoning.summary` for what the client wants to see.
pub(super) fn summary_word<'r>(display: &'r Display<'_>) -> Option<Str<'r>> {
    match display {
        Display::Summary => Some(Str::plain("auto")),
        Display::Concise => Some(Str::plain("concise")),
        Display::Detailed => Some(Str::plain("detailed")),
        Display::Omitted => None,
        Display::Other(word) => Some(word.borrowed()),
    }
}
