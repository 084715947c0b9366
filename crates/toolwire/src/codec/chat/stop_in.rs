//! Why the model stopped: reading it.

use super::stream_in::json_balance::JsonBalance;
use crate::model::{ApiError, Arguments, ErrorKind, Item, Retry, Stop};
use crate::wire::Str;

/// Why the model stopped.
pub(super) fn read<'a>(word: Option<Str<'a>>, items: &[Item<'a>]) -> Stop<'a> {
    let calls = || items.iter().filter_map(Item::call);
    let said = Said {
        calls: calls().next().is_some(),
        cut: calls().any(|call| is_cut(&call.arguments)),
        refused: items.iter().any(|item| matches!(item, Item::Refusal(_))),
    };
    of_word(word, said)
}

/// What an answer has, as far as it decides why the model stopped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    /// Whether there are calls.
    pub(super) calls: bool,
    /// Whether the arguments of a call have no end.
    pub(super) cut: bool,
    /// Whether there is a refusal.
    pub(super) refused: bool,
}

/// Like [`read`], for an answer of which only this is known.
///
/// A forced call of a named function ends with `stop`, and vendors vary, so the
/// presence of calls decides how an answer is finished that says it is.
/// vectors/responses/chat-forced-call-stop
pub(super) fn of_word<'a>(word: Option<Str<'a>>, said: Said) -> Stop<'a> {
    let Some(word) = word.filter(|word| !word.is_empty()) else { return said.finished() };
    let kind = match ending(&word.decode()) {
        Some(Ending::Finished) => return said.finished(),
        Some(Ending::Limit) => return Stop::MaxTokens,
        Some(Ending::Context) => return Stop::ContextWindow,
        Some(Ending::Filter) => return Stop::ContentFilter,
        Some(Ending::Failed(kind)) => kind,
        // A word that nobody has explained may mean that the answer was broken off.
        None if said.cut => ErrorKind::Truncated,
        None => return Stop::Other(word),
    };
    Stop::Failed(Box::new(broken_off(kind, &word.decode())))
}

impl Said {
    fn finished<'a>(self) -> Stop<'a> {
        if self.calls {
            Stop::ToolCalls
        } else if self.refused {
            Stop::Refusal { category: None, explanation: None }
        } else {
            Stop::EndTurn
        }
    }
}

/// What the vendors mean by a word.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// The answer is finished.
    Finished,
    /// A limit that the request set was reached.
    Limit,
    /// The context of the model was full.
    Context,
    /// A filter of the vendor's stopped the model.
    Filter,
    /// The vendor broke the answer off, or it cannot be used.
    Failed(ErrorKind),
}

