//! `toolwire store`: what the gateway remembers.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use toolwire_gateway::config::{Config, StoreConfig};
use toolwire_store::{EngineOptions, Options, Stats, Store, TransferError};

use crate::config::{self, LoadedConfig};
use crate::error::CommandError;
use crate::serve;

/// Manage stored responses, conversations and sessions
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,

    /// Configuration file; without one, the store of a gateway that has no
    /// configuration
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show what is stored
    Status,
    /// Write everything as JSON Lines
    Export {
        /// File to write; without one, standard output
        file: Option<PathBuf>,
    },
    /// Load an export; what is stored already stays as it is
    Import {
        /// File to read; without one, standard input
        file: Option<PathBuf>,
    },
    /// Delete what has expired
    Prune,
}

const AFTER_HELP: &str = "\
A gateway may be running, but an export is sure to be complete only if none is.

Examples:
  toolwire store status
  toolwire store export backup.jsonl
  toolwire store import backup.jsonl --config shared.toml";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let LoadedConfig { config, source: _ } = config::load(args.config.as_deref(), None)?;
    serve::runtime()?.block_on(run_command(&args.command, &config))
}

async fn run_command(command: &Command, config: &Config) -> Result<(), CommandError> {
    let options = match &config.store {
        StoreConfig::On(options) | StoreConfig::Default(options) => options,
        StoreConfig::Off => {
            return Err(CommandError::Store("the store is off; nothing is kept".to_owned()));
        }
    };
    if let EngineOptions::Sqlite(sqlite) = &options.engine
        && !sqlite.path.exists()
    {
        let nothing = format!("nothing is stored yet; there is no {}", sqlite.path.display());
        match command {
            Command::Import { .. } => {}
            Command::Status | Command::Prune => return print(&format!("{nothing}\n")),
            // An empty backup of a store with another name would please nobody.
            Command::Export { .. } => return Err(CommandError::Store(nothing)),
        }
    }
    let opened = Store::open(options.clone()).await;
    let store = opened.map_err(|error| CommandError::Store(error.to_string()))?;
    match command {
        Command::Status => {
            let stats = store.stats().await.map_err(store_error)?;
            print(&status(&stats, options))
        }
        Command::Export { file: Some(path) } => {
            let created = private_file(path).map_err(|error| unusable("write", path, &error))?;
            let records = store.export(BufWriter::new(created)).await.map_err(transfer_error)?;
            print(&format!("Exported {records} responses and threads to {}.\n", path.display()))
        }
        Command::Export { file: None } => {
            store.export(io::stdout().lock()).await.map_err(transfer_error)?;
            Ok(())
        }
        Command::Import { file } => {
            let imported = match file {
                Some(path) => {
                    let file = File::open(path).map_err(|error| unusable("read", path, &error))?;
                    store.import(BufReader::new(file)).await
                }
                None => store.import(io::stdin().lock()).await,
            };
            let imported = imported.map_err(transfer_error)?;
            print(&format!(
                "Imported {} responses and threads; {} were there already.\n",
                imported.stored, imported.present
            ))
        }
        Command::Prune => {
            let mut pruned = 0;
            loop {
                match store.prune(PRUNE_STEP).await.map_err(store_error)? {
                    0 => break,
                    some => pruned += some,
                }
            }
            print(&format!("Deleted {pruned} expired chains and threads.\n"))
        }
    }
}

fn status(stats: &Stats, options: &Options) -> String {
    let place = match &options.engine {
        EngineOptions::Memory => "memory, until the gateway ends".to_owned(),
        EngineOptions::Sqlite(sqlite) => sqlite.path.display().to_string(),
        EngineOptions::Postgres(_) => "Postgres".to_owned(),
    };
    let kept = match options.ttl {
        Some(ttl) if ttl.as_secs().is_multiple_of(DAY) => format!("{} days", ttl.as_secs() / DAY),
        Some(ttl) => format!("{} seconds", ttl.as_secs()),
        None => "for ever".to_owned(),
    };
    let Stats {
        engine,
        version,
        responses,
        conversations,
        sessions,
        running,
        items,
        bytes,
        tenants,
        oldest,
        expired,
    } = stats;
    let now = options.clock.now().seconds();
    let oldest = oldest.map_or("-".to_owned(), |time| age(now - time.seconds()));
    let (used, limit) = (size(*bytes), size(options.limits.total));
    format!(
        "store          {place} ({engine}, version {version})\n\
         kept           {kept}\n\
         responses      {responses}, {running} of them running\n\
         conversations  {conversations}\n\
         sessions       {sessions}\n\
         items          {items}\n\
         size           {used} of {limit}\n\
         clients        {tenants}\n\
         oldest         {oldest}\n\
         expired        {expired}\n"
    )
}

/// A number of bytes in the largest unit of which there is one.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(power, _)| bytes >> power > 0) {
        Some((power, unit)) => {
            let tenths = (u128::from(bytes) * 10) >> power;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

/// How long ago something was, in the largest unit that has passed.
fn age(seconds: i64) -> String {
    let seconds = u64::try_from(seconds).unwrap_or(0);
    let units = [(DAY, "day"), (3600, "hour"), (60, "minute"), (1, "second")];
    match units.into_iter().find(|(length, _)| seconds >= *length) {
        None => "now".to_owned(),
        Some((length, unit)) => match seconds / length {
            1 => format!("1 {unit} ago"),
            count => format!("{count} {unit}s ago"),
        },
    }
}

/// A file that only its owner can read, because it has conversations in it.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn print(text: &str) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

fn unusable(what: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::Store(format!("cannot {what} {}: {error}", path.display()))
}

fn store_error(error: toolwire_store::StoreError) -> CommandError {
    CommandError::Store(error.to_string())
}

fn transfer_error(error: TransferError) -> CommandError {
    match error {
        TransferError::Io(error) => CommandError::Output(error),
        TransferError::Store(_) | TransferError::Malformed { .. } => {
            CommandError::Store(error.to_string())
        }
    }
}

/// How much is deleted at a time, so that a running gateway waits for little.
const PRUNE_STEP: usize = 200;

const DAY: u64 = 24 * 60 * 60;
