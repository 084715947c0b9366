//! claude-code-router's `config.json`.

use serde_json::{Map, Value};

use super::draft::{Alias, Draft, Upstream};
use super::keys::Reference;
use super::providers::{COMPATIBLE, OPENROUTER, REASONING_CONTENT};
use super::section::Section;
use super::servers::{Servers, is_model_name};

/// Whether a configuration is claude-code-router's.
pub(super) fn is_it(root: &Map<String, Value>) -> bool {
    ["Providers", "providers"].iter().any(|key| root.get(*key).is_some_and(Value::is_array))
}

/// Takes over a configuration.
pub(super) fn convert(root: &Map<String, Value>, draft: &mut Draft) {
    let mut root = Section::new(root, "", "");
    let providers = root.take("Providers").or_else(|| root.take("providers"));
    let mut servers = Servers::default();
    let mut found = Vec::new();
    for (index, provider) in providers.and_then(Value::as_array).into_iter().flatten().enumerate() {
        match read(provider, &mut servers, draft) {
            Ok(provider) => found.push(provider),
            Err((name, why)) => draft.leave_out(&format!("Providers[{index}]"), &name, &why),
        }
    }
    servers.name_all();
    if let Some(router) = root.take_section("Router", draft) {
        routes(router, &found, &servers, draft);
    }
    // `/model provider,model` is how users of the router choose a model.
    for Provider { name, server, models } in &found {
        for model in models {
            servers.serve(*server, model);
            let target = format!("{}/{model}", servers.name(*server));
            let name = format!("{name},{model}");
            if is_model_name(&name) && !name.contains('*') {
                draft.aliases.push(Alias { name, model: target, remark: "" });
            }
        }
    }
    servers.finish(draft);
    if let Some(key) = root.take_text("APIKEY", draft).filter(|key| !key.is_empty()) {
        client_key(key, draft);
    }
    let port = root.take("PORT").and_then(|port| {
        port.as_u64().or_else(|| port.as_str().and_then(|port| port.parse().ok()))
    });
    let host = root.take_text("HOST", draft).unwrap_or("127.0.0.1");
    let host = if host == "localhost" { "127.0.0.1" } else { host };
    draft.listen = format!("{host}:{}", port.unwrap_or(3456));
    let is_local = host.starts_with("127.") && draft.listen.parse::<std::net::SocketAddr>().is_ok();
    if !is_local && (draft.keys.is_empty() || draft.listen.parse::<std::net::SocketAddr>().is_err())
    {
        draft.leave_out("HOST", "", "without APIKEY, the router listens on this machine only, too");
        draft.listen = "127.0.0.1:3456".to_owned();
    }
    let timeout = root.take("API_TIMEOUT_MS");
    let timeout = timeout.and_then(|time| {
        time.as_f64().or_else(|| time.as_str().and_then(|time| time.parse().ok()))
    });
    draft.total_timeout = timeout.map(|time| time / 1000.0).filter(|time| *time > 0.0);
    root.finish(reason, draft);
}

/// A provider that could be taken over.
struct Provider<'v> {
    name: &'v str,
    server: usize,
    models: Vec<&'v str>,
}

/// Reads a provider. An error is its name and why it is left out.
fn read<'v>(
    value: &'v Value,
    servers: &mut Servers,
    draft: &mut Draft,
) -> Result<Provider<'v>, (String, String)> {
    let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
    let refuse = |why: &str| (name.to_owned(), why.to_owned());
    let members = value.as_object().ok_or_else(|| refuse("it is not an object"))?;
    let mut section = Section::new(members, "Providers[]", name);
    section.take("name");
    let url = section.take_text("api_base_url", draft).or(section.take_text("baseUrl", draft));
    let url = url.ok_or_else(|| refuse("it has no api_base_url"))?;
    let mut upstream = address(url);
    if let Some(transformer) = section.take_section("transformer", draft) {
        transformers(transformer, &mut upstream, draft).map_err(|why| refuse(&why))?;
    }
    let preferred = format!("{name}_API_KEY");
    upstream.key = section
        .take_text("api_key", draft)
        .or(section.take_text("apiKey", draft))
        .and_then(|key| Reference::ClaudeCodeRouter.key(key, &preferred, name, draft));
    let models = section.take("models").and_then(Value::as_array).into_iter().flatten();
    let models: Vec<&str> =
        models.filter_map(Value::as_str).filter(|model| is_model_name(model)).collect();
    if models.is_empty() {
        return Err(refuse("it has no models"));
    }
    section.finish(reason, draft);
    let server = servers.add(upstream, name).map_err(|why| refuse(&why))?;
    Ok(Provider { name, server, models })
}

/// The base of the address of an endpoint.
fn address(url: &str) -> Upstream {
    let url = url.trim_end_matches('/');
    let ends =
        [("/chat/completions", "chat"), ("/responses", "responses"), ("/messages", "messages")];
    let end = ends.iter().find_map(|(end, protocol)| Some((url.strip_suffix(end)?, *protocol)));
    let (base, protocol) = end.unwrap_or((url, "chat"));
    let profile = if protocol == "chat" { COMPATIBLE } else { "" };
    let (base_url, profile) = (base.to_owned(), profile.to_owned());
    Upstream { protocol, base_url, profile, ..Upstream::default() }
}

