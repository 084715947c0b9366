//! A gateway in this process: its configuration, its start, and why it may not
//! start.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use toolwire_gateway::StartError;
use toolwire_gateway::config::file::{self, LoadError};
use toolwire_gateway::config::reload::ConfigWatcher;
use toolwire_gateway::config::{Config, ProcessEnvironment, Style, environment, exposed};

use crate::failure::Failure;
use crate::init::FILE;

/// A configuration, and where it comes from.
pub(crate) struct Plan {
    pub(crate) config: Config,
    pub(crate) origin: Origin,
}

/// Where a configuration comes from.
pub(crate) enum Origin {
    /// A file, which is watched.
    File(PathBuf, ConfigWatcher),
    /// The environment, with what should be said about it.
    Environment(Vec<String>),
}

/// Reads the configuration in `path`, or makes one of the environment. It
/// listens on `listen` if that is given.
pub(crate) fn plan(path: Option<&Path>, listen: Option<SocketAddr>) -> Result<Plan, Failure> {
    let Some(path) = path else {
        let mut found = environment::find(listen, &ProcessEnvironment::default());
        // A file that merely lies here is not followed: whoever put it there
        // could have one's keys sent anywhere.
        if Path::new(FILE).exists() {
            found.notes.push(format!("{FILE} is used with: toolwire serve --config {FILE}"));
        }
        let origin = Origin::Environment(found.notes);
        return safe(Plan { config: found.config, origin });
    };
    let loaded = file::load(path).map_err(refused)?;
    let watch = ConfigWatcher::new(path, &loaded);
    let mut config = loaded.config;
    config.listen = listen.unwrap_or(config.listen);
    safe(Plan { config, origin: Origin::File(path.to_owned(), watch) })
}

/// The problems of a file, or why it cannot be read.
pub(crate) fn refused(error: LoadError) -> Failure {
    match error {
        LoadError::Unreadable { path, error } => {
            let name = path.display();
            let help = if error.kind() == io::ErrorKind::NotFound {
                format!("\nWrite one with: toolwire init {name}")
            } else {
                String::new()
            };
            Failure::Start(format!("cannot read {name}: {error}{help}"))
        }
        LoadError::Invalid(problems) => Failure::Configuration(problems.render(style())),
    }
}

/// Why a gateway did not start, and what to do about it.
pub(crate) fn not_started(error: &StartError) -> Failure {
    let StartError::Listen { address, source } = error else {
        return Failure::Start(error.to_string());
    };
    let kind = source.kind();
    let (why, help) = if kind == io::ErrorKind::AddrInUse {
        (
            "another program uses this port, perhaps another toolwire".to_owned(),
            "Take any free port with: toolwire serve --listen 127.0.0.1:0".to_owned(),
        )
    } else if kind == io::ErrorKind::PermissionDenied {
        (
            "this port is for the administrator".to_owned(),
            format!("Take a port above 1023, as in: toolwire serve --listen {}:8787", address.ip()),
        )
    } else if kind == io::ErrorKind::AddrNotAvailable {
        (
            "this machine does not have that address".to_owned(),
            "Listen on 127.0.0.1, or on 0.0.0.0 for every address.".to_owned(),
        )
    } else {
        (source.to_string(), "Choose another address with --listen.".to_owned())
    };
    Failure::Start(format!("cannot listen on {address}: {why}\n{help}"))
}

/// Whether standard error understands colours.
fn style() -> Style {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stderr().is_terminal() && !plain { Style::Coloured } else { Style::Plain }
}

/// The file was checked with its own address; another may need a key where
/// that did not.
fn safe(plan: Plan) -> Result<Plan, Failure> {
    let listen = plan.config.listen;
    if exposed(listen) && plan.config.keys.is_empty() {
        return Err(Failure::Start(format!(
            "anyone who can reach {listen} could use your keys\n\
             Listen on 127.0.0.1, or serve a configuration that has keys = [{{ env = \"TOOLWIRE_KEY\" }}]."
        )));
    }
    Ok(plan)
}
