//! The agents that `toolwire run` can start, and how each is connected to a
//! gateway.

use std::io;
use std::process::Command;

use clap::ValueEnum;
use serde_json::json;

use crate::toml_text::toml_string;
use crate::user_dirs;

/// An agent that `toolwire run` can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Anthropic's Claude Code
    Claude,
    /// OpenAI's Codex
    Codex,
    /// opencode
    Opencode,
    /// Qwen Code
    Qwen,
    /// aider
    Aider,
}

/// What an agent connects to.
pub(crate) struct Target<'t> {
    /// The gateway's URL: `http://127.0.0.1:8787`.
    pub(crate) base_url: &'t str,
    /// The key that it sends.
    pub(crate) key: &'t str,
    /// The model to request instead of the agent's default.
    pub(crate) model: Option<&'t str>,
}

impl Agent {
    /// The name of its executable.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Aider => "aider",
        }
    }

    /// The command that installs it.
    pub(crate) fn install_command(self) -> &'static str {
        match self {
            Self::Claude => "npm install -g @anthropic-ai/claude-code",
            Self::Codex => "npm install -g @openai/codex",
            Self::Opencode => "npm install -g opencode-ai",
            Self::Qwen => "npm install -g @qwen-code/qwen-code",
            Self::Aider => "python3 -m pip install aider-chat",
        }
    }

    /// A model of the agent's vendor. If a gateway serves it, the agent's
    /// default model works too. Agents that no vendor of models makes get it by name.
    pub(crate) fn vendor_model(self) -> &'static str {
        match self {
            Self::Claude | Self::Opencode | Self::Aider => "claude-sonnet-4-5",
            Self::Codex => "gpt-5",
            Self::Qwen => "qwen3-coder-plus",
        }
    }

    /// What models of the agent's vendor are called where another vendor offers
    /// them, as the beginnings of their names, the best first.
    pub(crate) fn resold_models(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Opencode | Self::Aider => {
                &["anthropic/claude-sonnet-", "anthropic/claude-opus-", "anthropic/claude-"]
            }
            Self::Codex => &["openai/gpt-5", "openai/gpt-"],
            Self::Qwen => &["qwen/qwen3-coder", "qwen/"],
        }
    }

    /// The command that starts the agent. It is connected to the gateway by
    /// environment variables and arguments; the user's own settings are not touched.
    pub(crate) fn command(self, target: &Target<'_>) -> io::Result<Command> {
        let mut command = Command::new(self.program());
        let model = target.model.unwrap_or(self.vendor_model());
        match self {
            Self::Claude => claude(&mut command, target),
            Self::Codex => codex(&mut command, target)?,
            Self::Opencode => opencode(&mut command, target, model),
            Self::Qwen => qwen(&mut command, target, model),
            Self::Aider => aider(&mut command, target, model),
        }
        // A proxy cannot reach the gateway on this machine.
        for name in ["NO_PROXY", "no_proxy"] {
            let others = std::env::var(name).unwrap_or_default();
            let comma = if others.is_empty() { "" } else { "," };
            command.env(name, format!("{others}{comma}127.0.0.1,localhost"));
        }
        Ok(command)
    }
}

fn claude(command: &mut Command, target: &Target<'_>) {
    let Target { base_url, key, model } = target;
    command.env("ANTHROPIC_BASE_URL", base_url);
    // Its list of models then holds those of the gateway.
    command.env("CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY", "1");
    // Claude Code asks the user before it uses a key from the environment, but
    // uses a token without asking.
    command.env("ANTHROPIC_AUTH_TOKEN", key).env_remove("ANTHROPIC_API_KEY");
    // These would bypass the gateway.
    for name in ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"] {
        command.env_remove(name);
    }
    if let Some(model) = model {
        // Claude Code also uses a smaller model besides the one that the user
        // chooses.
        for name in CLAUDE_MODELS {
            command.env(name, model);
        }
    }
}

const CLAUDE_MODELS: [&str; 5] = [
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
];

/// Codex gets its settings as arguments, so that several can run at a time with one
/// home, each with its own gateway.
fn codex(command: &mut Command, target: &Target<'_>) -> io::Result<()> {
    let Target { base_url, key, model } = target;
    let provider = format!(
        "{{ name = \"toolwire\", base_url = {}, wire_api = \"responses\", env_key = \"TOOLWIRE_KEY\" }}",
        toml_string(&format!("{base_url}/v1")),
    );
    let mut settings = vec![
        "model_provider=\"toolwire\"".to_owned(),
        "check_for_update_on_startup=false".to_owned(),
        format!("model_providers.toolwire={provider}"),
    ];
    settings.extend(model.map(|model| format!("model={}", toml_string(model))));
    for setting in settings {
        command.arg("-c").arg(setting);
    }
    command.env("CODEX_HOME", user_dirs::agent_home("codex")?).env("TOOLWIRE_KEY", key);
    Ok(())
}

fn opencode(command: &mut Command, target: &Target<'_>, model: &str) {
    let Target { base_url, key, model: _ } = target;
    let config = json!({
        "model": format!("toolwire/{model}"),
        "small_model": format!("toolwire/{model}"),
        "provider": { "toolwire": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "toolwire",
            "options": { "baseURL": format!("{base_url}/v1"), "apiKey": key },
            "models": { model: {} },
        } },
    });
    // It is merged with the user's own settings, and wins.
    command.env("OPENCODE_CONFIG_CONTENT", config.to_string());
}

fn qwen(command: &mut Command, target: &Target<'_>, model: &str) {
    let Target { base_url, key, model: _ } = target;
    command.env("OPENAI_BASE_URL", format!("{base_url}/v1"));
    command.env("OPENAI_API_KEY", key).env("OPENAI_MODEL", model);
    // It sends everything through a proxy, the gateway on this machine too.
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"] {
        command.env_remove(name);
    }
    // Otherwise it asks how to sign in.
    command.args(["--auth-type", "openai"]);
}

fn aider(command: &mut Command, target: &Target<'_>, model: &str) {
    let Target { base_url, key, model: _ } = target;
    // It calls models through a library that reads either name.
    for name in ["OPENAI_API_BASE", "OPENAI_BASE_URL"] {
        command.env(name, format!("{base_url}/v1"));
    }
    command.env("OPENAI_API_KEY", key);
    // The part before the slash says which API to speak.
    for name in ["AIDER_MODEL", "AIDER_WEAK_MODEL", "AIDER_EDITOR_MODEL"] {
        command.env(name, format!("openai/{model}"));
    }
    // It warns about every model whose price it doesn't know.
    command.env("AIDER_SHOW_MODEL_WARNINGS", "false");
}
