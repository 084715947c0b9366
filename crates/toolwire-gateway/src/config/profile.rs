//! The settings of `profile`: what an upstream accepts beyond its protocol.

use toml::de::DeTable;
use toolwire::Profile;
use toolwire::facts::{Accepts, Fact, ModelFacts, Origin, ThinkingOff};
use toolwire::wire::ids::IdRule;

use super::fields::{Fields, setting};
use super::problem::Problem;

/// Reads `profile = { … }`, with `base` for the rest. What the operator says about
/// the models counts for more than what is published.
pub(super) fn read(
    base: Profile,
    table: &DeTable<'_>,
    problems: &mut Vec<Problem>,
) -> (Profile, ModelFacts) {
    let mut profile = base;
    let mut facts = ModelFacts::default();
    let mut fields = Fields::new(table, "a profile");
    let Profile {
        protocol: _,
        tool_calls: _,
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
        unsigned_calls,
        audio,
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
        ("unsigned_calls", unsigned_calls),
        ("audio", audio),
        ("cache_breakpoints", cache_breakpoints),
        ("examples_in_description", examples_in_description),
        ("web_search_options", web_search),
    ] {
        let value = fields.take(name);
        if let Some(value) = value.and_then(|value| setting(name, problems).boolean(value)) {
            *flag = value;
            note_fact(name, value, &mut facts);
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
        *ids = IdRule { max, exact: false, ..*ids };
    }
    if let Some(tokens) = number(&mut fields, problems, "default_max_tokens", 1) {
        *default_max_tokens = tokens;
        facts.max_output = known(tokens);
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
    (profile, facts)
}

/// Notes what a setting says about the models.
fn note_fact(name: &str, value: bool, facts: &mut ModelFacts) {
    let accepts = known(if value { Accepts::Always } else { Accepts::Never });
    match name {
        "sampling" => {
            (facts.temperature, facts.top_p, facts.top_k) = (accepts, accepts, accepts);
        }
        "prefill" => facts.prefill = accepts,
        "mid_system" => facts.system_turns = known(value),
        "temperature_with_top_p" => facts.temperature_with_top_p = known(value),
        "thinking_disabled" => {
            let off = if value { ThinkingOff::Disabled } else { ThinkingOff::Never };
            facts.thinking_off = known(off);
        }
        _ => {}
    }
}

fn known<T>(value: T) -> Option<Fact<T>> {
    Some(Fact { value, origin: Origin::Operator })
}

const REASONING_CONTENT: &str = "reasoning_content";
const REASONING: &str = "reasoning";

#[cfg(test)]
mod tests {
    use toolwire::Protocol;

    use super::*;

    /// `Profile` may grow, and the pattern above cannot ask for a setting for
    /// what is new. So this test does: it reads the names of the fields out of
    /// the debug output.
    #[test]
    fn every_field_of_a_profile_has_a_setting_or_a_reason() {
        let printed = format!("{:#?}", Profile::of(Protocol::ALL[0]));
        let fields = printed.lines().filter_map(|line| {
            let line = line.strip_prefix("    ").filter(|line| !line.starts_with(' '))?;
            line.split_once(": ").map(|(name, _)| name)
        });
        let fields: Vec<&str> = fields.collect();
        assert!(fields.contains(&"strict"), "{printed}");
        for field in fields {
            let setting = match field {
                "names" => "name_max",
                "ids" => "id_max",
                "web_search" => "web_search_options",
                other => other,
            };
            // The protocol is the upstream's, which also says how its models call
            // tools, and only Responses has namespaces and a tool that searches
            // tools.
            let decided =
                ["protocol", "tool_calls", "model", "namespaces", "tool_search"].contains(&field);
            let known = takes(setting);
            assert!(decided || known, "no setting for `{field}` of a profile");
        }
    }

    /// Whether `profile = { name = … }` is a setting, whatever its type.
    fn takes(name: &str) -> bool {
        let source = format!("{name} = []");
        let document = DeTable::parse(&source).unwrap();
        let mut problems = Vec::new();
        read(Profile::of(Protocol::ALL[0]), document.get_ref(), &mut problems);
        problems.iter().all(|problem| !problem.message.starts_with("unknown setting"))
    }
}
