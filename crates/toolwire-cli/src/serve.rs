//! `toolwire serve`: runs the gateway until a signal stops it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolwire_gateway::config::file::LoadError;
use toolwire_gateway::config::reload::Change;
use toolwire_gateway::config::{Config, file};
use toolwire_gateway::{ConfigLoader, Handle, Setup, serve};

use crate::config::{self, ConfigSource, LoadedConfig};
use crate::error::CommandError;
use crate::gateway_identity::PublishedIdentity;
use crate::open_files;
use crate::signals::{Signal, Signals};
use crate::startup_message;
use crate::terminal::Terminal;

/// Start the gateway
#[derive(clap::Args, Default)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Configuration file; without one, the gateway serves a demo model and
    /// uses the API keys in the environment
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Address and port to listen on instead of the configured one; port 0
    /// picks any free port
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

const AFTER_HELP: &str = "\
The gateway reloads its configuration when the file changes and on SIGHUP. If
the new configuration has mistakes, the gateway prints them to standard error
and keeps the old one.

On SIGTERM and Ctrl-C, the gateway finishes open requests before it stops. A
second signal stops it at once.

Examples:
  toolwire serve
  toolwire serve --config toolwire.toml --listen 127.0.0.1:9000";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let loaded = config::load(args.config.as_deref(), args.listen)?;
    open_files::raise_limit();
    let runtime = runtime()?;
    let result = runtime.block_on(serve_until_stopped(loaded, args.listen));
    // Nothing that is left may keep the process from ending.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| CommandError::Start(format!("cannot start the runtime: {error}")))
}

async fn serve_until_stopped(
    loaded: LoadedConfig,
    listen: Option<SocketAddr>,
) -> Result<(), CommandError> {
    let LoadedConfig { config, source } = loaded;
    // A signal may arrive as soon as the startup message is printed.
    let signals = Signals::new();
    let setup = Setup { source: reload_source(&source, config.listen), ..Setup::default() };
    let gateway = serve(config.clone(), setup).await;
    let gateway = gateway.map_err(|error| config::start_error(&error))?;
    let (address, terminal) = (gateway.address(), Terminal::of(&io::stdout()));
    let store_error = gateway.store_error();
    let message = startup_message::text(&config, address, &source, store_error, terminal);
    if let Some(error) = store_error {
        print_status(&format!("The store cannot be opened, so nothing is kept: {error}"));
    }
    print_warnings(&config);
    let handle = gateway.handle();
    let identity = PublishedIdentity::new(gateway.address());
    if let Some(identity) = &identity {
        handle.set_identity(identity.identity());
    }
    if let ConfigSource::File(path, watch) = source {
        let (sender, changes) = mpsc::channel(1);
        tokio::spawn(watch.run(sender));
        let overridden = listen.is_some();
        let reloader = Reloader { path, handle: handle.clone(), listen: config.listen, overridden };
        tokio::spawn(reloader.run(changes));
    }
    tokio::spawn(stop_on_signals(handle, signals));
    // The gateway serves even if standard output is closed.
    let mut out = io::stdout().lock();
    let _ = out.write_all(message.as_bytes()).and_then(|()| out.flush());
    drop(out);
    gateway.stopped().await;
    Ok(())
}

/// Where a reload through the API gets the configuration from.
fn reload_source(source: &ConfigSource, listen: SocketAddr) -> Option<ConfigLoader> {
    let ConfigSource::File(path, _) = source else { return None };
    let path = path.clone();
    Some(Arc::new(move || {
        let loaded = file::load(&path).map_err(|error| error.to_string())?;
        Ok(Config { listen, ..loaded.config })
    }))
}

/// Applies changes of the configuration file to the gateway.
struct Reloader {
    path: PathBuf,
    handle: Handle,
    /// The address that the gateway listens on, whatever the file says.
    listen: SocketAddr,
    /// Whether the command line overrides the file's address.
    overridden: bool,
}

impl Reloader {
    async fn run(self, mut changes: mpsc::Receiver<Change>) {
        while let Some(change) = changes.recv().await {
            print_status(&self.apply(change));
        }
    }

    /// Applies a change, and returns a message about it.
    fn apply(&self, change: Change) -> String {
        let Self { path, handle, listen, overridden } = self;
        let name = path.display();
        let config = match change {
            Ok(config) => config,
            Err(error) => {
                let reason = match error {
                    LoadError::Unreadable { .. } => error.to_string(),
                    LoadError::Invalid(problems) => problems.to_string(),
                };
                return format!("{reason}\n{UNCHANGED}");
            }
        };
        print_warnings(&config);
        let needs_restart = !overridden && config.listen != *listen;
        match handle.reload(Config { listen: *listen, ..*config }) {
            Ok(()) if needs_restart => format!(
                "Reloaded {name}. The gateway still listens on {listen}; restart it to change the \
                 address."
            ),
            Ok(()) => format!("Reloaded {name}."),
            Err(error) => format!("{error}\n{UNCHANGED}"),
        }
    }
}

/// At the first signal, open requests may finish. At the second, they are cut.
async fn stop_on_signals(handle: Handle, mut signals: Signals) {
    match signals.next().await {
        Signal::Interrupt => {
            print_status("Waiting for open requests to finish. Press Ctrl-C again to stop now.");
            handle.drain(Duration::ZERO);
        }
        // A load balancer needs time to notice that the gateway is stopping.
        Signal::Terminate => handle.drain(handle.linger()),
    }
    signals.next().await;
    // Whatever keeps the process from ending in order, it ends.
    std::thread::spawn(|| {
        std::thread::sleep(FORCED_STOP);
        std::process::exit(1);
    });
    handle.stop();
    signals.next().await;
    std::process::exit(1);
}

/// Prints a message to standard error. It is lost if standard error is closed.
pub(crate) fn print_status(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// Prints what the operator probably does not mean.
pub(crate) fn print_warnings(config: &Config) {
    for warning in config.warnings() {
        print_status(&format!("warning: {warning}"));
    }
}

const UNCHANGED: &str = "The gateway keeps its previous configuration.";

/// How long cut requests may take to get their errors.
const FORCED_STOP: Duration = Duration::from_secs(2);
