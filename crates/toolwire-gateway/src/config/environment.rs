//! The environment, and the configuration that is made from it if there is no
//! file: the demo model, and the vendors whose keys are set.

use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use toolwire::{LossPolicy, Profile, Protocol};

use super::{
    Config, Credential, DEFAULT_LISTEN, Limits, LogFormat, Origin, Pattern, RetryPolicy, Secret,
    StoreConfig, Timeouts, ToolCallRules, UpstreamConfig, address,
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
}

/// The process's own environment. Relative paths start at a folder.
#[derive(Debug, Default)]
pub struct ProcessEnvironment {
    folder: PathBuf,
    files: RefCell<Vec<PathBuf>>,
}

impl ProcessEnvironment {
    /// An environment whose relative paths start at `folder`.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), files: RefCell::default() }
    }

    /// The files that were read, so that a change to them can be noticed.
    pub fn into_files(self) -> Vec<PathBuf> {
        self.files.into_inner()
    }
}

impl Environment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn read_file(&self, path: &Path) -> io::Result<String> {
        let path = self.folder.join(path);
        self.files.borrow_mut().push(path.clone());
        std::fs::read_to_string(path)
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
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
    let mut upstreams = vec![demo()];
    let mut notes = Vec::new();
    for vendor in &VENDORS {
        let Some(key) = environment.variable(vendor.key_variable).map(|key| key.trim().to_owned())
        else {
            continue;
        };
        // A shell that was set up for the gateway's clients holds the placeholder
        // instead of a key.
        if key == PLACEHOLDER {
            continue;
        }
        if !key.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            notes.push(format!(
                "{} contains a line break or a non-ASCII character and is ignored.",
                vendor.key_variable
            ));
            continue;
        }
        let origin = match environment.variable(vendor.url_variable) {
            None => vendor.default_origin(),
            Some(url) => match read_origin(&url, listen) {
                Ok(origin) => origin,
                Err(reason) => {
                    let VendorPreset { url_variable, default_url, .. } = vendor;
                    notes.push(format!("{url_variable} {reason}; {default_url} is used instead."));
                    vendor.default_origin()
                }
            },
        };
        upstreams.extend(vendor.upstreams(&origin, &key));
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
        log: LogFormat::Text,
    };
    Found { config, notes }
}

/// The upstream of the built-in demo model.
pub fn demo() -> UpstreamConfig {
    let models = ["demo", "demo-*"];
    upstream("demo", toolwire_demo::PROTOCOL, Origin::Demo, Credential::None, &models, 1)
}

/// A vendor whose key may be in the environment.
struct VendorPreset {
    key_variable: &'static str,
    url_variable: &'static str,
    default_url: &'static str,
    models: &'static [&'static str],
    /// The name, protocol and weight of each of its APIs.
    apis: &'static [(&'static str, Protocol, u32)],
}

impl VendorPreset {
    fn default_origin(&self) -> Origin {
        Origin::Http { base: self.default_url.to_owned(), path: "/v1".to_owned() }
    }

    fn upstreams(&self, origin: &Origin, key: &str) -> impl Iterator<Item = UpstreamConfig> {
        self.apis.iter().map(|(name, protocol, weight)| {
            let credential = Credential::Key(Secret::new(key.to_owned()));
            upstream(name, *protocol, origin.clone(), credential, self.models, *weight)
        })
    }
}

const VENDORS: [VendorPreset; 2] = [
    VendorPreset {
        key_variable: "OPENAI_API_KEY",
        url_variable: "OPENAI_BASE_URL",
        default_url: "https://api.openai.com",
        models: &["gpt-*", "chatgpt-*", "codex-*", "o1*", "o3*", "o4*"],
        // Both APIs serve the same models. A client of either gets its own.
        // Clients of Messages get Responses, which can express more of what they
        // send.
        apis: &[("openai", Protocol::Responses, 1), ("openai-chat", Protocol::Chat, 0)],
    },
    VendorPreset {
        key_variable: "ANTHROPIC_API_KEY",
        url_variable: "ANTHROPIC_BASE_URL",
        default_url: "https://api.anthropic.com",
        models: &["claude-*"],
        apis: &[("anthropic", Protocol::Messages, 1)],
    },
];

/// The origin in a variable, unless it is the gateway itself: the gateway is often
/// started in a shell that was set up for its clients.
fn read_origin(url: &str, listen: SocketAddr) -> Result<Origin, &'static str> {
    let origin = address::origin(url.trim(), false).map_err(|_| "is not an https address")?;
    let Origin::Http { base, .. } = &origin else { return Ok(origin) };
    if is_this_gateway(base, listen) { Err("points at this gateway") } else { Ok(origin) }
}

fn is_this_gateway(base: &str, listen: SocketAddr) -> bool {
    let Some((scheme, authority)) = base.split_once("://") else { return false };
    let Ok(authority) = authority.parse::<http::uri::Authority>() else { return false };
    let default_port = if scheme == "https" { 443 } else { 80 };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let same_host = address::is_loopback(host)
        || host.parse().is_ok_and(|host: IpAddr| host == listen.ip() || host.is_unspecified());
    same_host && authority.port_u16().unwrap_or(default_port) == listen.port()
}

fn upstream(
    name: &str,
    protocol: Protocol,
    origin: Origin,
    credential: Credential,
    models: &[&str],
    weight: u32,
) -> UpstreamConfig {
    UpstreamConfig {
        name: name.to_owned(),
        protocol,
        origin,
        ca: None,
        credential,
        models: models.iter().map(|model| Pattern((*model).to_owned())).collect(),
        headers: Vec::new(),
        profile: Profile::of(protocol),
        facts: toolwire::facts::ModelFacts::default(),
        tool_calls: ToolCallRules::default(),
        on_loss: None,
        output_budget: None,
        passthrough: None,
        weight,
        timeouts: Timeouts::default(),
    }
}

#[cfg(test)]
mod tests;
