//! What OpenAI's protocols share.

mod arguments_in;
pub(crate) mod base_resp_in;
pub(super) mod error_in;
pub(super) mod error_out;
mod file_name_out;
mod model_facts_out;
pub(super) mod models_in;
pub(super) mod models_out;

pub(super) use file_name_out::write_file_name;
pub(super) use model_facts_out::{effort_for, fit_effort, takes_effort_with_tools};

use crate::protocol::{Auth, RateLimitHeaders, Reset, Vendor};

/// Who defined Chat Completions and Responses.
pub(super) static VENDOR: Vendor = Vendor {
    name: "openai",
    auth: Auth::Bearer,
    version: None,
    request_id: "x-request-id",
    client_request_id: Some("x-client-request-id"),
    request_headers: &["idempotency-key", "x-codex-"],
    response_headers: &[
        "openai-model",
        "openai-organization",
        "openai-processing-ms",
        "openai-project",
        "openai-version",
        "x-codex-",
        "x-models-etag",
        "x-ratelimit-",
        "x-reasoning-included",
    ],
    feature_header: "openai-beta",
    known_features: &["assistants", "responses", "responses_websockets"],
    account_headers: &["openai-organization", "openai-project"],
    rate_limits: RateLimitHeaders {
        name: "x-ratelimit-{figure}-{kind}",
        kinds: ["requests", "tokens", "tokens"],
        reset: Reset::Duration,
    },
    should_retry: Some("x-should-retry"),
};
