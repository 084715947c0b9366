//! What is known about a model, where OpenAI's protocols write a request.

use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::Effort;
use crate::wire::{Pos, Str};

/// The effort as the model takes it, if it takes one. Reports what changed.
pub(crate) fn fit_effort<'e>(
    effort: Effort<'e>,
    at: Pos,
    cx: &mut EncodeContext<'_>,
) -> Option<Effort<'e>> {
    let Some(known) = cx.profile.model.efforts.map(|fact| fact.value) else { return Some(effort) };
    // A word that nobody knows is the upstream's to judge.
    if matches!(effort, Effort::Other(_)) || known.contains(&effort) {
        return Some(effort);
    }
    match known.nearest(&effort) {
        Some(nearest) => {
            cx.ledger.degraded(at, Code::Effort);
            Some(Effort::parse(Str::plain(nearest)))
        }
        None => {
            let note = cx.ledger.dropped(at, Code::Effort);
            note.detail("The model takes no effort.");
            None
        }
    }
}

/// The effort that comes closest to a budget of tokens, which OpenAI has none of.
pub(crate) fn effort_for(budget: u64) -> Effort<'static> {
    match budget {
        0..=2_048 => Effort::Low,
        2_049..=8_192 => Effort::Medium,
        8_193..=24_576 => Effort::High,
        24_577..=u64::MAX => Effort::XHigh,
    }
}

/// Whether Chat takes an effort besides tools for this model.
pub(crate) fn takes_effort_with_tools(cx: &EncodeContext<'_>) -> bool {
    cx.profile.model.chat_tools_with_reasoning.is_none_or(|fact| fact.value)
}
