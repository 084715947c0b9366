//! `toolwire completions` and `toolwire man`: what shells and `man` want to know
//! about the command.

use std::io::{self, Write};

use clap::Command;
use clap_complete::Shell;

use crate::error::CommandError;

/// Print the completions of the command for a shell
#[derive(clap::Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

const COMPLETIONS_HELP: &str = "\
Examples:
  toolwire completions bash \\
      > ~/.local/share/bash-completion/completions/toolwire
  toolwire completions zsh > ~/.zfunc/_toolwire
  toolwire completions fish > ~/.config/fish/completions/toolwire.fish";

/// Print a manual page
#[derive(clap::Args)]
#[command(after_help = MAN_HELP)]
pub(crate) struct ManArgs {
    /// The command whose page to print; toolwire itself by default
    command: Option<String>,
}

const MAN_HELP: &str = "\
Examples:
  toolwire man | man -l -
  toolwire man translate > toolwire-translate.1";

pub(crate) fn print_completions(
    args: &CompletionsArgs,
    mut command: Command,
) -> Result<(), CommandError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "toolwire", &mut text);
    print(&text)
}

pub(crate) fn print_manual(args: &ManArgs, mut command: Command) -> Result<(), CommandError> {
    command.build();
    let page = match &args.command {
        None => command,
        Some(name) => {
            let found = command.find_subcommand(name).cloned();
            let Some(found) = found else {
                return Err(CommandError::Usage(format!("there is no command {name}")));
            };
            found
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    print(&text)
}

fn print(text: &[u8]) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    out.write_all(text)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests;
