//! The agents that can be started with a gateway: what they are called, and how
//! each is pointed at it.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use clap::ValueEnum;

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Anthropic's Claude Code
    Claude,
    /// OpenAI's Codex
    Codex,
}

/// Where an agent is to go.
pub(crate) struct Target<'t> {
    /// The gateway's address: `http://127.0.0.1:8787`.
    pub(crate) base: &'t str,
    /// The key that it shows.
    pub(crate) key: &'t str,
    /// The model it asks for, if not its own.
    pub(crate) model: Option<&'t str>,
}

impl Agent {
    /// The name of its program.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// How to get it.
    pub(crate) fn install(self) -> &'static str {
        match self {
            Self::Claude => "npm install -g @anthropic-ai/claude-code",
            Self::Codex => "npm install -g @openai/codex",
        }
    }

    /// A model of the vendor's, to see whether a gateway has them at all.
    pub(crate) fn own_model(self) -> &'static str {
        match self {
            Self::Claude => "claude-sonnet-4-5",
            Self::Codex => "gpt-5",
        }
    }

    /// The agent, pointed at a gateway by its environment and by files in
    /// `folder`. What the user has set up for it elsewhere is not touched.
    pub(crate) fn command(self, target: &Target<'_>, folder: &Path) -> io::Result<Command> {
        let mut command = Command::new(self.program());
        match self {
            Self::Claude => claude(&mut command, target),
            Self::Codex => codex(&mut command, target, folder)?,
        }
        // A proxy for the internet does not know this machine.
        for name in ["NO_PROXY", "no_proxy"] {
            let others = std::env::var(name).unwrap_or_default();
            let comma = if others.is_empty() { "" } else { "," };
            command.env(name, format!("{others}{comma}127.0.0.1,localhost"));
        }
        Ok(command)
    }
}

fn claude(command: &mut Command, target: &Target<'_>) {
    let Target { base, key, model } = target;
    command.env("ANTHROPIC_BASE_URL", base);
    // Claude Code asks the user about a key that it finds in the environment,
    // but takes a token as it is.
    command.env("ANTHROPIC_AUTH_TOKEN", key).env_remove("ANTHROPIC_API_KEY");
    // Another vendor's way in would go past the gateway.
    for name in ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"] {
        command.env_remove(name);
    }
    if let Some(model) = model {
        // It uses a smaller model beside the one that the user chooses.
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

fn codex(command: &mut Command, target: &Target<'_>, folder: &Path) -> io::Result<()> {
    let Target { base, key, model } = target;
    let model = model.map(|model| format!("model = {}\n", quoted(model))).unwrap_or_default();
    let config = format!(
        "{model}model_provider = \"toolwire\"\n\
         check_for_update_on_startup = false\n\n\
         [model_providers.toolwire]\n\
         name = \"toolwire\"\n\
         base_url = {}\n\
         wire_api = \"responses\"\n\
         env_key = \"TOOLWIRE_KEY\"\n",
        quoted(&format!("{base}/v1")),
    );
    fs::write(folder.join("config.toml"), config)?;
    command.env("CODEX_HOME", folder).env("TOOLWIRE_KEY", key);
    Ok(())
}

/// A text in a TOML file.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
