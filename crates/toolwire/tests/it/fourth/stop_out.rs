//! Why the model stopped: from the model to the protocol.

use toolwire::model::Stop;
use toolwire::wire::{At, Object};
use toolwire::{Code, Ledger};

/// Writes `because` and `detail`.
pub(super) fn encode(
    stop: &At<Stop<'_>>,
    calls: bool,
    object: &mut Object<'_>,
    ledger: &mut Ledger,
) {
    let At { pos, value } = stop;
    let done = if calls { "tools" } else { "done" };
    let because = match value {
        Stop::EndTurn | Stop::ToolCalls => done,
        Stop::MaxTokens => "limit",
        Stop::ContextWindow => "window",
        Stop::StopSequence(_) => "stopped",
        Stop::ContentFilter => "filtered",
        Stop::Refusal { category: _, explanation: _ } => "declined",
        Stop::Paused => "paused",
        Stop::Cancelled => "cancelled",
        Stop::Compaction | Stop::Steered | Stop::Other(_) => {
            ledger.degraded(*pos, Code::StopReason);
            done
        }
        Stop::Running => {
            let note = ledger.refused(*pos, Code::Background);
            note.detail("The model has not finished, and the target cannot wait for it.");
            return;
        }
        Stop::Failed(error) => {
            let note = ledger.refused(*pos, Code::StopReason);
            note.detail(format!("The model failed: {}", error.message));
            return;
        }
    };
    object.put("because", because);
    match value {
        Stop::StopSequence(Some(text)) => object.object("detail").put("stop", text),
        Stop::Refusal { category, explanation } => {
            let mut detail = object.object("detail");
            detail.maybe("kind", category.as_ref());
            detail.maybe("why", explanation.as_ref());
        }
        Stop::EndTurn
        | Stop::ToolCalls
        | Stop::MaxTokens
        | Stop::ContextWindow
        | Stop::StopSequence(None)
        | Stop::ContentFilter
        | Stop::Paused
        | Stop::Compaction
        | Stop::Cancelled
        | Stop::Steered
        | Stop::Running
        | Stop::Failed(_)
        | Stop::Other(_) => {}
    }
}
