//! Why the model stopped: from the model to Messages.

use crate::ledger::{Code, Ledger};
use crate::model::Stop;
use crate::wire::{At, Object, Str};

/// What of the content bears on the stop reason.
#[derive(Default)]
pub(super) struct AnswerSummary<'r> {
    /// How many calls there are.
    pub(super) calls: usize,
    /// The text of a refusal.
    pub(super) refusal: Option<&'r Str<'r>>,
}

/// Writes why the model stopped.
pub(super) fn write_stop(
    stop: &At<Stop<'_>>,
    summary: &AnswerSummary<'_>,
    object: &mut Object<'_>,
    ledger: &mut Ledger,
) {
    let At { pos, value } = stop;
    let reason = match value {
        Stop::EndTurn if summary.calls > 0 => "tool_use",
        Stop::EndTurn | Stop::ToolCalls if summary.refusal.is_some() && summary.calls == 0 => {
            "refusal"
        }
        Stop::EndTurn => "end_turn",
        Stop::ToolCalls => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::ContextWindow => "model_context_window_exceeded",
        Stop::StopSequence(_) => "stop_sequence",
        Stop::ContentFilter | Stop::Refusal { category: _, explanation: _ } => "refusal",
        Stop::Paused => "pause_turn",
        Stop::Compaction => "compaction",
        Stop::Cancelled | Stop::Steered => {
            ledger.degraded(*pos, Code::StopReason);
            "max_tokens"
        }
        Stop::Running => {
            let note = ledger.refused(*pos, Code::Background);
            note.detail("The model has not finished, and the target cannot say so.");
            "max_tokens"
        }
        Stop::Failed(error) => {
            let note = ledger.refused(*pos, Code::StopReason);
            note.detail(format!("The model failed: {}", error.message));
            "max_tokens"
        }
        Stop::Other(_) => {
            ledger.degraded(*pos, Code::StopReason);
            if summary.calls > 0 { "tool_use" } else { "end_turn" }
        }
    };
    object.put("stop_reason", reason);
    let sequence = if let Stop::StopSequence(text) = value { text.as_ref() } else { None };
    object.put("stop_sequence", &sequence);
    if reason == "refusal" {
        write_details(value, summary, object);
    }
}

fn write_details(stop: &Stop<'_>, summary: &AnswerSummary<'_>, object: &mut Object<'_>) {
    let (category, explanation) = if let Stop::Refusal { category, explanation } = stop {
        (category.as_ref(), explanation.as_ref())
    } else {
        (None, None)
    };
    let explanation = explanation.or(summary.refusal);
    let mut details = object.object("stop_details");
    details.put("type", "refusal");
    details.put("category", &category);
    details.put("explanation", &explanation);
}
