//! What the documents and tool definitions of Messages look like.

use crate::guess::{Certainty, DocumentKind, Fields};
use crate::registry::ToolForm;
use crate::wire::Kind;

pub(super) fn document(fields: &Fields<'_>) -> Option<(DocumentKind, Certainty)> {
    let kind = fields.text("type");
    let kind = kind.as_deref().unwrap_or_default();
    if kind == "message" || fields.has("stop_reason") {
        return Some((DocumentKind::Response, Certainty::Certain));
    }
    if kind == "error" {
        return Some((DocumentKind::Error, Certainty::Certain));
    }
    fields.is("messages", Kind::Array).then(|| (DocumentKind::Request, request(fields)))
}

pub(super) fn event(kind: &str, _data: &str) -> bool {
    matches!(kind, "message_start" | "ping")
}

pub(super) fn tool(fields: &Fields<'_>) -> Option<(ToolForm, Certainty)> {
    let form = match fields.text("type").as_deref() {
        None | Some("custom") if fields.get("input_schema").is_some() => ToolForm::Callable,
        Some(kind) if kind == "mcp_toolset" || is_dated(kind) => ToolForm::Fixed(None),
        Some(_) | None => return None,
    };
    Some((form, Certainty::Certain))
}

/// Vendors borrow the names of each other's members, so the conversation, the
/// tools and the choice tell more.
fn request(fields: &Fields<'_>) -> Certainty {
    let part = |part: &Fields<'_>| part.text("type").is_some_and(|kind| PARTS.contains(&&*kind));
    let turn = |turn: &Fields<'_>| turn.list("content").iter().any(part);
    let tools = fields.list("tools");
    let choice = fields.get("tool_choice").and_then(Fields::of);
    let choice = choice.and_then(|choice| choice.text("type"));
    if fields.has("system")
        || fields.list("messages").iter().any(turn)
        || tools.iter().any(|tool| self::tool(tool).is_some())
        || matches!(choice.as_deref(), Some("auto" | "any" | "tool" | "none"))
    {
        return Certainty::Certain;
    }
    // `max_tokens` is required here and deprecated elsewhere, so it decides if
    // the names are even.
    Certainty::Likely(2 * fields.count(MEMBERS) + fields.count(&["max_tokens"]))
}

/// Whether a type ends in a date, as the versions of the vendor's own tools do:
/// `bash_20250124`.
fn is_dated(kind: &str) -> bool {
    let date = kind.rsplit_once('_').map(|(_, date)| date).unwrap_or_default();
    date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())
}

/// Content that other protocols with `messages` do not have.
const PARTS: &[&str] = &[
    "document", "image", "redacted_thinking", "search_result", "server_tool_use", "thinking",
    "tool_result", "tool_use",
];

/// Members of a request that other protocols with `messages` do not have.
const MEMBERS: &[&str] = &[
    "anthropic_version", "betas", "cache_control", "compaction", "container", "context_management",
    "diagnostics", "fallbacks", "inference_geo", "mcp_servers", "output_config", "output_format",
    "speed", "stop_sequences", "thinking", "thread", "top_k", "user_profile_id",
];
