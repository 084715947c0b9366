//! `toolwire check`: checks a configuration without serving it.

use std::io::{self, Write};
use std::path::PathBuf;

use toolwire_gateway::config::{Config, StoreConfig};
use toolwire_gateway::{ConnectReport, OfflineGateway, check_upstreams};

use crate::config::{self, LoadedConfig};
use crate::error::CommandError;
use crate::init::DEFAULT_FILE;
use crate::serve::{print_warnings, runtime};
use crate::startup_message;

/// Check a configuration file
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Configuration file to check
    #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
    config: PathBuf,

    /// Ask each upstream for its models, and say what is wrong with its key, its
    /// address or its certificate
    #[arg(long)]
    connect: bool,
}

const AFTER_HELP: &str = "\
The environment variables and files that the configuration refers to must exist.
Without --connect, the check sends nothing over the network. With it, an
upstream that has no list of models gets a request for a short answer.

The exit code is 0 if the gateway would start, and with --connect, if all of its
upstreams can be used. Otherwise it is 1.

Examples:
  toolwire check --config toolwire.toml
  toolwire check --config toolwire.toml --connect";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let LoadedConfig { config, source: _ } = config::load(Some(&args.config), None)?;
    let mut out = io::stdout().lock();
    let name = args.config.display();
    writeln!(out, "{name} is valid. It listens on {} and serves:\n", config.listen)?;
    write!(out, "{}", startup_message::model_list(&config))?;
    out.flush()?;
    drop(out);
    print_warnings(&config);
    if args.connect { connect(config) } else { Ok(()) }
}

/// Asks each upstream.
fn connect(config: Config) -> Result<(), CommandError> {
    let gateway = OfflineGateway::new(Config { store: StoreConfig::Off, ..config });
    let gateway = gateway.map_err(|error| config::start_error(&error))?;
    let reports = runtime()?.block_on(check_upstreams(&gateway));
    let mut out = io::stdout().lock();
    writeln!(out, "\nUpstreams:\n")?;
    for ConnectReport { upstream, is_usable, finding } in &reports {
        let mark = if *is_usable { "ok" } else { "failed" };
        writeln!(out, "  {upstream}: {mark}: {finding}.")?;
    }
    out.flush()?;
    match reports.iter().filter(|report| !report.is_usable).count() {
        0 => Ok(()),
        1 => Err(CommandError::Rejected("1 upstream cannot be used".to_owned())),
        count => Err(CommandError::Rejected(format!("{count} upstreams cannot be used"))),
    }
}
