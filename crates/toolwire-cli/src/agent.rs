//! The agents that `toolwire run` can start, and how each is connected to a
//! gateway.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use clap::ValueEnum;

use crate::toml_text::toml_string;

/// An agent that `toolwire run` can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Anthropic's Claude Code
    Claude,
    /// OpenAI's Codex
    Codex,
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
        }
    }

    /// The command that installs it.
    pub(crate) fn install_command(self) -> &'static str {
        match self {
            Self::Claude => "npm install -g @anthropic-ai/claude-code",
            Self::Codex => "npm install -g @openai/codex",
        }
    }

    /// A model of the agent's vendor. If a gateway serves it, the agent's
    /// default model works too.
    pub(crate) fn vendor_model(self) -> &'static str {
        match self {
            Self::Claude => "claude-sonnet-4-5",
            Self::Codex => "gpt-5",
        }
    }

    /// What models of the agent's vendor are called where another vendor offers
    /// them, as the beginnings of their names, the best first.
    pub(crate) fn resold_models(self) -> &'static [&'static str] {
        match self {
            Self::Claude => {
                &["anthropic/claude-sonnet-", "anthropic/claude-opus-", "anthropic/claude-"]
            }
            Self::Codex => &["openai/gpt-5", "openai/gpt-"],
        }
    }

    /// The command that starts the agent. It is connected to the gateway by
    /// environment variables and files in `directory`; the user's own settings
    /// are not touched.
    pub(crate) fn command(self, target: &Target<'_>, directory: &Path) -> io::Result<Command> {
        let mut command = Command::new(self.program());
        match self {
            Self::Claude => claude(&mut command, target),
            Self::Codex => codex(&mut command, target, directory)?,
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

fn codex(command: &mut Command, target: &Target<'_>, directory: &Path) -> io::Result<()> {
    let Target { base_url, key, model } = target;
    let model = model.map(|model| format!("model = {}\n", toml_string(model))).unwrap_or_default();
    let config = format!(
        "{model}model_provider = \"toolwire\"\n\
         check_for_update_on_startup = false\n\n\
         [model_providers.toolwire]\n\
         name = \"toolwire\"\n\
         base_url = {}\n\
         wire_api = \"responses\"\n\
         env_key = \"TOOLWIRE_KEY\"\n",
        toml_string(&format!("{base_url}/v1")),
    );
    fs::write(directory.join("config.toml"), config)?;
    command.env("CODEX_HOME", directory).env("TOOLWIRE_KEY", key);
    Ok(())
}
