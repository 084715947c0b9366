//! Why an answer stopped: wire to model.

use super::wire::IncompleteDetails;
use crate::model::{Item, Stop, Turn};

/// Why an answer is incomplete.
pub(super) fn incomplete(details: Option<IncompleteDetails<'_>>) -> Stop<'_> {
    let Some(IncompleteDetails { at: _, reason: Some(reason), extra: _ }) = details else {
        return Stop::MaxTokens;
    };
    match reason.decode().as_ref() {
        "max_output_tokens" => Stop::MaxTokens,
        "content_filter" => Stop::ContentFilter,
        "steered" => Stop::Steered,
        _unknown => Stop::Other(reason.clone()),
    }
}

/// `completed` does not say what the model waits for; its items do.
pub(super) fn finished<'a>(turns: &[Turn<'_>]) -> Stop<'a> {
    let mut refused = false;
    for item in turns.iter().flat_map(|turn| &turn.items) {
        if let Item::Call(_) = item {
            return Stop::ToolCalls;
        }
        refused |= matches!(item, Item::Refusal(_));
    }
    if refused { Stop::Refusal { category: None, explanation: None } } else { Stop::EndTurn }
}
