//! `toolwire check`: a configuration without serving it.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::config::{Plan, plan};
use crate::error::Failure;
use crate::init::FILE;
use crate::startup_message;

/// Check a configuration and say what is wrong with it
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Configuration to check
    #[arg(long, value_name = "FILE", default_value = FILE)]
    config: PathBuf,
}

const AFTER_HELP: &str = "\
Environment variables and files that the configuration names must be there.
Nothing is sent anywhere.

The exit code is 0 when the gateway would start, and 1 when not.

Example:
  toolwire check --config toolwire.toml";

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Plan { config, origin: _ } = plan(Some(&args.config), None)?;
    let mut out = io::stdout().lock();
    let name = args.config.display();
    writeln!(out, "{name} is fine. It listens on {} and serves:\n", config.listen)?;
    write!(out, "{}", startup_message::models(&config))?;
    for alias in &config.aliases {
        writeln!(out, "  {} is {}", alias.name.0, alias.model)?;
    }
    out.flush()?;
    Ok(())
}
