//! `toolwire serve`: the gateway, until a signal stops it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolwire_gateway::config::file::LoadError;
use toolwire_gateway::config::reload::Change;
use toolwire_gateway::config::{Config, exposed, file};
use toolwire_gateway::{ConfigLoader, Handle, Setup, serve};

use crate::failure::Failure;
use crate::gateway::{self, Origin, Plan};
use crate::screen::Screen;
use crate::signals::{Signal, Signals};
use crate::welcome;

/// Serve clients of every protocol until a signal stops it
#[derive(clap::Args, Default)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Configuration; without one, the environment's keys and a demo model
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Address and port to listen on, if not the configuration's; port 0 takes
    /// any free one
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

const AFTER_HELP: &str = "\
A configuration is read again when it changes and on SIGHUP. One with a mistake
changes nothing; what is wrong goes to standard error.

SIGTERM and Ctrl-C let open requests end; a second Ctrl-C does not wait.

Examples:
  toolwire serve
  toolwire serve --config toolwire.toml --listen 127.0.0.1:9000";

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let plan = gateway::plan(args.config.as_deref(), args.listen)?;
    runtime()?.block_on(serve_until_stopped(plan, args.listen))
}

/// What runs everything that waits.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::Start(format!("cannot start: {error}")))
}

async fn serve_until_stopped(plan: Plan, listen: Option<SocketAddr>) -> Result<(), Failure> {
    let Plan { config, origin } = plan;
    // Whoever reads that it runs may stop it the moment after.
    let signals = Signals::new();
    let setup = Setup { source: source(&origin, config.listen), ..Setup::default() };
    let running = serve(config.clone(), setup).await;
    let running = running.map_err(|error| gateway::not_started(&error))?;
    let hello = welcome::text(&config, running.address(), &origin, Screen::of(&io::stdout()));
    let handle = running.handle();
    if let Origin::File(path, watch) = origin {
        let (sender, changes) = mpsc::channel(1);
        tokio::spawn(watch.run(sender));
        tokio::spawn(follow(path, changes, handle.clone(), config.listen, listen.is_some()));
    }
    // A load balancer needs a moment to notice; nobody else does.
    let notice = if exposed(config.listen) { NOTICE } else { Duration::ZERO };
    tokio::spawn(stop_on_signals(handle, signals, notice));
    // Whoever started it may not want to read how to use it.
    let mut out = io::stdout().lock();
    let _ = out.write_all(hello.as_bytes()).and_then(|()| out.flush());
    drop(out);
    running.stopped().await;
    Ok(())
}

/// Where a reload by hand gets the configuration from.
fn source(origin: &Origin, listen: SocketAddr) -> Option<ConfigLoader> {
    let Origin::File(path, _) = origin else { return None };
    let path = path.clone();
    Some(Arc::new(move || {
        let loaded = file::load(&path).map_err(|error| error.to_string())?;
        Ok(Config { listen, ..loaded.config })
    }))
}

/// Puts every change of the file in force.
async fn follow(
    path: PathBuf,
    mut changes: mpsc::Receiver<Change>,
    handle: Handle,
    listen: SocketAddr,
    overridden: bool,
) {
    while let Some(change) = changes.recv().await {
        say(&reloaded(&path, change, &handle, listen, overridden));
    }
}

fn reloaded(
    path: &Path,
    change: Change,
    handle: &Handle,
    listen: SocketAddr,
    overridden: bool,
) -> String {
    let name = path.display();
    let config = match change {
        Ok(config) => config,
        Err(error) => {
            let why = match error {
                LoadError::Unreadable { .. } => error.to_string(),
                LoadError::Invalid(problems) => problems.to_string(),
            };
            return format!("{why}\nThe configuration from before stays in force.");
        }
    };
    let moved = !overridden && config.listen != listen;
    match handle.reload(Config { listen, ..*config }) {
        Ok(()) if moved => format!(
            "{name} is in force, except that the gateway goes on listening on {listen} until it is \
             started again."
        ),
        Ok(()) => format!("{name} was read again and is in force."),
        Err(error) => format!("{error}\nThe configuration from before stays in force."),
    }
}

/// Lets open requests end at the first signal, and nothing at the second.
async fn stop_on_signals(handle: Handle, mut signals: Signals, notice: Duration) {
    match signals.next().await {
        Signal::Interrupt => {
            say("Stopping when open requests have ended; press Ctrl-C again to stop at once.");
            handle.drain(Duration::ZERO);
        }
        Signal::Terminate => handle.drain(notice),
    }
    signals.next().await;
    handle.stop();
}

/// Tells the operator. With standard error gone there is nobody to tell.
fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

const NOTICE: Duration = Duration::from_secs(5);
