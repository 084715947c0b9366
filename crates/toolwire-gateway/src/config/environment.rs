//! The environment, and the configuration that is made from it if there is no
//! file: the demo model, and the vendors whose keys are set.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use toolwire::{LossPolicy, Protocol};

use super::{
    Config, Credential, DEFAULT_LISTEN, DEFAULT_MODEL_REFRESH, Limits, LogFormat, Origin, Pattern,
    ReadFile, RetryPolicy, StoreConfig, UpstreamConfig, local_server, preset,
};

/// Environment variables and files, as a configuration sees them.
pub trait Environment {
    /// An environment variable, if it is set and not empty.
    fn variable(&self, name: &str) -> Option<String>;

    /// The text of a file.
    fn read_file(&self, path: &Path) -> io::Result<String>;

    /// Where a path of the configuration leads.
    fn resolve(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// Whether there is a folder where a path of the configuration leads.
    fn is_folder(&self, _path: &Path) -> bool {
        false
    }

    /// What servers on this machine answer to a GET, each at `host:port` and a
    /// path. Without a network, nobody answers.
    fn ask_local(&self, places: &[(String, &str)]) -> Vec<Option<String>> {
        vec![None; places.len()]
    }
}

/// The process's own environment. Relative paths start at a folder.
#[derive(Debug, Default)]
pub struct ProcessEnvironment {
    folder: PathBuf,
    files: RefCell<Vec<ReadFile>>,
}

impl ProcessEnvironment {
    /// An environment whose relative paths start at `folder`.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), files: RefCell::default() }
    }

    /// The files that were read, so that a change to them can be noticed.
    pub fn into_files(self) -> Vec<ReadFile> {
        self.files.into_inner()
    }
}

impl Environment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn read_file(&self, path: &Path) -> io::Result<String> {
        let path = self.folder.join(path);
        self.files.borrow_mut().push(ReadFile::before(path.clone()));
        std::fs::read_to_string(path)
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.folder.join(path).is_dir()
    }

    fn ask_local(&self, places: &[(String, &str)]) -> Vec<Option<String>> {
        local_server::ask(places)
    }
}

/// A configuration, and what the operator should know about it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The configuration.
    pub config: Config,
    /// A sentence for each variable that was set and not used.
    pub notes: Vec<String>,
}

/// The key for clients of a gateway that needs none. Most clients do not start
/// without one.
pub const PLACEHOLDER: &str = "toolwire";

/// Makes a configuration from the environment. Without `listen`, it listens on
/// the default address.
pub fn find(listen: Option<SocketAddr>, environment: &dyn Environment) -> Found {
    let listen = listen.unwrap_or(DEFAULT_LISTEN);
    let mut notes = Vec::new();
    let mut upstreams = vec![demo()];
    for found in preset::find_vendors(listen, environment, &mut notes) {
        upstreams.extend(found.upstreams);
    }
    let config = Config {
        protocols: Protocol::ALL.to_vec(),
        listen,
        keys: Vec::new(),
        admin_key: None,
        origins: Vec::new(),
        on_loss: LossPolicy::Report,
        upstreams,
        prefer_same_protocol: true,
        aliases: Vec::new(),
        limits: Limits::default(),
        retry: RetryPolicy::default(),
        store: StoreConfig::default_in(environment),
        model_refresh: Some(DEFAULT_MODEL_REFRESH),
        log: LogFormat::Text,
    };
    Found { config, notes }
}

/// The upstream of the built-in demo model.
pub fn demo() -> UpstreamConfig {
    let name = "demo".to_owned();
    let models = ["demo", "demo-*"].map(|model| Pattern(model.to_owned())).to_vec();
    let plain = UpstreamConfig::new(name, toolwire_demo::PROTOCOL, Origin::Demo, Credential::None);
    UpstreamConfig { models, ..plain }
}

#[cfg(test)]
mod tests;
