//! What the operator decides: one type, checked once, that everything shares.

mod address;
pub mod environment;
mod fields;
pub mod file;
#[cfg(test)]
pub(crate) mod growth;
mod hints;
mod local_server;
mod origins;
mod pattern;
pub mod preset;
mod problem;
mod profile;
mod read_file;
pub mod reload;
mod retry;
mod secrets;
mod source_mask;
mod store;
mod tool_calls;
mod upstream;
mod values;
mod vendors;
mod warnings;

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;

use toolwire::facts::ModelFacts;
use toolwire::{LossPolicy, Profile, Protocol};
use toolwire_tokens::BudgetPolicy;

pub use environment::{Environment, ProcessEnvironment};
pub use problem::{Problem, Problems, Style};
pub use read_file::ReadFile;
pub use store::StoreConfig;
pub use tool_calls::ToolCallRules;

pub use crate::retry::RetryPolicy;
pub use crate::upstream::CaBundle;

/// Everything the operator decides.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Keys that clients must send. Without any, only a loopback address is
    /// allowed.
    pub keys: Vec<Secret>,
    /// The key for `/admin`. No key of a client is accepted there.
    pub admin_key: Option<Secret>,
    /// The web pages that may use the gateway, as `https://host`.
    pub origins: Vec<String>,
    /// What to do about losses, unless the upstream or the request sets a policy.
    pub on_loss: LossPolicy,
    /// The protocols that clients may speak.
    pub protocols: Vec<Protocol>,
    /// The model APIs, in the order of the file.
    pub upstreams: Vec<UpstreamConfig>,
    /// Whether a request goes first to the upstreams of its model that speak
    /// its protocol, whatever their weights.
    pub prefer_same_protocol: bool,
    /// Other names for models. The first match wins.
    pub aliases: Vec<Alias>,
    /// Limits on what clients may send and how long they may take.
    pub limits: Limits,
    /// When to retry, and when not to use an upstream for a while.
    pub retry: RetryPolicy,
    /// What is remembered, and where.
    pub store: StoreConfig,
    /// How often upstreams are asked for their lists of models. `None` for never.
    pub model_refresh: Option<Duration>,
    /// The format of the log.
    pub log: LogFormat,
}

/// One model API.
#[derive(Clone, Debug)]
pub struct UpstreamConfig {
    /// Its name, for `name/model`, the log and the metrics.
    pub name: String,
    /// The protocol it speaks.
    pub protocol: Protocol,
    /// Where it is.
    pub origin: Origin,
    /// The authorities to trust instead of the machine's.
    pub ca: Option<CaBundle>,
    /// How the gateway authenticates.
    pub credential: Credential,
    /// The header for the operator's key, if it isn't the protocol's own.
    pub key_header: Option<String>,
    /// What every URL has behind its path, as `name=value`.
    pub query: Vec<String>,
    /// The models it serves.
    pub models: Vec<Pattern>,
    /// Whether it is asked for the list of its models.
    pub list_models: bool,
    /// Headers sent with every request.
    pub headers: Vec<(String, Secret)>,
    /// What it accepts beyond its protocol.
    pub profile: Profile,
    /// What the operator says about its models.
    pub facts: ModelFacts,
    /// How its models call tools.
    pub tool_calls: ToolCallRules,
    /// What to do about losses toward it.
    pub on_loss: Option<LossPolicy>,
    /// How long an answer may be, where the client does not say.
    pub output_budget: Option<BudgetPolicy>,
    /// Whether its other endpoints, such as embeddings and files, are served too.
    /// If it is not set, those that show what other clients have stored are not
    /// while several clients have keys.
    pub passthrough: Option<bool>,
    /// Its share of the requests for a model that several upstreams serve.
    pub weight: u32,
    /// How long to wait for it.
    pub timeouts: Timeouts,
}

impl UpstreamConfig {
    /// An upstream that serves no models yet and has no settings of its own.
    pub fn new(name: String, protocol: Protocol, origin: Origin, credential: Credential) -> Self {
        Self {
            name,
            protocol,
            origin,
            ca: None,
            credential,
            key_header: None,
            query: Vec::new(),
            models: Vec::new(),
            list_models: true,
            headers: Vec::new(),
            profile: Profile::of(protocol),
            facts: ModelFacts::default(),
            tool_calls: ToolCallRules::default(),
            on_loss: None,
            output_budget: None,
            passthrough: None,
            weight: 1,
            timeouts: Timeouts::default(),
        }
    }
}

/// Where an upstream is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The built-in demo model, which needs no network.
    Demo,
    /// An HTTP server.
    Http {
        /// Scheme, host and port. Credentials are sent nowhere else.
        base: String,
        /// The path before `/chat/completions` and the like, usually `/v1`.
        path: String,
    },
}

/// How the gateway authenticates to an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Not at all.
    None,
    /// With the operator's key.
    Key(Secret),
    /// With the client's own credential, passed through.
    Client,
}

/// A model's name, or a pattern with `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(pub String);

/// Another name for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name that clients use.
    pub name: Pattern,
    /// The model, possibly as `upstream/model`.
    pub model: String,
}

