//! The gateway's configuration, and why a gateway cannot start with it.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use toolwire_gateway::StartError;
use toolwire_gateway::config::file::{self, LoadError};
use toolwire_gateway::config::reload::ConfigWatcher;
use toolwire_gateway::config::{Config, ProcessEnvironment, Style, environment, exposed};

use crate::error::CommandError;
use crate::init::DEFAULT_FILE;

/// A configuration, and where it comes from.
pub(crate) struct LoadedConfig {
    pub(crate) config: Config,
    pub(crate) source: ConfigSource,
}

/// Where a configuration comes from.
pub(crate) enum ConfigSource {
    /// A file, which is watched for changes.
    File(PathBuf, ConfigWatcher),
    /// The environment, with notes for the user.
    Environment(Vec<String>),
}

/// Loads the configuration in `path`, or makes one from the environment.
/// `listen` overrides its address.
pub(crate) fn load(
    path: Option<&Path>,
    listen: Option<SocketAddr>,
) -> Result<LoadedConfig, CommandError> {
    let Some(path) = path else {
        let mut found = environment::find(listen, &ProcessEnvironment::default());
        // A file in the working directory is never used by itself: whoever put
        // it there could send the user's keys anywhere.
        if Path::new(DEFAULT_FILE).exists() {
            found.notes.push(format!(
                "{DEFAULT_FILE} is not used. To use it: toolwire serve --config {DEFAULT_FILE}"
            ));
        }
        let source = ConfigSource::Environment(found.notes);
        return require_key_if_exposed(LoadedConfig { config: found.config, source });
    };
    let loaded = file::load(path).map_err(load_error)?;
    let watch = ConfigWatcher::new(path, &loaded);
    let mut config = loaded.config;
    config.listen = listen.unwrap_or(config.listen);
    let source = ConfigSource::File(path.to_owned(), watch);
    require_key_if_exposed(LoadedConfig { config, source })
}

/// The mistakes in a file, or why it cannot be read.
fn load_error(error: LoadError) -> CommandError {
    match error {
        LoadError::Unreadable { path, error } => {
            let name = path.display();
            let help = if error.kind() == io::ErrorKind::NotFound {
                format!("\nCreate it with: toolwire init {name}")
            } else {
                String::new()
            };
            CommandError::Start(format!("cannot read {name}: {error}{help}"))
        }
        LoadError::Invalid(problems) => {
            CommandError::Configuration(problems.render(stderr_style()))
        }
    }
}

/// Why a gateway did not start, and what to do about it.
pub(crate) fn start_error(error: &StartError) -> CommandError {
    let StartError::Listen { address, source } = error else {
        return CommandError::Start(error.to_string());
    };
    let kind = source.kind();
    let (cause, help) = if kind == io::ErrorKind::AddrInUse {
        (
            "another program is using this port, perhaps another toolwire".to_owned(),
            "Use any free port: toolwire serve --listen 127.0.0.1:0".to_owned(),
        )
    } else if kind == io::ErrorKind::PermissionDenied {
        (
            "only an administrator can use this port".to_owned(),
            format!("Use a port above 1023: toolwire serve --listen {}:8787", address.ip()),
        )
    } else if kind == io::ErrorKind::AddrNotAvailable {
        (
            "this machine does not have this address".to_owned(),
            "Listen on 127.0.0.1, or on 0.0.0.0 for every address.".to_owned(),
        )
    } else {
        (source.to_string(), "Choose another address with --listen.".to_owned())
    };
    CommandError::Start(format!("cannot listen on {address}: {cause}\n{help}"))
}

fn stderr_style() -> Style {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stderr().is_terminal() && !is_plain { Style::Coloured } else { Style::Plain }
}

/// A file is checked with the address that it contains. An address from the
/// command line may need a key where that one does not.
fn require_key_if_exposed(loaded: LoadedConfig) -> Result<LoadedConfig, CommandError> {
    let listen = loaded.config.listen;
    if exposed(listen) && loaded.config.keys.is_empty() {
        return Err(CommandError::Start(format!(
            "anyone who can reach {listen} could use your API keys\n\
             Listen on 127.0.0.1, or require a key in the configuration: keys = [{{ env = \"TOOLWIRE_KEY\" }}]"
        )));
    }
    Ok(loaded)
}
