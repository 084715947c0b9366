//! The gateway from outside: real sockets, scripted upstreams.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod answer_ids;
mod broken_off;
mod bursts;
mod canaries;
mod cancel;
mod client;
mod clock;
mod connections;
mod drain;
mod early_head;
mod encodings;
mod endings;
mod endpoints;
mod errors;
mod explain;
mod fallback;
mod faults;
mod fixtures;
mod fourth;
#[allow(dead_code, reason = "the library's tests use the rest")]
#[path = "../../../toolwire/tests/it/fourth/mod.rs"]
mod fourth_codec;
mod guard;
mod headers;
mod hostile;
mod limits;
mod log;
mod losses;
mod matrix;
mod memory;
mod methods;
mod models;
mod openings;
mod output_budget;
mod pairs;
mod passthrough;
#[allow(dead_code, reason = "the store's tests use the rest")]
#[path = "../../../toolwire-store/tests/it/postgres_server.rs"]
mod postgres_server;
mod probes;
mod reload;
mod renamed;
mod repeat;
mod secrets;
mod secure;
mod smuggling;
mod soak;
mod stored;
mod stream_losses;
mod text_tools;
mod timeouts;
mod tls;
mod upstream;
mod vendors;
mod watched_log;

use std::time::Duration;

use toolwire::{LossPolicy, Protocol};
use toolwire_gateway::config::{
    Alias, Config, Credential, Limits, LogFormat, Origin, Pattern, RetryPolicy, Secret,
    UpstreamConfig,
};
use toolwire_gateway::{Gateway, Setup, serve};

/// The command's allocator, so that what is measured is what users get.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A configuration with these upstreams and nothing else.
pub(crate) fn config(upstreams: Vec<UpstreamConfig>) -> Config {
    Config {
        protocols: Protocol::ALL.to_vec(),
        listen: "127.0.0.1:0".parse().unwrap(),
        keys: Vec::new(),
        admin_key: None,
        origins: Vec::new(),
        on_loss: LossPolicy::Report,
        upstreams,
        prefer_same_protocol: true,
        aliases: Vec::new(),
        limits: Limits::default(),
        retry: RetryPolicy::default(),
        store: toolwire_gateway::config::StoreConfig::Off,
        model_refresh: None,
        log: LogFormat::Json,
    }
}

/// An upstream at a scripted server, for every model.
pub(crate) fn at(server: &upstream::Server) -> UpstreamConfig {
    let name = server.protocol.as_str().to_owned();
    let origin =
        Origin::Http { base: format!("http://{}", server.address), path: "/v1".to_owned() };
    let key = Credential::Key(Secret::new(watched_log::UPSTREAM_KEY.to_owned()));
    let plain = UpstreamConfig::new(name, server.protocol, origin, key);
    UpstreamConfig { models: vec![Pattern("*".to_owned())], ..plain }
}

/// Starts a gateway whose log is watched.
pub(crate) async fn start(config: Config) -> Gateway {
    serve(config, Setup { source: None, log: Box::new(watched_log::WatchedLog) }).await.unwrap()
}

/// Another name for a model.
pub(crate) fn alias(name: &str, model: &str) -> Alias {
    Alias { name: Pattern(name.to_owned()), model: model.to_owned() }
}

/// Every pair of a client's and an upstream's protocol.
pub(crate) fn pairs() -> impl Iterator<Item = (Protocol, Protocol)> {
    Protocol::ALL.into_iter().flat_map(|client| Protocol::ALL.map(|upstream| (client, upstream)))
}

/// Milliseconds.
pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
