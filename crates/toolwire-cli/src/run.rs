//! `toolwire run`: starts an agent that is connected to a gateway.

use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};

use toolwire_gateway::config::environment::PLACEHOLDER;
use toolwire_gateway::config::{Config, LogFormat};
use toolwire_gateway::{Gateway, Setup, serve};

use crate::agent::{Agent, Target};
use crate::config;
use crate::error::CommandError;
use crate::serve::{print_status, runtime};
use crate::signals::{Signal, Signals};
use crate::{gateway_identity, gateway_probe, leftovers, startup_message};

/// Start an agent that is connected to the gateway
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Agent to start
    agent: Agent,

    /// Model to request instead of the agent's default
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Configuration file of the gateway
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Arguments for the agent
    #[arg(last = true, value_name = "ARGS")]
    agent_args: Vec<OsString>,
}

const AFTER_HELP: &str = "\
If you have started a gateway at the configured address, the agent uses it.
Otherwise toolwire starts one for as long as the agent runs. The agent's own
settings don't change: it gets environment variables and arguments. Codex also
gets its own CODEX_HOME, which is kept so that sessions can be resumed. When the
agent ends, toolwire ends the programs that it has left running.

If the gateway requires a key, set TOOLWIRE_KEY.

The exit code is the agent's.

Examples:
  toolwire run claude --model demo
  toolwire run codex -- resume --last
  toolwire run codex --model claude-sonnet-5 -- exec \"Explain this repository\"";

pub(crate) fn run(args: &Args) -> Result<ExitCode, CommandError> {
    let loaded = config::load(args.config.as_deref(), None)?;
    runtime()?.block_on(run_agent(args, loaded.config))
}

async fn run_agent(args: &Args, config: Config) -> Result<ExitCode, CommandError> {
    let gateway = AgentGateway::find_or_start(config).await?;
    let model = args.model.clone().or_else(|| gateway.fallback_model(args.agent));
    let target = Target { base_url: &gateway.base_url, key: &gateway.key, model: model.as_deref() };
    let cannot =
        |what: &str, error: &io::Error| CommandError::Start(format!("cannot {what}: {error}"));
    let program = args.agent.program();
    let mut command = args
        .agent
        .command(&target)
        .map_err(|error| cannot(&format!("create the home of {program}"), &error))?;
    let through = if gateway.own.is_some() { "its own gateway" } else { &gateway.base_url };
    let with_model = model.as_deref().map(|model| format!(" with the model {model}"));
    print_status(&format!(
        "Starting {program} through {through}{}.",
        with_model.unwrap_or_default()
    ));
    let signals = Signals::new();
    leftovers::adopt();
    let child = command.args(&args.agent_args).spawn().map_err(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            return cannot(&format!("start {program}"), &error);
        }
        CommandError::Start(format!(
            "{program} is not installed, or not in the PATH\nInstall it with: {}",
            args.agent.install_command()
        ))
    })?;
    let status = wait(child, signals)
        .await
        .map_err(|error| cannot(&format!("wait for {program}"), &error))?;
    leftovers::end_all();
    if let Some(own) = gateway.own {
        own.handle().stop();
    }
    Ok(exit_code(status))
}

/// The gateway that the agent uses.
struct AgentGateway {
    base_url: String,
    address: SocketAddr,
    key: String,
    /// The gateway in this process, if none was running.
    own: Option<Gateway>,
}

impl AgentGateway {
    /// Finds the gateway that is running at the configured address, or starts
    /// one on a free port.
    async fn find_or_start(mut config: Config) -> Result<Self, CommandError> {
        let configured = config.keys.first().map(|key| key.reveal().to_owned());
        let from_env = std::env::var("TOOLWIRE_KEY").ok().filter(|key| !key.is_empty());
        let key = configured.or(from_env).unwrap_or_else(|| PLACEHOLDER.to_owned());
        let address = gateway_identity::local_address(config.listen);
        let identity = gateway_identity::read(address);
        if identity.is_some_and(|identity| gateway_probe::is_ready(address, &identity)) {
            if !gateway_probe::accepts_key(address, &key) {
                return Err(CommandError::Start(format!(
                    "the gateway at {address} does not accept this key\n\
                     Set TOOLWIRE_KEY to a key that it accepts."
                )));
            }
            let base_url = startup_message::base_url(address);
            return Ok(Self { base_url, address, key, own: None });
        }
        // Any program could answer there and would get the prompts and the key.
        if gateway_probe::is_taken(address) {
            print_status(&format!(
                "The program at {address} is not a gateway that you have started. \
                 The agent gets its own."
            ));
        }
        config.listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        // The terminal belongs to the agent.
        config.log = LogFormat::Off;
        let own = serve(config, Setup::default()).await;
        let own = own.map_err(|error| config::start_error(&error))?;
        let address = own.address();
        let base_url = startup_message::base_url(address);
        Ok(Self { base_url, address, key, own: Some(own) })
    }

    /// If the gateway has no model of the agent's vendor under its own name: the
    /// newest that it has under another, or the demo model.
    fn fallback_model(&self, agent: Agent) -> Option<String> {
        let serves = |model| gateway_probe::serves_model(self.address, model, &self.key);
        if serves(agent.vendor_model()) {
            return None;
        }
        let models = gateway_probe::models(self.address, &self.key);
        let newest = |start: &&str| {
            // A variant of a model has a colon, such as `:free`.
            let named = models
                .iter()
                .filter(|model| model.name.starts_with(start) && !model.name.contains(':'));
            named.max_by_key(|model| model.created).map(|model| model.name.clone())
        };
        let resold = agent.resold_models().iter().find_map(newest);
        resold.or_else(|| serves(DEMO_MODEL).then(|| DEMO_MODEL.to_owned()))
    }
}

/// Waits for the agent. A terminal sends Ctrl-C to the agent too, so it is
/// ignored here. SIGTERM is passed on.
async fn wait(mut child: Child, mut signals: Signals) -> io::Result<ExitStatus> {
    let id = child.id().to_string();
    let mut exited = tokio::task::spawn_blocking(move || child.wait());
    loop {
        tokio::select! {
            status = &mut exited => return status.map_err(io::Error::other)?,
            signal = signals.next() => match signal {
                Signal::Interrupt => {}
                // The standard library can only kill, which leaves the agent no
                // time to clean up.
                Signal::Terminate => {
                    Command::new("kill").args(["-TERM", &id]).status()?;
                }
            },
        }
    }
}

fn exit_code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let by_signal =
        std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let by_signal = None;
    let code = status.code().or(by_signal).unwrap_or(1);
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

const DEMO_MODEL: &str = "demo";
