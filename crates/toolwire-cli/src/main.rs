//! The `toolwire` command.

mod agent;
mod check;
mod config;
mod demo;
mod detect;
mod dispositions;
mod error;
mod explain;
mod gateway_identity;
mod gateway_probe;
mod import;
mod init;
mod leftovers;
mod models;
mod open_files;
mod panic_hook;
mod presets;
mod pretty_json;
mod protocols;
mod run;
mod serve;
mod shell;
mod signals;
mod startup_message;
mod store;
mod terminal;
mod tokens;
mod toml_text;
mod translate;
mod user_dirs;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::error::CommandError;

/// Gives memory back to the system when many streams have ended, and needs less
/// for each of them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Connects any tool-calling client to any tool-calling model, over OpenAI Chat
/// Completions, OpenAI Responses or Anthropic Messages.
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
    Import(import::Args),
    Check(check::Args),
    Models(models::Args),
    Presets(presets::Args),
    Store(store::Args),
    Translate(translate::Args),
    Dispositions(dispositions::Args),
    Detect(detect::Args),
    Tokens(tokens::Args),
    /// Show one request translated into every other protocol
    Demo,
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

const AFTER_HELP: &str = "\
Without a command, toolwire starts the gateway. It serves a demo model that
needs no key, the models of every vendor whose API key is in the environment
(OPENAI_API_KEY, ANTHROPIC_API_KEY, OPENROUTER_API_KEY and others), and those of
servers that run on this machine, such as Ollama.

Examples:
  toolwire
  toolwire serve --config toolwire.toml
  toolwire run claude --model demo
  toolwire translate --to messages --explain < request.json";

fn main() -> ExitCode {
    panic_hook::install();
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => report(&error),
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        None => serve::run(&serve::Args::default())?,
        Some(Command::Serve(args)) => serve::run(&args)?,
        Some(Command::Run(args)) => return Ok(run::run(&args)?),
        Some(Command::Init(args)) => init::run(&args)?,
        Some(Command::Import(args)) => import::run(&args)?,
        Some(Command::Check(args)) => check::run(&args)?,
        Some(Command::Models(args)) => models::run(&args)?,
        Some(Command::Presets(args)) => presets::run(&args)?,
        Some(Command::Store(args)) => store::run(&args)?,
        Some(Command::Translate(args)) => translate::run(&args)?,
        Some(Command::Dispositions(args)) => dispositions::run(&args)?,
        Some(Command::Detect(args)) => detect::run(&args)?,
        Some(Command::Tokens(args)) => tokens::run(&args)?,
        Some(Command::Demo) => demo::run()?,
        Some(Command::Completions(args)) => shell::print_completions(&args, Cli::command())?,
        Some(Command::Man(args)) => shell::print_manual(&args, Cli::command())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what went wrong to standard error and returns the exit code for it.
fn report(error: &anyhow::Error) -> ExitCode {
    // The reader of the output may stop early, as `head` does.
    if error.chain().any(error::is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let command_error = error.downcast_ref::<CommandError>();
    // The mistakes in a configuration already begin with `error:`.
    let message = match command_error {
        Some(CommandError::Configuration(problems)) => problems.clone(),
        Some(_) | None => format!("error: {error:#}"),
    };
    // If standard error is closed too, only the exit code is left.
    let _ = writeln!(std::io::stderr().lock(), "{message}");
    command_error.map_or(ExitCode::FAILURE, CommandError::exit_code)
}
