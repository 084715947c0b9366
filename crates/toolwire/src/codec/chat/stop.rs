//! Why the model stopped, both directions.

use crate::ledger::{Code, Ledger};
use crate::model::{Item, Protocol, Stop};
use crate::wire::{At, Str};

/// Why the model stopped. A named function that was forced ends with `stop`,
/// and vendors vary, so the presence of calls decides. vectors/responses/chat-forced-call-stop
pub(super) fn read<'a>(word: Option<Str<'a>>, items: &[Item<'a>]) -> Stop<'a> {
    let calls = items.iter().any(|item| matches!(item, Item::Call(_)));
    let refused = items.iter().any(|item| matches!(item, Item::Refusal(_)));
    of_word(word, calls, refused)
}

/// Like [`read`], for an answer of which it is known whether it calls and
/// whether it refuses.
pub(super) fn of_word<'a>(word: Option<Str<'a>>, calls: bool, refused: bool) -> Stop<'a> {
    let ended = if calls {
        Stop::ToolCalls
    } else if refused {
        Stop::Refusal { category: None, explanation: None }
    } else {
        Stop::EndTurn
    };
    let Some(word) = word else { return ended };
    match word.decode().as_ref() {
        "stop" | "tool_calls" | "function_call" | "eos" | "end_turn" | "tool_use" => ended,
        "length" | "max_tokens" => Stop::MaxTokens,
        "content_filter" => Stop::ContentFilter,
        other => {
            if calls && other != "error" {
                Stop::ToolCalls
            } else {
                Stop::Other(word)
            }
        }
    }
}

/// Chat's word for why the model stopped. Calls are decided by the caller.
pub(super) fn finish_reason(stop: &Stop<'_>, origin: Protocol) -> &'static str {
    match stop {
        Stop::ToolCalls => "tool_calls",
        Stop::MaxTokens | Stop::ContextWindow | Stop::Cancelled | Stop::Steered => "length",
        Stop::ContentFilter => "content_filter",
        // What the model itself declines ends like any answer. Where the
        // vendor's filter declines with the same word, it may be the filter.
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

/// Chat's word for why an answer stopped that has calls or has none.
pub(super) fn word(stop: &Stop<'_>, origin: Protocol, calls: bool, legacy: bool) -> &'static str {
    // A call that was cut must not look like one that can be run.
    let cut = matches!(stop, Stop::MaxTokens | Stop::ContextWindow | Stop::Failed(_));
    if !calls || cut {
        finish_reason(stop, origin)
    } else if legacy {
        "function_call"
    } else {
        "tool_calls"
    }
}

/// Reports what the word does not say.
pub(super) fn losses(stop: &At<Stop<'_>>, origin: Protocol, ledger: &mut Ledger) {
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
        Stop::Compaction | Stop::Cancelled | Stop::Steered | Stop::Running | Stop::Other(_) => {
            ledger.degraded(pos, Code::StopReason);
        }
        // A failure must not look like an answer.
        Stop::Failed(error) => {
            ledger.refused(pos, Code::StopReason).detail(error.message.clone());
        }
    }
}
