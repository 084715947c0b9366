//! The facts around the protocol, and its vendor.

use toolwire::Profile;
use toolwire::protocol::{
    Auth, Conventions, Description, Endpoint, RateLimitHeaders, Reset, Vendor,
};
use toolwire::wire::ids::IdRule;
use toolwire::wire::names::NameRule;

use super::FOURTH;

pub(crate) static DESCRIPTION: Description = Description {
    name: "fourth",
    title: "Example Dialogue",
    vendor: &VENDOR,
    prefix: "/v4",
    answers: Endpoint {
        path: "/v4/models/{model}:ask",
        stream_path: Some("/v4/models/{model}:stream"),
    },
    token_count: Some(Endpoint { path: "/v4/models/{model}:measure", stream_path: None }),
    models_query: "",
    counts_input_first: false,
    answer_member: "reply",
    model_member: "by",
    error_member: "fault",
    conversation_members: &["charter", "dialogue"],
    limit_members: &[],
    tool_members: &["instruments"],
    choice_members: &["must", "only", "alone"],
    echoes_request: false,
    streamed_errors: &[],
    conventions: Conventions {
        formats_are_strict: false,
        tools_try_strict: false,
        filter_declines_as_model: false,
        standard_tiers: &[],
        answers_are_items: false,
        created_member: "when",
    },
};

static VENDOR: Vendor = Vendor {
    name: VENDOR_NAME,
    auth: Auth::KeyHeader { header: "x-example-key", key_prefix: "ex-", token_prefix: "ex-token-" },
    version: Some(("x-example-version", "4")),
    request_id: "x-example-request",
    client_request_id: None,
    request_headers: &[],
    response_headers: &["x-example-"],
    feature_header: "x-example-features",
    known_features: &[],
    account_headers: &[],
    rate_limits: RateLimitHeaders {
        name: "x-example-{kind}-{figure}",
        kinds: ["asks", "tokens", "tokens"],
        reset: Reset::Duration,
    },
    should_retry: None,
};

/// The vendor's name, which is also the issuer of its sealed reasoning.
pub(crate) const VENDOR_NAME: &str = "example";

/// Names and ids are shorter than anywhere else, so that many are replaced.
pub(crate) fn profile() -> Profile {
    let ids = IdRule { max: 32, word: true, unique: true, exact: false };
    Profile::permissive(FOURTH, NameRule { max: 40 }, ids)
}