/// What the transformers of a provider say about it. An error says why toolwire
/// can't speak to it.
fn transformers(
    mut section: Section<'_>,
    upstream: &mut Upstream,
    draft: &mut Draft,
) -> Result<(), String> {
    let used = section.take("use").and_then(Value::as_array).into_iter().flatten();
    for transformer in used {
        let name = transformer.as_str().or_else(|| transformer.get(0)?.as_str());
        let Some(name) = name else { continue };
        match name {
            "openrouter" => OPENROUTER.clone_into(&mut upstream.profile),
            "deepseek" => REASONING_CONTENT.clone_into(&mut upstream.profile),
            "Anthropic" | "anthropic" => {
                upstream.protocol = "messages";
                upstream.profile.clear();
            }
            "openai-responses" => {
                upstream.protocol = "responses";
                upstream.profile.clear();
            }
            // Their API for Chat is at another address than the one of their own.
            "gemini" => {
                upstream.preset = "gemini";
                upstream.base_url.clear();
                upstream.profile.clear();
            }
            // What they do, every upstream of toolwire does.
            "OpenAI" | "openai" | "groq" | "cleancache" | "streamoptions" | "cerebras" => {}
            "maxtoken" | "maxcompletiontokens" => {
                let most = transformer.pointer("/1/max_tokens").and_then(Value::as_u64);
                let Some(most) = most.filter(|most| *most > 0) else { continue };
                let comma = if upstream.profile.is_empty() { "" } else { ", " };
                upstream.profile.push_str(&format!("{comma}default_max_tokens = {most}"));
            }
            "vertex-gemini" | "vertex-claude" | "gemini-cli" | "qwen-cli" | "rovo-cli" => {
                return Err(format!("toolwire doesn't know the API of the transformer {name}"));
            }
            "tooluse" | "enhancetool" => {
                let why = "toolwire repairs calls by itself; for a model that takes no tools, set \
                           tool_calls = \"text\"";
                draft.leave_out(&section.place_of(&format!("use: {name}")), "", why);
            }
            other => {
                let why = "toolwire has no transformers";
                draft.leave_out(&section.place_of(&format!("use: {other}")), "", why);
            }
        }
    }
    section.finish(|_| "transformers of one model: toolwire has none", draft);
    Ok(())
}

/// Which model Claude Code gets for which purpose.
fn routes(mut section: Section<'_>, found: &[Provider<'_>], servers: &Servers, draft: &mut Draft) {
    let mut route = |key: &str, pattern: &str, remark: &'static str, draft: &mut Draft| {
        let Some(target) = section.take_text(key, draft) else { return };
        let (name, model) = target.split_once(',').unwrap_or((target, ""));
        let provider = found.iter().find(|provider| provider.name == name.trim());
        let model = model.trim();
        match provider.filter(|provider| provider.models.contains(&model)) {
            Some(provider) => draft.aliases.push(Alias {
                name: pattern.to_owned(),
                model: format!("{}/{model}", servers.name(provider.server)),
                remark,
            }),
            None => {
                let place = section.place_of(key);
                draft.leave_out(&place, "", "no provider has this model, or it was not taken over");
            }
        }
    };
    // The first alias that matches wins, so the one for small models comes first.
    route("background", "claude-*haiku*", "Router.background", draft);
    route("default", "claude-*", "Router.default", draft);
    let reason = |key: &str| match key {
        "think" => {
            "toolwire doesn't choose a model by whether it shall think; choose it in the client"
        }
        "longContext" | "longContextThreshold" => {
            "toolwire doesn't choose a model by the length of the conversation"
        }
        "webSearch" | "image" => "toolwire doesn't choose a model by what a request contains",
        _ => reason(key),
    };
    section.finish(reason, draft);
}

fn client_key(key: &str, draft: &mut Draft) {
    if let Some(name) = Reference::ClaudeCodeRouter.variable(key) {
        draft.keys.push(name.to_owned());
        return;
    }
    let content = "the key that clients send, with at least 16 characters; the imported file has \
                   it as APIKEY";
    let name = draft.variable_for(key, "TOOLWIRE_KEY", content);
    draft.keys.push(name);
}

/// Why a setting has no counterpart.
fn reason(key: &str) -> &'static str {
    match key {
        "PROXY_URL" => "toolwire connects to upstreams directly",
        "LOG" | "LOG_LEVEL" => "toolwire logs to standard error: see `log` in docs/gateway.md",
        "CUSTOM_ROUTER_PATH" | "REWRITE_SYSTEM_PROMPT" => "toolwire runs no scripts",
        "transformers" | "plugins" => "toolwire has no plugins",
        "NON_INTERACTIVE_MODE" => "it isn't needed",
        "StatusLine" | "statusLine" => "toolwire has no status line",
        "fallback" => "toolwire tries another upstream that serves the same model",
        _ => "no counterpart",
    }
}
