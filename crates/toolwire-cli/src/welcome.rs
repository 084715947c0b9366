//! What the gateway says when it has started: where it is, and how to use it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use toolwire_gateway::config::environment::PLACEHOLDER;
use toolwire_gateway::config::{self, Config, UpstreamConfig};

use crate::gateway::Origin;
use crate::screen::{Screen, Style, wrap};

/// The whole text.
pub(crate) fn text(
    config: &Config,
    address: SocketAddr,
    origin: &Origin,
    screen: Screen,
) -> String {
    let base = base(address);
    let heading = |text: &str| format!("\n{}\n\n", screen.paint(text, Style::Bold));
    let version = env!("CARGO_PKG_VERSION");
    let listens = format!("toolwire {version} listens on {base}");
    let mut text = format!("{}\n\n", screen.paint(&listens, Style::Bold));
    text.push_str(&format!("  OpenAI Chat Completions and Responses   {base}/v1\n"));
    text.push_str(&format!("  Anthropic Messages                      {base}\n"));

    text.push_str(&heading("Models"));
    text.push_str(&models(config));
    match origin {
        Origin::File(path, _) => {
            text.push_str(&format!(
                "\n  from {}, which is read again when it changes\n",
                path.display()
            ));
        }
        Origin::Environment(notes) => {
            text.push('\n');
            for line in notes.iter().flat_map(|note| wrap(note, 76)) {
                text.push_str(&format!("  {line}\n"));
            }
            text.push_str(MORE);
        }
    }
    let demo = config.upstreams.iter().any(|upstream| upstream.serves("demo"));
    if demo {
        text.push_str(&heading("Try it: a tool call, made by the demo model"));
        text.push_str(&curl(&base, key(config)));
    }
    text.push_str(&heading("Point a client at it"));
    text.push_str(&clients(&base, key(config), demo));
    text.push_str(&format!("\n{}\n\n", screen.paint("Ctrl-C stops it.", Style::Faint)));
    text
}

/// The address as a client on this machine writes it.
pub(crate) fn base(address: SocketAddr) -> String {
    let any = address.ip().is_unspecified();
    let host = if any { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address.ip() };
    format!("http://{}", SocketAddr::new(host, address.port()))
}

/// One line for each upstream: which models, and who answers.
pub(crate) fn models(config: &Config) -> String {
    let list = |upstream: &UpstreamConfig| {
        let names: Vec<&str> = upstream.models.iter().map(|model| model.0.as_str()).collect();
        names.join(", ")
    };
    let widest = config.upstreams.iter().map(|upstream| list(upstream).chars().count()).max();
    let width = widest.unwrap_or_default().min(44);
    let mut text = String::new();
    for upstream in &config.upstreams {
        let who = match &upstream.origin {
            config::Origin::Demo => "built in, no key needed".to_owned(),
            config::Origin::Http { base, path } => {
                format!("{}: {} at {base}{path}", upstream.name, upstream.protocol)
            }
        };
        text.push_str(&format!("  {:width$}  {who}\n", list(upstream)));
    }
    text
}

fn curl(base: &str, key: &str) -> String {
    // Without a key of its own the gateway asks for none.
    let shown = if key == PLACEHOLDER {
        String::new()
    } else {
        format!(" \\\n    -H \"authorization: Bearer {key}\"")
    };
    format!(
        r#"  curl -s {base}/v1/chat/completions \
    -H 'content-type: application/json'{shown} -d '{{
    "model": "demo",
    "messages": [{{"role": "user", "content": "What is the weather in Paris?"}}],
    "tools": [{{"type": "function", "function": {{"name": "get_weather", "parameters":
      {{"type": "object", "properties": {{"city": {{"type": "string"}}}}}}}}}}]}}'
"#
    )
}

fn clients(base: &str, key: &str, demo: bool) -> String {
    let (claude, codex) = if demo { (" ANTHROPIC_MODEL=demo", " -m demo") } else { ("", "") };
    let provider = format!(
        r#"model_providers.toolwire={{name="toolwire",base_url="{base}/v1",wire_api="responses",env_key="TOOLWIRE_KEY"}}"#
    );
    format!(
        "  OpenAI SDK\n    export OPENAI_BASE_URL={base}/v1 OPENAI_API_KEY={key}\n\
         \x20 Anthropic SDK\n    export ANTHROPIC_BASE_URL={base} ANTHROPIC_API_KEY={key}\n\
         \x20 Claude Code\n    ANTHROPIC_BASE_URL={base} ANTHROPIC_AUTH_TOKEN={key}{claude} claude\n\
         \x20 Codex\n    TOOLWIRE_KEY={key} codex{codex} -c model_provider=toolwire \\\n      -c '{provider}'\n\
         \x20 or, with nothing to set: toolwire run claude, toolwire run codex\n"
    )
}

/// What a client shows as its key. A real one is never printed.
fn key(config: &Config) -> &'static str {
    if config.keys.is_empty() { PLACEHOLDER } else { "$TOOLWIRE_KEY" }
}

const MORE: &str = "  For more, set OPENAI_API_KEY or ANTHROPIC_API_KEY, or run: toolwire init\n";

#[cfg(test)]
mod tests;
