//! `toolwire run`: an agent that is already pointed at a gateway.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};

use toolwire_gateway::config::environment::PLACEHOLDER;
use toolwire_gateway::config::{Config, LogFormat};
use toolwire_gateway::{Gateway, Setup, serve};

use crate::agent::{Agent, Target};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::gateway;
use crate::serve::runtime;
use crate::signals::{Signal, Signals};
use crate::{probe, welcome};

/// Start an agent that is already pointed at a gateway
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Which agent
    agent: Agent,

    /// Model to ask the gateway for, if not the agent's own
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Configuration of the gateway, if one has to be started
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// What else the agent is started with
    #[arg(last = true, value_name = "ARGS")]
    rest: Vec<OsString>,
}

const AFTER_HELP: &str = "\
A gateway that runs already is used; otherwise one is started for as long as the
agent runs. The agent's own settings are not changed: Claude Code is pointed at
the gateway by its environment, Codex by a temporary CODEX_HOME.

A gateway that asks for a key gets the one in TOOLWIRE_KEY.

The exit code is the agent's.

Examples:
  toolwire run claude --model demo
  toolwire run codex --model claude-sonnet-5 -- exec \"Explain this repository\"";

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let plan = gateway::plan(args.config.as_deref(), None)?;
    runtime()?.block_on(run_agent(args, plan.config))
}

async fn run_agent(args: &Args, config: Config) -> Result<ExitCode, Failure> {
    let found = Found::find(config).await?;
    let model = args.model.clone().or_else(|| found.model(args.agent));
    let target = Target { base: &found.base, key: &found.key, model: model.as_deref() };
    let cannot = |what: &str, error: &io::Error| Failure::Start(format!("cannot {what}: {error}"));
    let folder = Folder::new().map_err(|error| cannot("make a temporary folder", &error))?;
    let mut command = args
        .agent
        .command(&target, folder.path())
        .map_err(|error| cannot("write temporary settings", &error))?;
    let program = args.agent.program();
    let named = model.as_deref().map(|model| format!(" with the model {model}"));
    let at = if found.running.is_some() { "a gateway of its own" } else { found.base.as_str() };
    say(&format!("Starting {program} through {at}{}.", named.unwrap_or_default()));
    let signals = Signals::new();
    let child = command.args(&args.rest).spawn().map_err(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            return cannot(&format!("start {program}"), &error);
        }
        Failure::Start(format!(
            "{program} is not installed, or not in the PATH\nInstall it with: {}",
            args.agent.install()
        ))
    })?;
    let status = wait(child, signals)
        .await
        .map_err(|error| cannot(&format!("wait for {program}"), &error))?;
    if let Some(running) = found.running {
        running.handle().stop();
    }
    Ok(code(status))
}

/// A gateway for the agent.
struct Found {
    base: String,
    address: SocketAddr,
    key: String,
    /// The one in this process, if none ran.
    running: Option<Gateway>,
}

impl Found {
    /// The gateway that runs where this configuration would, or one on a free
    /// port.
    async fn find(mut config: Config) -> Result<Self, Failure> {
        let key = config.keys.first().map(|key| key.reveal().to_owned());
        let given = std::env::var("TOOLWIRE_KEY").ok().filter(|key| !key.is_empty());
        let key = key.or(given).unwrap_or_else(|| PLACEHOLDER.to_owned());
        let address = here(config.listen);
        if probe::is_gateway(address) {
            if !probe::admits(address, &key) {
                return Err(Failure::Start(format!(
                    "the gateway at {address} wants another key\n\
                     Set TOOLWIRE_KEY to one that it takes."
                )));
            }
            return Ok(Self { base: welcome::base(address), address, key, running: None });
        }
        config.listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        // The screen is the agent's.
        config.log = LogFormat::Off;
        let running = serve(config, Setup::default()).await;
        let running = running.map_err(|error| gateway::not_started(&error))?;
        let address = running.address();
        Ok(Self { base: welcome::base(address), address, key, running: Some(running) })
    }

    /// The demo model, where the gateway has none that the agent knows.
    fn model(&self, agent: Agent) -> Option<String> {
        let serves = |model| probe::serves(self.address, model, &self.key);
        (!serves(agent.own_model()) && serves(DEMO)).then(|| DEMO.to_owned())
    }
}

/// An address that every interface has, as seen from this machine.
fn here(listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        return SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), listen.port());
    }
    listen
}

/// Waits for the agent. Ctrl-C is the agent's to act on, because a terminal
/// sends it to both; a request to end is handed on.
async fn wait(mut child: Child, mut signals: Signals) -> io::Result<ExitStatus> {
    let id = child.id().to_string();
    let mut ended = tokio::task::spawn_blocking(move || child.wait());
    loop {
        tokio::select! {
            status = &mut ended => return status.map_err(io::Error::other)?,
            signal = signals.next() => match signal {
                Signal::Interrupt => {}
                // The standard library can only kill, which leaves an agent no
                // time to tidy up.
                Signal::Terminate => {
                    Command::new("kill").args(["-TERM", &id]).status()?;
                }
            },
        }
    }
}

fn code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let ended = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let ended = None;
    let code = status.code().or(ended).unwrap_or(1);
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

const DEMO: &str = "demo";
