//! The facts around Responses.

use crate::codec::openai;
use crate::model::{ErrorKind, Protocol};
use crate::profile::Profile;
use crate::protocol::{Conventions, Description, Endpoint};
use crate::wire::ids::IdRule;
use crate::wire::names::NameRule;

pub(super) static DESCRIPTION: Description = Description {
    name: "responses",
    title: "OpenAI Responses",
    vendor: &openai::VENDOR,
    prefix: "/v1",
    answers: Endpoint::fixed("/v1/responses"),
    token_count: Some(Endpoint::fixed("/v1/responses/input_tokens")),
    models_query: "",
    counts_input_first: false,
    answer_member: "output",
    model_member: "model",
    error_member: "error",
    conversation_members: &["instructions", "input"],
    limit_members: &["max_output_tokens"],
    tool_members: &["tools", "functions"],
    choice_members: &["tool_choice", "parallel_tool_calls"],
    echoes_request: true,
    streamed_errors: &[ErrorKind::ContextLength],
    conventions: Conventions {
        formats_are_strict: false,
        tools_try_strict: true,
        filter_declines_as_model: false,
        standard_tiers: &["default"],
        answers_are_items: true,
        created_member: "created_at",
    },
};

pub(super) fn profile() -> Profile {
    let mut profile =
        Profile::permissive(Protocol::Responses, NameRule::RESPONSES, IdRule::RESPONSES);
    profile.namespaces = true;
    profile.web_search = true;
    profile.tool_search = true;
    profile.prefill = false;
    profile.audio = false;
    profile
}
