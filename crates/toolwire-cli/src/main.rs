//! The `toolwire` command.

mod demo;
mod dispositions;
mod explain;
mod failure;
mod input;
mod lines;
mod pretty;
mod screen;
mod stream;
mod translate;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// Translates tool calling between OpenAI Chat Completions, OpenAI Responses
/// and Anthropic Messages, and says what it could not carry.
#[derive(Parser)]
#[command(name = "toolwire", version, max_term_width = 80, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Translate(translate::Args),
    Dispositions(dispositions::Args),
}

const AFTER_HELP: &str = "\
Without a command it prints a worked example.

Example:
  toolwire translate --to messages --explain < request.json";

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        None => demo::run()?,
        Some(Command::Translate(args)) => translate::run(&args)?,
        Some(Command::Dispositions(args)) => dispositions::run(&args)?,
    }
    Ok(())
}

/// Says what went wrong on standard error and gives the exit code for it.
fn fail(error: &anyhow::Error) -> ExitCode {
    // Whoever reads the output may stop early, as `head` does.
    if error.chain().any(failure::is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    // With standard error gone too, the exit code is all that is left to say.
    let _ = writeln!(std::io::stderr().lock(), "error: {error:#}");
    error.downcast_ref().map_or(ExitCode::FAILURE, Failure::exit_code)
}
