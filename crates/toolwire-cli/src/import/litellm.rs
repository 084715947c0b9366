//! LiteLLM's `config.yaml`.

use serde_json::{Map, Value};

use super::draft::{Alias, Draft};
use super::keys::Reference;
use super::litellm_models::{self, Group};
use super::section::Section;

/// Whether a configuration is LiteLLM's.
pub(super) fn is_it(root: &Map<String, Value>) -> bool {
    ["model_list", "litellm_settings", "router_settings"].iter().any(|key| root.contains_key(*key))
}

/// Takes over a configuration. `variable` reads the environment.
pub(super) fn convert(
    root: &Map<String, Value>,
    variable: &dyn Fn(&str) -> Option<String>,
    draft: &mut Draft,
) {
    // LiteLLM's own address, so that clients find the gateway where they look for it.
    draft.listen = "127.0.0.1:4000".to_owned();
    draft.remarks.push(
        "listen is LiteLLM's port, on this machine only. For other machines, set keys and listen \
         on 0.0.0.0:4000."
            .to_owned(),
    );
    let mut root = Section::new(root, "", "");
    let models = root.take("model_list");
    let groups = litellm_models::convert(models, variable, draft);
    if let Some(mut section) = root.take_section("general_settings", draft) {
        if let Some(key) = section.take_text("master_key", draft) {
            master_key(key, draft);
        }
        section.finish(reason, draft);
    }
    if let Some(mut section) = root.take_section("router_settings", draft) {
        if let Some(aliases) = section.take_section("model_group_alias", draft) {
            group_aliases(aliases, &groups, draft);
        }
        fallbacks(&mut section, draft);
        section.finish(reason, draft);
    }
    if let Some(mut section) = root.take_section("litellm_settings", draft) {
        if section.take("drop_params").is_some() {
            draft.remarks.push(
                "drop_params: toolwire drops what a model's API doesn't take and reports it in \
                 the header toolwire-loss. on_loss = \"refuse\" refuses instead."
                    .to_owned(),
            );
        }
        draft.total_timeout = section.take("request_timeout").and_then(Value::as_f64);
        fallbacks(&mut section, draft);
        section.finish(reason, draft);
    }
    if let Some(section) = root.take_section("environment_variables", draft) {
        section.finish(|_| "set the variable in the environment of toolwire", draft);
    }
    root.finish(reason, draft);
}

fn master_key(key: &str, draft: &mut Draft) {
    if let Some(name) = Reference::LiteLlm.variable(key) {
        draft.keys.push(name.to_owned());
        return;
    }
    let content = if key.len() < MIN_KEY_LENGTH {
        "the key that clients send. The master_key in the imported file is too short: a key has \
         at least 16 characters"
    } else {
        "the key that clients send, which is in the imported file itself"
    };
    let name = draft.variable_for(key, "LITELLM_MASTER_KEY", content);
    draft.keys.push(name);
}

/// Other names for the names of models. LiteLLM allows them as a text or as an
/// object.
fn group_aliases(mut section: Section<'_>, groups: &[Group], draft: &mut Draft) {
    for name in section.keys() {
        let value = section.take(name);
        let target =
            value.and_then(|value| value.as_str().or_else(|| value.get("model")?.as_str()));
        let group = groups.iter().find(|group| Some(group.name.as_str()) == target);
        match group {
            Some(group) if super::servers::is_model_name(name) => draft.aliases.push(Alias {
                name: name.to_owned(),
                model: group.target.clone(),
                remark: "model_group_alias",
            }),
            Some(_) | None => {
                let place = section.place_of(name);
                draft.leave_out(&place, "", "the model it stands for was not taken over");
            }
        }
    }
}

fn fallbacks(section: &mut Section<'_>, draft: &mut Draft) {
    for key in ["fallbacks", "default_fallbacks"] {
        let reason = "toolwire tries another upstream that serves the same model; add the model \
                      to the models of a second upstream, with weight = 0";
        section.leave_out(key, reason, draft);
    }
    for key in ["context_window_fallbacks", "content_policy_fallbacks"] {
        let reason = "toolwire doesn't send a request to another model";
        section.leave_out(key, reason, draft);
    }
}

/// Why a setting has no counterpart.
pub(super) fn reason(key: &str) -> &'static str {
    let has = |parts: &[&str]| parts.iter().any(|part| key.contains(part));
    if has(&["callback", "langfuse", "otel", "telemetry", "verbose", "json_logs"]) {
        "toolwire writes a log and serves /metrics; it has no callbacks"
    } else if has(&["cache", "redis"]) {
        "toolwire doesn't cache responses"
    } else if has(&["rpm", "tpm", "budget", "max_parallel", "spend", "cost"]) {
        "toolwire has no rate limits or budgets"
    } else if has(&["guardrail", "moderation"]) {
        "toolwire has no guardrails"
    } else if has(&["database", "store_model", "alerting", "ui_", "jwt", "sso", "team", "user"]) {
        "toolwire has no database of users and keys"
    } else if has(&["retries", "cooldown", "allowed_fails", "retry", "routing_strategy"]) {
        "retries and pauses work differently: see [retry] in docs/gateway.md"
    } else if has(&["temperature", "max_tokens", "top_p", "seed", "stop"]) {
        "toolwire doesn't add parameters to requests; set it in the client"
    } else if has(&["mcp"]) {
        "toolwire runs no tools"
    } else if key == "include" {
        "import the other files one by one"
    } else {
        "no counterpart"
    }
}

const MIN_KEY_LENGTH: usize = 16;