/// The words of the vendors, in lower case. Beside OpenAI's they are from DeepSeek
/// (`insufficient_system_resource`), Z.ai (`sensitive`, `network_error`,
/// `model_context_window_exceeded`), vLLM and SGLang (`abort`, `repetition`, `error`),
/// TGI (`eos_token`, `stop_sequence`), Mistral (`model_length`, `error`), OpenRouter
/// (`error`), Cohere (`complete`, `error_toxic`, `user_cancel`, and `error_limit` for a
/// full context), watsonx (`time_limit`), MiMo (`repetition_truncation`), Bedrock
/// (`content_filtered`, `guardrail_intervened`, `malformed_…`) and Gemini (`safety`,
/// `malformed_function_call`, …).
const WORDS: [(&str, Ending); 56] = [
    ("stop", Ending::Finished),
    ("tool_calls", Ending::Finished),
    ("function_call", Ending::Finished),
    ("end_turn", Ending::Finished),
    ("tool_use", Ending::Finished),
    ("tool_call", Ending::Finished),
    ("stop_sequence", Ending::Finished),
    ("eos", Ending::Finished),
    ("eos_token", Ending::Finished),
    ("complete", Ending::Finished),
    ("length", Ending::Limit),
    ("max_tokens", Ending::Limit),
    ("repetition", Ending::Limit),
    ("repetition_truncation", Ending::Limit),
    ("error_limit", Ending::Context),
    ("model_length", Ending::Context),
    ("model_context_window_exceeded", Ending::Context),
    ("content_filter", Ending::Filter),
    ("content_filtered", Ending::Filter),
    ("guardrail_intervened", Ending::Filter),
    ("sensitive", Ending::Filter),
    ("safety", Ending::Filter),
    ("recitation", Ending::Filter),
    ("blocklist", Ending::Filter),
    ("prohibited_content", Ending::Filter),
    ("spii", Ending::Filter),
    ("model_armor", Ending::Filter),
    ("error_toxic", Ending::Filter),
    ("image_prohibited_content", Ending::Filter),
    ("image_recitation", Ending::Filter),
    ("image_safety", Ending::Filter),
    ("language", Ending::Filter),
    ("insufficient_system_resource", Ending::Failed(ErrorKind::Overloaded)),
    ("overloaded", Ending::Failed(ErrorKind::Overloaded)),
    ("timeout", Ending::Failed(ErrorKind::Timeout)),
    ("time_limit", Ending::Failed(ErrorKind::Timeout)),
    ("network_error", Ending::Failed(ErrorKind::Truncated)),
    ("abort", Ending::Failed(ErrorKind::Truncated)),
    ("aborted", Ending::Failed(ErrorKind::Truncated)),
    ("cancel", Ending::Failed(ErrorKind::Truncated)),
    ("canceled", Ending::Failed(ErrorKind::Truncated)),
    ("cancelled", Ending::Failed(ErrorKind::Truncated)),
    ("user_cancel", Ending::Failed(ErrorKind::Truncated)),
    ("incomplete", Ending::Failed(ErrorKind::Truncated)),
    ("error", Ending::Failed(ErrorKind::Server)),
    ("failed", Ending::Failed(ErrorKind::Server)),
    ("internal_error", Ending::Failed(ErrorKind::Server)),
    ("server_error", Ending::Failed(ErrorKind::Server)),
    ("malformed_function_call", Ending::Failed(ErrorKind::UnusableAnswer)),
    ("malformed_model_output", Ending::Failed(ErrorKind::UnusableAnswer)),
    ("malformed_response", Ending::Failed(ErrorKind::UnusableAnswer)),
    ("malformed_tool_use", Ending::Failed(ErrorKind::UnusableAnswer)),
    ("no_image", Ending::Failed(ErrorKind::UnusableAnswer)),
    ("missing_thought_signature", Ending::Failed(ErrorKind::InvalidRequest)),
    ("too_many_tool_calls", Ending::Failed(ErrorKind::UnusableAnswer)),
    ("unexpected_tool_call", Ending::Failed(ErrorKind::UnusableAnswer)),
];

/// What a word means, if it is known. Gemini's endpoint writes its own word behind one
/// that is like OpenAI's: `function_call_filter: MALFORMED_FUNCTION_CALL`.
fn ending(word: &str) -> Option<Ending> {
    let known = |word: &str| {
        let found = WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
        found.map(|(_, ending)| *ending)
    };
    let parts = || word.split_once(": ");
    known(word).or_else(|| known(parts()?.1)).or_else(|| known(parts()?.0))
}

/// The error of an answer that was broken off.
fn broken_off(kind: ErrorKind, word: &str) -> ApiError {
    if word == "error" {
        let message = "The upstream stopped with an error that it did not explain.";
        return ApiError::new(kind, message);
    }
    // It is the upstream's word, and nothing says how long it is.
    let shown: String = word.chars().take(80).collect();
    let advice = match kind.retry() {
        Retry::Never => "",
        Retry::Later | Retry::After(_) => " Send the request again.",
    };
    let message = format!(
        "The upstream broke its answer off (`finish_reason` is `{shown}`). What came so far is \
         not complete.{advice}"
    );
    let mut error = ApiError::new(kind, message);
    if kind == ErrorKind::Truncated {
        error.code = Some("upstream_truncated".to_owned());
    }
    if kind == ErrorKind::UnusableAnswer {
        error.code = Some("upstream_unusable_answer".to_owned());
    }
    error
}

/// Whether arguments have no end.
fn is_cut(arguments: &Arguments<'_>) -> bool {
    match arguments {
        Arguments::Text(text) => {
            let mut balance = JsonBalance::default();
            balance.push(text);
            balance.is_cut()
        }
        Arguments::Json(_) | Arguments::Freeform(_) | Arguments::Native(_, _) => false,
    }
}
