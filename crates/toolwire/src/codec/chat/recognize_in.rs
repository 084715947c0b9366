//! What Chat's documents and tool definitions look like.

use crate::codec::openai::base_resp_in::BASE_RESP;
use crate::guess::{Certainty, DocumentKind, Fields};
use crate::registry::ToolForm;
use crate::wire::{Kind, string_under};

pub(super) fn document(fields: &Fields<'_>) -> Option<(DocumentKind, Certainty)> {
    let object = fields.text("object");
    let object = object.as_deref().unwrap_or_default();
    let may_be_answer = object == "chat.completion" || fields.is("choices", Kind::Array);
    // Beside an error there may be an empty place for the answer.
    // vectors/errors/chat-vendor-null-choices
    if may_be_answer && !(is_error(fields) && fields.list("choices").is_empty()) {
        return Some((DocumentKind::Response, Certainty::Certain));
    }
    // vectors/errors/chat-vendor-context-length
    if object == "error" {
        return Some((DocumentKind::Error, Certainty::Certain));
    }
    if is_error(fields) {
        return Some((DocumentKind::Error, Certainty::Likely(0)));
    }
    fields.is("messages", Kind::Array).then(|| (DocumentKind::Request, request(fields)))
}

pub(super) fn event(_name: &str, data: &str) -> bool {
    string_under(data, &["object"]).is_some_and(|object| object == "chat.completion.chunk")
}

pub(super) fn tool(fields: &Fields<'_>) -> Option<(ToolForm, Certainty)> {
    let has = |name| fields.get(name).is_some();
    Some(match fields.text("type").as_deref() {
        Some("function") if has("function") => (ToolForm::Wrapped("function"), Certainty::Certain),
        Some("custom") if has("custom") => (ToolForm::Wrapped("custom"), Certainty::Certain),
        Some(_) => return None,
        None if has("function") || has("custom") => (ToolForm::Untyped, Certainty::Likely(0)),
        // Before there were tools, a function had no type and no wrapper.
        None => (ToolForm::Unwrapped("function"), Certainty::Possible),
    })
}

/// `detail` is what servers built on FastAPI have, and MiniMax has a report of its own.
/// vectors/errors/chat-vendor-minimax
fn is_error(fields: &Fields<'_>) -> bool {
    fields.is("error", Kind::Object)
        || fields.is("error", Kind::String)
        || fields.has("detail")
        || fields.is(BASE_RESP, Kind::Object)
}

/// Vendors borrow the names of each other's members, so the conversation, the
/// tools and the choice tell more.
fn request(fields: &Fields<'_>) -> Certainty {
    let messages = fields.list("messages");
    // Messages has system turns too, but never as the first.
    let starts = messages.first().and_then(|turn| turn.text("role")).as_deref() == Some("system");
    let tools = fields.list("tools");
    let is_own = |tool: &Fields<'_>| matches!(self::tool(tool), Some((_, Certainty::Certain)));
    if starts || messages.iter().any(turn) || tools.iter().any(is_own) || choice(fields) {
        return Certainty::Certain;
    }
    Certainty::Likely(2 * fields.count(MEMBERS))
}

fn turn(turn: &Fields<'_>) -> bool {
    matches!(turn.text("role").as_deref(), Some("developer" | "tool" | "function"))
        || turn.count(&["tool_calls", "tool_call_id", "function_call"]) > 0
        || turn.list("content").iter().any(|part| {
            let kind = part.text("type");
            matches!(kind.as_deref(), Some("image_url" | "input_audio" | "file" | "refusal"))
        })
}

fn choice(fields: &Fields<'_>) -> bool {
    let choice = fields.get("tool_choice").and_then(Fields::of);
    let kind = choice.and_then(|choice| choice.text("type"));
    matches!(kind.as_deref(), Some("function" | "custom" | "allowed_tools"))
        || fields.is("tool_choice", Kind::String)
}

/// Members of a request that other protocols with `messages` do not have.
const MEMBERS: &[&str] = &[
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "modalities",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "stop",
    "store",
    "stream_options",
    "top_logprobs",
    "user",
    "verbosity",
    "web_search_options",
];
