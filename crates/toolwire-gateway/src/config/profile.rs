//! The settings of `profile`: what an upstream accepts beyond its protocol.

use toml::de::DeTable;
use toolwire::wire::ids::IdRule;
use toolwire::{Profile, Protocol};

use super::fields::{Fields, setting};
use super::problem::Problem;

/// Reads `profile = { … }`, with the protocol's defaults for the rest.
pub(super) fn read(
    protocol: Protocol,
    table: &DeTable<'_>,
    problems: &mut Vec<Problem>,
) -> Profile {
    let mut profile = Profile::of(protocol);
    let mut fields = Fields::new(table, "a profile");
    let Profile {
        protocol: _,
        names,
        ids,
        freeform_tools,
        allowed_tools,
        strict,
        developer_role,
        legacy_max_tokens,
        mid_system,
        sampling,
        temperature_with_top_p,
        default_max_tokens,
        prefill,
        thinking_disabled,
        reasoning_field,
        cache_breakpoints,
        examples_in_description,
        namespaces: _,
        web_search,
        tool_search: _,
        error_prefix,
        ..
    } = &mut profile;
    for (name, flag) in [
        ("freeform_tools", freeform_tools),
        ("allowed_tools", allowed_tools),
        ("strict", strict),
        ("developer_role", developer_role),
        ("legacy_max_tokens", legacy_max_tokens),
        ("mid_system", mid_system),
        ("sampling", sampling),
        ("temperature_with_top_p", temperature_with_top_p),
        ("prefill", prefill),
        ("thinking_disabled", thinking_disabled),
        ("cache_breakpoints", cache_breakpoints),
        ("examples_in_description", examples_in_description),
        ("web_search_options", web_search),
    ] {
        let value = fields.take(name);
        if let Some(value) = value.and_then(|value| setting(name, problems).boolean(value)) {
            *flag = value;
        }
    }
    // A renamed tool ends in a hash, so a shorter limit would leave no name.
    let number = |fields: &mut Fields<'_, '_>, problems: &mut Vec<Problem>, name, least| {
        let value = fields.take(name)?;
        setting(name, problems).whole(value, least)
    };
    if let Some(most) = number(&mut fields, problems, "name_max", 10) {
        names.max = usize::try_from(most).unwrap_or(usize::MAX);
    }
    if let Some(most) = number(&mut fields, problems, "id_max", 9) {
        let max = usize::try_from(most).unwrap_or(usize::MAX);
        *ids = IdRule { max, ..*ids };
    }
    if let Some(tokens) = number(&mut fields, problems, "default_max_tokens", 1) {
        *default_max_tokens = tokens;
    }
    if let Some(value) = fields.take("reasoning_field") {
        let words = [REASONING_CONTENT, REASONING].map(|word| (word, word));
        *reasoning_field = setting("reasoning_field", problems).word(value, &words);
    }
    if let Some(value) = fields.take("error_prefix") {
        let words = ["Error: ", ""].map(|word| (word, word));
        let found = setting("error_prefix", problems).word(value, &words);
        *error_prefix = found.unwrap_or(error_prefix);
    }
    fields.finish(problems);
    profile
}

const REASONING_CONTENT: &str = "reasoning_content";
const REASONING: &str = "reasoning";
