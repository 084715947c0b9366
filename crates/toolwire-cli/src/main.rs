//! The `toolwire` command.

mod agent;
mod check;
mod config;
mod demo;
mod dispositions;
mod error;
mod explain;
mod gateway_probe;
mod init;
mod panic_hook;
mod pretty_json;
mod run;
mod serve;
mod signals;
mod startup_message;
mod temp_dir;
mod terminal;
mod translate;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Failure;

/// Lets any tool-calling client talk to any tool-calling model: OpenAI Chat
/// Completions, OpenAI Responses and Anthropic Messages on either side.
#[derive(Parser)]
#[command(name = "toolwire", version, max_term_width = 80, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Args),
    Run(run::Args),
    Init(init::Args),
    Check(check::Args),
    Translate(translate::Args),
    Dispositions(dispositions::Args),
    /// Show one request, worked through in all three protocols
    Demo,
}

const AFTER_HELP: &str = "\
Without a command it serves: a demo model that needs no key, and the models of
OPENAI_API_KEY and ANTHROPIC_API_KEY where they are set.

Examples:
  toolwire
  toolwire serve --config toolwire.toml
  toolwire run claude --model demo
  toolwire translate --to messages --explain < request.json";

fn main() -> ExitCode {
    panic_hook::tell_only_where();
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        None => serve::run(&serve::Args::default())?,
        Some(Command::Serve(args)) => serve::run(&args)?,
        Some(Command::Run(args)) => return Ok(run::run(&args)?),
        Some(Command::Init(args)) => init::run(&args)?,
        Some(Command::Check(args)) => check::run(&args)?,
        Some(Command::Translate(args)) => translate::run(&args)?,
        Some(Command::Dispositions(args)) => dispositions::run(&args)?,
        Some(Command::Demo) => demo::run()?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what went wrong on standard error and gives the exit code for it.
fn fail(error: &anyhow::Error) -> ExitCode {
    // Whoever reads the output may stop early, as `head` does.
    if error.chain().any(error::is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let failure = error.downcast_ref::<Failure>();
    // Problems of a configuration say themselves that they are errors.
    let told = match failure {
        Some(Failure::Configuration(problems)) => problems.clone(),
        Some(_) | None => format!("error: {error:#}"),
    };
    // With standard error gone too, the exit code is all that is left to say.
    let _ = writeln!(std::io::stderr().lock(), "{told}");
    failure.map_or(ExitCode::FAILURE, Failure::exit_code)
}
