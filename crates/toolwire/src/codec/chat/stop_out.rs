//! Why the model stopped: writing it.

use crate::ledger::{Code, Ledger};
use crate::model::{Protocol, Stop};
use crate::wire::{At, Str};

/// Chat's word for why an answer stopped, given whether it has calls.
pub(super) fn finish_reason(
    stop: &Stop<'_>,
    origin: Protocol,
    calls: bool,
    legacy: bool,
) -> &'static str {
    // A truncated call must not look like one that can be run.
    let cut = matches!(stop, Stop::MaxTokens | Stop::ContextWindow | Stop::Failed(_));
    if !calls || cut {
        base_reason(stop, origin)
    } else if legacy {
        "function_call"
    } else {
        "tool_calls"
    }
}

/// Reports what the word leaves out.
pub(super) fn report_losses(stop: &At<Stop<'_>>, origin: Protocol, ledger: &mut Ledger) {
    let pos = stop.pos;
    match &stop.value {
        Stop::EndTurn | Stop::ToolCalls | Stop::MaxTokens | Stop::ContentFilter => {}
        Stop::ContextWindow => {
            ledger.degraded(pos, Code::StopReason).info();
        }
        Stop::StopSequence(text) => {
            let pos = text.as_ref().map_or(pos, Str::pos);
            ledger.degraded(pos, Code::StopReason).info();
        }
        Stop::Refusal { category, explanation: _ } => {
            if let Some(category) = category {
                ledger.dropped(category.pos(), Code::StopReason);
            } else if origin.conventions().filter_declines_as_model {
                ledger.degraded(pos, Code::StopReason).info();
            }
        }
        Stop::Paused => {
            ledger.degraded(pos, Code::Paused);
        }
        Stop::Compaction | Stop::Cancelled | Stop::Steered | Stop::Other(_) => {
            ledger.degraded(pos, Code::StopReason);
        }
        Stop::Running => {
            let note = ledger.refused(pos, Code::Background);
            note.detail("The model has not finished, and the target cannot say so.");
        }
        // A failure must not look like an answer.
        Stop::Failed(error) => {
            ledger.refused(pos, Code::StopReason).detail(error.message.clone());
        }
    }
}

/// Chat's word for a reason to stop, leaving aside that there may be calls.
fn base_reason(stop: &Stop<'_>, origin: Protocol) -> &'static str {
    match stop {
        Stop::ToolCalls => "tool_calls",
        Stop::MaxTokens | Stop::ContextWindow | Stop::Cancelled | Stop::Steered => "length",
        Stop::ContentFilter => "content_filter",
        // An answer in which the model declines ends like any other. If the
        // vendor uses the same word when its filter declines, it may be either.
        Stop::Refusal { category: _, explanation: _ }
            if origin.conventions().filter_declines_as_model =>
        {
            "content_filter"
        }
        Stop::EndTurn
        | Stop::StopSequence(_)
        | Stop::Refusal { category: _, explanation: _ }
        | Stop::Paused
        | Stop::Compaction
        | Stop::Running
        | Stop::Failed(_)
        | Stop::Other(_) => "stop",
    }
}
