//! The facts about Messages and its vendor.

use crate::model::Protocol;
use crate::profile::Profile;
use crate::protocol::{Auth, Conventions, Description, Endpoint, RateLimitHeaders, Reset, Vendor};
use crate::wire::ids::IdRule;
use crate::wire::names::NameRule;

pub(super) static DESCRIPTION: Description = Description {
    name: "messages",
    title: "Anthropic Messages",
    vendor: &VENDOR,
    prefix: "/v1",
    answers: Endpoint::fixed("/v1/messages"),
    token_count: Some(Endpoint::fixed("/v1/messages/count_tokens")),
    models_query: MODELS_QUERY,
    counts_input_first: true,
    answer_member: "content",
    model_member: "model",
    error_member: "error",
    conversation_members: &["system", "messages"],
    limit_members: &["max_tokens"],
    tool_members: &["tools", "functions"],
    choice_members: &["tool_choice"],
    echoes_request: false,
    streamed_errors: &[],
    conventions: Conventions {
        formats_are_strict: true,
        tools_try_strict: false,
        filter_declines_as_model: true,
        standard_tiers: &["standard", "standard_only"],
        answers_are_items: false,
        created_member: "created_at",
    },
};

static VENDOR: Vendor = Vendor {
    name: "anthropic",
    auth: Auth::KeyHeader {
        header: "x-api-key",
        key_prefix: "sk-ant-",
        token_prefix: "sk-ant-oat",
    },
    version: Some(("anthropic-version", "2023-06-01")),
    request_id: "request-id",
    client_request_id: None,
    request_headers: &["idempotency-key"],
    response_headers: &[
        "anthropic-ratelimit-",
        "anthropic-organization-id",
        "anthropic-workspace-id",
    ],
    feature_header: "anthropic-beta",
    known_features: &[
        "advanced-tool-use",
        "advisor-tool",
        "cache-diagnosis",
        "claude-code",
        "code-execution",
        "compact",
        "computer-use",
        "context-management",
        "effort",
        "extended-cache-ttl",
        "fast-mode",
        "files-api",
        "fine-grained-tool-streaming",
        "inline-tools",
        "interleaved-thinking",
        "mcp-client",
        "message-batches",
        "message-threads",
        "mid-conversation-output-config",
        "mid-conversation-system",
        "mid-conversation-system-clear-at",
        "mid-conversation-tool-changes",
        "model-context-window-exceeded",
        "pdfs",
        "prompt-caching",
        "prompt-caching-scope",
        "server-side-fallback",
        "skills",
        "structured-outputs",
        "task-budgets",
        "thinking-binding-controls",
        "thinking-display-updates",
        "thinking-token-count",
        "token-counting",
        "token-efficient-tools",
        "tool-search-tool",
        "user-profiles",
        "web-fetch",
    ],
    account_headers: &["anthropic-user-profile-id", "anthropic-workspace-id"],
    rate_limits: RateLimitHeaders {
        name: "anthropic-ratelimit-{kind}-{figure}",
        kinds: ["requests", "tokens", "input-tokens"],
        reset: Reset::Timestamp,
    },
    should_retry: None,
};

/// The feature that allows system turns inside the conversation.
pub(super) const MID_CONVERSATION_SYSTEM: &str = "mid-conversation-system-2026-04-07";

pub(super) fn profile() -> Profile {
    let mut profile = Profile::permissive(Protocol::Messages, NameRule::MESSAGES, IdRule::MESSAGES);
    profile.freeform_tools = false;
    profile.web_search = true;
    profile.tool_search = true;
    profile.allowed_tools = false;
    profile.sampling = false;
    profile.temperature_with_top_p = false;
    profile
}

/// The longest page that the vendor documents.
pub(super) const MODELS_QUERY: &str = "limit=1000";
