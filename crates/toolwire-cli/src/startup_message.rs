//! What `toolwire serve` prints when the gateway has started: where it listens,
//! and how to use it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use toolwire_gateway::config::environment::PLACEHOLDER;
use toolwire_gateway::config::{self, Config, SecretPlace, UpstreamConfig};
use toolwire_store::OpenError;

use crate::config::ConfigSource;
use crate::store::words;
use crate::terminal::{Style, Terminal, wrap};

/// The whole message. If the store could not be opened, `store_error` says why.
pub(crate) fn text(
    config: &Config,
    address: SocketAddr,
    source: &ConfigSource,
    store_error: Option<&OpenError>,
    terminal: Terminal,
) -> String {
    let base_url = base_url(address);
    let heading = |text: &str| format!("\n{}\n\n", terminal.paint(text, Style::Bold));
    let version = env!("CARGO_PKG_VERSION");
    let first_line = format!("toolwire {version} is listening on {base_url}");
    let mut text = format!("{}\n\n", terminal.paint(&first_line, Style::Bold));
    text.push_str(&format!("  OpenAI Chat Completions and Responses   {base_url}/v1\n"));
    text.push_str(&format!("  Anthropic Messages                      {base_url}\n"));

    text.push_str(&heading("Models"));
    text.push_str(&model_list(config));
    match source {
        ConfigSource::File(path, _) => {
            let name = path.display();
            text.push_str(&format!("\n  from {name}, which is reloaded when it changes\n"));
        }
        ConfigSource::Environment(notes) => {
            text.push('\n');
            for line in notes.iter().flat_map(|note| wrap(note, 76)) {
                text.push_str(&format!("  {line}\n"));
            }
            text.push_str(MORE_MODELS);
        }
    }
    if let Some(note) = store_note(config, store_error) {
        text.push_str(&heading("Stored responses and sessions"));
        for line in wrap(&note, 76) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    let has_demo = serves_demo(config);
    if has_demo {
        text.push_str(&heading("Try it: a tool call by the demo model"));
        text.push_str(&example_call(&base_url, &shown_key(config)));
    }
    text.push_str(&heading("Connect a client"));
    text.push_str(&client_settings(&base_url, &shown_key(config), has_demo));
    text.push_str(&format!("\n{}\n\n", terminal.paint("Ctrl-C stops it.", Style::Faint)));
    text
}

/// What is kept of what clients send, where and for how long, and how to turn it
/// off. Or why nothing is.
fn store_note(config: &Config, error: Option<&OpenError>) -> Option<String> {
    let options = config.store.options()?;
    if let Some(error) = error {
        return Some(format!(
            "Nothing is kept, because the store cannot be opened: {error}. Requests that need no \
             store are answered. Set path in [store] to a file that can be written, or engine = \
             \"off\"."
        ));
    }
    let place = words::place(&options.engine);
    let time = match options.ttl {
        None => "without a time limit".to_owned(),
        Some(ttl) => format!("for {}", words::duration(ttl)),
    };
    Some(format!(
        "What Responses clients send and get is kept in {place}, {time}, unless they send store: \
         false or the model's API keeps it itself. The sessions of Chat and Messages clients are \
         kept there too. To keep nothing, set engine = \"off\" in [store]."
    ))
}

/// The gateway's URL for clients on this machine.
pub(crate) fn base_url(address: SocketAddr) -> String {
    let is_any = address.ip().is_unspecified();
    let host = if is_any { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address.ip() };
    format!("http://{}", SocketAddr::new(host, address.port()))
}

/// One line for each upstream: its models, and where requests for them go.
pub(crate) fn model_list(config: &Config) -> String {
    let names = |upstream: &UpstreamConfig| {
        let patterns: Vec<&str> = upstream.models.iter().map(|model| model.0.as_str()).collect();
        patterns.join(", ")
    };
    let widest = config.upstreams.iter().map(|upstream| names(upstream).chars().count()).max();
    let width = widest.unwrap_or_default().min(44);
    let mut text = String::new();
    for upstream in &config.upstreams {
        let target = match &upstream.origin {
            config::Origin::Demo => "built in, no key needed".to_owned(),
            config::Origin::Http { base, path } => {
                format!("{}: {} at {base}{path}", upstream.name, upstream.protocol)
            }
        };
        text.push_str(&format!("  {:width$}  {target}\n", names(upstream)));
    }
    for config::Alias { name, model } in &config.aliases {
        text.push_str(&format!("  {} is an alias for {model}\n", name.0));
    }
    text
}

/// Whether a request for `demo` gets to the demo model, and not to an upstream
/// that serves every name.
fn serves_demo(config: &Config) -> bool {
    let is_demo = |upstream: &&UpstreamConfig| upstream.origin == config::Origin::Demo;
    let has_name =
        |upstream: &UpstreamConfig| upstream.models.iter().any(|model| model.0 == "demo");
    config.upstreams.iter().find(is_demo).is_some_and(has_name)
}

fn example_call(base_url: &str, key: &str) -> String {
    // A gateway without keys requires none.
    let authorization = if key == PLACEHOLDER {
        String::new()
    } else {
        format!(" \\\n    -H \"authorization: Bearer {key}\"")
    };
    format!(
        r#"  curl -s {base_url}/v1/chat/completions \
    -H 'content-type: application/json'{authorization} -d '{{
    "model": "demo",
    "messages": [{{"role": "user", "content": "What is the weather in Paris?"}}],
    "tools": [{{"type": "function", "function": {{"name": "get_weather", "parameters":
      {{"type": "object", "properties": {{"city": {{"type": "string"}}}}}}}}}}]}}'
"#
    )
}

fn client_settings(base_url: &str, key: &str, use_demo: bool) -> String {
    let (claude, codex) = if use_demo { (" ANTHROPIC_MODEL=demo", " -m demo") } else { ("", "") };
    let provider = format!(
        r#"model_providers.toolwire={{name="toolwire",base_url="{base_url}/v1",wire_api="responses",env_key="TOOLWIRE_KEY"}}"#
    );
    format!(
        "  OpenAI SDK\n    export OPENAI_BASE_URL={base_url}/v1 OPENAI_API_KEY={key}\n\
         \x20 Anthropic SDK\n    export ANTHROPIC_BASE_URL={base_url} ANTHROPIC_API_KEY={key}\n\
         \x20 Claude Code\n    ANTHROPIC_BASE_URL={base_url} ANTHROPIC_AUTH_TOKEN={key}{claude} claude\n\
         \x20 Codex\n    TOOLWIRE_KEY={key} codex{codex} -c model_provider=toolwire \\\n      -c '{provider}'\n\
         \x20 or without any settings: toolwire run claude, toolwire run codex\n"
    )
}

/// The key in the examples: where the operator has it. A key itself is never
/// printed.
fn shown_key(config: &Config) -> String {
    let Some(key) = config.keys.first() else { return PLACEHOLDER.to_owned() };
    match key.source().map(|source| &source.place) {
        Some(SecretPlace::Variable(name)) => format!("${name}"),
        Some(SecretPlace::File(path)) => format!("$(cat {path})"),
        None => "$TOOLWIRE_KEY".to_owned(),
    }
}

const MORE_MODELS: &str = "  For more models, set the API key of a vendor, such as OPENROUTER_API_KEY, or run: toolwire init\n";

#[cfg(test)]
mod tests;