/// How long to wait for an upstream. Any received byte counts as progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the head of the response.
    pub headers: Duration,
    /// For the head of an answer that is not a stream. Vendors send it when the
    /// answer is complete, after all of the model's thinking.
    pub whole: Duration,
    /// For the first event of a stream.
    pub first_event: Duration,
    /// Between two chunks of the response.
    pub idle: Duration,
    /// For the whole response.
    pub total: Duration,
}

/// Limits on clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest request body, in bytes.
    pub body: usize,
    /// The longest form with files, in bytes. It is passed on and never kept.
    pub upload: usize,
    /// The longest head of a request, in bytes.
    pub head: usize,
    /// How long a client may take to send the head.
    pub head_time: Duration,
    /// How many tools a request may declare.
    pub tools: usize,
    /// The longest total length of their definitions, in bytes.
    pub schemas: usize,
    /// The longest event of a stream, in bytes.
    pub event: usize,
    /// The longest response that is read whole, and the most that one stream
    /// may keep until it ends, in bytes.
    pub response: usize,
    /// The most that the bodies of all requests and whole responses may take at
    /// a time, in bytes.
    pub bodies_total: usize,
    /// The most that all streams may keep at a time, in bytes.
    pub streams_total: usize,
    /// How long a client may read nothing of a response.
    pub stall: Duration,
    /// How long an HTTP/2 connection may be open without a request.
    pub idle: Duration,
    /// Connections at a time.
    pub connections: usize,
    /// Connections at a time from one address. If it is not set, loopback
    /// connections have no such limit: a proxy on this machine acts for many
    /// clients.
    pub connections_per_address: Option<usize>,
    /// How long new requests are still accepted after a signal to stop. If it is
    /// not set, only a gateway that other machines can reach accepts any.
    pub linger: Option<Duration>,
    /// How long open requests may continue after that.
    pub grace: Duration,
    /// How often an idle stream gets a comment line.
    pub heartbeat: Duration,
    /// When the client of a stream gets the head of the response, even if the
    /// upstream has sent nothing yet.
    pub early_head: Duration,
    /// The longest `toolwire-loss` header, in bytes.
    pub loss_header: usize,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
    /// No log.
    Off,
}

/// A text that is never printed.
#[derive(Clone)]
pub struct Secret {
    text: String,
    source: Option<Arc<SecretSource>>,
}

/// Where a secret comes from, and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretSource {
    /// The operator's name for it, or the name of its variable or file.
    pub name: String,
    /// Where it was read.
    pub place: SecretPlace,
}

/// Where a secret was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretPlace {
    /// In the environment variable with this name.
    Variable(String),
    /// In the file with this path.
    File(String),
}

impl Secret {
    /// Wraps a text so that it is never printed.
    pub fn new(text: String) -> Self {
        Self { text, source: None }
    }

    /// The same secret, with where it comes from.
    #[must_use]
    pub fn from_source(self, source: SecretSource) -> Self {
        Self { source: Some(Arc::new(source)), ..self }
    }

    /// Where it comes from, if that is known.
    pub fn source(&self) -> Option<&Arc<SecretSource>> {
        self.source.as_ref()
    }

    /// The text, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Secret {}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}

/// The default address.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 8787));

/// How often upstreams are asked for their lists of models.
pub const DEFAULT_MODEL_REFRESH: Duration = Duration::from_secs(60 * 60);

/// Whether other machines can reach an address. Such an address needs keys.
pub fn exposed(listen: SocketAddr) -> bool {
    !listen.ip().to_canonical().is_loopback()
}

impl Config {
    /// How long new requests are still accepted after a signal to stop.
    pub fn linger(&self) -> Duration {
        let is_exposed = exposed(self.listen);
        self.limits.linger.unwrap_or(if is_exposed { DEFAULT_LINGER } else { Duration::ZERO })
    }

    /// Whether several clients with keys of their own share an upstream's account, and must
    /// not see there what the others have left.
    pub(crate) fn shares_account(&self, upstream: &UpstreamConfig) -> bool {
        let is_clients_own = match &upstream.credential {
            Credential::Client => true,
            Credential::None | Credential::Key(_) => self.keys.len() <= 1,
        };
        !is_clients_own && upstream.passthrough != Some(true)
    }
}

/// How long load balancers may take to notice that the gateway is stopping.
const DEFAULT_LINGER: Duration = Duration::from_secs(5);

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            headers: Duration::from_secs(120),
            // What the SDKs of the vendors wait.
            whole: Duration::from_secs(600),
            first_event: Duration::from_secs(300),
            idle: Duration::from_secs(300),
            total: Duration::from_secs(3600),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 32 * 1024 * 1024,
            upload: 512 * 1024 * 1024,
            head: 64 * 1024,
            head_time: Duration::from_secs(10),
            tools: 1024,
            schemas: 8 * 1024 * 1024,
            event: toolwire::wire::sse::EVENT_LIMIT,
            response: 64 * 1024 * 1024,
            bodies_total: 512 * 1024 * 1024,
            streams_total: 512 * 1024 * 1024,
            stall: Duration::from_secs(60),
            idle: Duration::from_secs(120),
            connections: 4096,
            connections_per_address: None,
            linger: None,
            grace: Duration::from_secs(300),
            heartbeat: Duration::from_secs(15),
            early_head: Duration::from_secs(25),
            loss_header: 2048,
        }
    }
}
