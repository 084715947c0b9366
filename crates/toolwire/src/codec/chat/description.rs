//! The facts around Chat Completions.

use crate::codec::openai;
use crate::model::Protocol;
use crate::profile::Profile;
use crate::protocol::{Conventions, Description, Endpoint};
use crate::wire::ids::IdRule;
use crate::wire::names::NameRule;

pub(super) static DESCRIPTION: Description = Description {
    name: "chat",
    title: "OpenAI Chat Completions",
    vendor: &openai::VENDOR,
    prefix: "/v1",
    answers: Endpoint::fixed("/v1/chat/completions"),
    token_count: None,
    models_query: "",
    counts_input_first: false,
    answer_member: "choices",
    model_member: "model",
    error_member: "error",
    conversation_members: &["messages"],
    limit_members: &["max_completion_tokens", "max_tokens"],
    tool_members: &["tools", "functions"],
    choice_members: &["tool_choice", "parallel_tool_calls", "function_call"],
    echoes_request: false,
    streamed_errors: &[],
    conventions: Conventions {
        formats_are_strict: false,
        tools_try_strict: false,
        filter_declines_as_model: false,
        standard_tiers: &["default"],
        answers_are_items: false,
        created_member: "created",
    },
};

pub(super) fn profile() -> Profile {
    Profile::permissive(Protocol::Chat, NameRule::CHAT, IdRule::CHAT)
}
