//! Why the model stopped: reading it.

use crate::model::{Item, Stop};
use crate::wire::Str;

/// Why the model stopped. A forced call of a named function ends with `stop`,
/// and vendors vary, so the presence of calls decides.
/// vectors/responses/chat-forced-call-stop
pub(super) fn read<'a>(word: Option<Str<'a>>, items: &[Item<'a>]) -> Stop<'a> {
    let calls = items.iter().any(|item| matches!(item, Item::Call(_)));
    let refused = items.iter().any(|item| matches!(item, Item::Refusal(_)));
    of_word(word, calls, refused)
}

/// Like [`read`], for an answer that is known to have calls or refusals or not.
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
