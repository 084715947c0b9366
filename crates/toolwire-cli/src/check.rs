//! `toolwire check`: checks a configuration without serving it.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::config::{self, LoadedConfig};
use crate::error::CommandError;
use crate::init::DEFAULT_FILE;
use crate::serve::print_warnings;
use crate::startup_message;

/// Check a configuration file
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Configuration file to check
    #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
    config: PathBuf,
}

const AFTER_HELP: &str = "\
The environment variables and files that the configuration refers to must exist.
The check sends nothing over the network.

The exit code is 0 if the gateway would start, and 1 if not.

Example:
  toolwire check --config toolwire.toml";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let LoadedConfig { config, source: _ } = config::load(Some(&args.config), None)?;
    let mut out = io::stdout().lock();
    let name = args.config.display();
    writeln!(out, "{name} is valid. It listens on {} and serves:\n", config.listen)?;
    write!(out, "{}", startup_message::model_list(&config))?;
    out.flush()?;
    drop(out);
    print_warnings(&config);
    Ok(())
}
