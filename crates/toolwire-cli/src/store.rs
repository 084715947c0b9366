//! `toolwire store`: what the gateway remembers.

mod export_file;
mod import_source;
pub(crate) mod words;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use toolwire_gateway::config::{Config, StoreConfig};
use toolwire_store::{EngineOptions, Options, Stats, Store, TransferError};

use self::export_file::{ExportFile, belongs_to_store, is_written_beside};
use self::import_source::ImportSource;
use crate::config::{self, LoadedConfig};
use crate::error::CommandError;
use crate::serve;
use crate::signals::Signals;

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
    match &options.engine {
        EngineOptions::Memory => return Err(CommandError::Store(ONLY_IN_MEMORY.to_owned())),
        EngineOptions::Sqlite(sqlite) if !is_there(&sqlite.path)? => {
            let nothing = format!("nothing is stored yet; there is no {}", sqlite.path.display());
            match command {
                Command::Import { .. } => {}
                Command::Status | Command::Prune => return print(&format!("{nothing}\n")),
                // An empty backup of a store with another name would please nobody.
                Command::Export { .. } => return Err(CommandError::Store(nothing)),
            }
        }
        EngineOptions::Sqlite(_) | EngineOptions::Postgres(_) => {}
    }
    match command {
        Command::Status => {
            let stats = open(options).await?.stats().await.map_err(store_error)?;
            print(&status(&stats, options))
        }
        Command::Export { file: Some(path) } => {
            let records = export(options, path).await?;
            print(&format!("Exported {records} responses and threads to {}.\n", path.display()))
        }
        Command::Export { file: None } => {
            let store = open(options).await?;
            store.export(io::stdout().lock()).await.map_err(export_error)?;
            Ok(())
        }
        Command::Import { file } => {
            let source = ImportSource::open(file.as_deref())?;
            let store = open(options).await?;
            let imported = source.import(&store).await?;
            store.flush().await.map_err(store_error)?;
            print(&format!(
                "Imported {} responses and threads; {} were there already.\n",
                imported.stored, imported.present
            ))
        }
        Command::Prune => {
            let store = open(options).await?;
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

async fn open(options: &Options) -> Result<Store, CommandError> {
    let opened = Store::open(options.clone()).await;
    opened.map_err(|error| CommandError::Store(error.to_string()))
}

/// Whether there is a file. Where nobody may look, it cannot be said that there
/// is none.
fn is_there(path: &Path) -> Result<bool, CommandError> {
    path.try_exists().map_err(|error| unusable("open", path, &error))
}

/// Writes an export that takes the place of `path` when it is whole.
async fn export(options: &Options, path: &Path) -> Result<u64, CommandError> {
    if let EngineOptions::Sqlite(sqlite) = &options.engine
        && belongs_to_store(path, &sqlite.path)
    {
        let (path, store) = (path.display(), sqlite.path.display());
        return Err(CommandError::Store(format!(
            "cannot export to {path}: it belongs to the store {store} itself; choose another file"
        )));
    }
    let store = open(options).await?;
    let unwritable = |error: &io::Error| unusable("write", path, error);
    // Who gives up leaves no half of a file behind. A pipe, which may wait for its reader for
    // ever, has nothing to clean up, so there a signal ends the program as usual.
    let mut signals = is_written_beside(path).then(Signals::new);
    let interrupted = async {
        match &mut signals {
            Some(signals) => signals.next().await,
            None => std::future::pending().await,
        }
    };
    let mut file = ExportFile::create(path).map_err(|error| unwritable(&error))?;
    let exported = tokio::select! {
        exported = store.export(&mut file) => exported,
        _ = interrupted => Err(io::Error::other("the export was interrupted").into()),
    };
    let records = exported.map_err(|error| match error {
        TransferError::Io(error) => unwritable(&error),
        other @ (TransferError::Store(_) | TransferError::Malformed { .. }) => export_error(other),
    })?;
    file.finish().map_err(|error| unwritable(&error))?;
    Ok(records)
}

fn status(stats: &Stats, options: &Options) -> String {
    let place = words::place(&options.engine);
    let kept = options.ttl.map_or_else(|| "for ever".to_owned(), words::duration);
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
    let oldest = oldest.map_or("-".to_owned(), |time| words::age(now - time.seconds()));
    let (used, limit) = (words::size(*bytes), words::size(options.limits.total));
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

fn export_error(error: TransferError) -> CommandError {
    match error {
        TransferError::Io(error) => CommandError::Output(error),
        TransferError::Store(_) | TransferError::Malformed { .. } => {
            CommandError::Store(error.to_string())
        }
    }
}

const ONLY_IN_MEMORY: &str = "with engine = \"memory\" everything is in the gateway that runs and ends with it; no other \
     command can reach it, and nothing is kept for the next run";

/// How much is deleted at a time, so that a running gateway waits for little.
const PRUNE_STEP: usize = 200;
