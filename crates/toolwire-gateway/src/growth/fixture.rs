//! A gateway without sockets, for the functions that need one.

use std::future::Future;
use std::sync::Arc;

use hyper::Request;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use toolwire::Protocol;
use toolwire::protocol::PathMatch;

use crate::active_config::ActiveConfig;
use crate::config::{
    Config, Credential, Limits, LogFormat, Origin, Pattern, RetryPolicy, StoreConfig,
    UpstreamConfig,
};
use crate::guard::Credentials;
use crate::observe::RequestLog;
use crate::relay::RequestContext;
use crate::state::GatewayState;
use crate::stored::ResponseStore;
use crate::upstream::Upstream;

/// A gateway, and the head of a request to it.
pub(crate) struct Fixture {
    pub(crate) state: Arc<GatewayState>,
    pub(crate) active: Arc<ActiveConfig>,
    pub(crate) parts: Parts,
    credentials: Credentials,
}

impl Fixture {
    /// A gateway with one upstream of each protocol, whose limits are high: what
    /// a limit refuses costs nothing.
    pub(crate) fn new(headers: HeaderMap) -> Self {
        let upstreams = Protocol::ALL.map(|protocol| upstream(protocol.as_str(), protocol, &["*"]));
        Self::with_config(config(upstreams.to_vec()), headers)
    }

    pub(crate) fn with_config(config: Config, headers: HeaderMap) -> Self {
        let log = Box::new(std::io::sink());
        let state = GatewayState::new(config, ResponseStore::default(), log, None).unwrap();
        let (active, state) = (state.active.load_full(), Arc::new(state));
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.headers = headers;
        Self { state, active, parts, credentials: Credentials::default() }
    }

    /// The request of a client.
    pub(crate) fn context(&self, client: Protocol) -> RequestContext<'_> {
        let Self { state, active, parts, credentials } = self;
        let log = RequestLog::start(state, LogFormat::Off, "req_1".to_owned(), client, "/");
        let path = PathMatch::default();
        RequestContext { state, active, parts, credentials, client, path, log }
    }

    pub(crate) fn upstream(&self, protocol: Protocol) -> &Arc<Upstream> {
        let mut all = self.active.upstreams.iter();
        all.find(|upstream| upstream.config.protocol == protocol).unwrap()
    }
}

pub(crate) fn upstream(name: &str, protocol: Protocol, models: &[&str]) -> UpstreamConfig {
    let models = models.iter().map(|model| pattern(model)).collect();
    let plain = UpstreamConfig::new(name.to_owned(), protocol, Origin::Demo, Credential::None);
    UpstreamConfig { models, ..plain }
}

pub(crate) fn pattern(text: &str) -> Pattern {
    Pattern(text.to_owned())
}

pub(crate) fn config(upstreams: Vec<UpstreamConfig>) -> Config {
    Config {
        protocols: Protocol::ALL.to_vec(),
        listen: "127.0.0.1:0".parse().unwrap(),
        keys: Vec::new(),
        admin_key: None,
        origins: Vec::new(),
        on_loss: toolwire::LossPolicy::Report,
        upstreams,
        prefer_same_protocol: true,
        aliases: Vec::new(),
        limits: Limits { tools: usize::MAX, schemas: usize::MAX, ..Limits::default() },
        retry: RetryPolicy::default(),
        store: StoreConfig::Off,
        model_refresh: None,
        log: LogFormat::Off,
    }
}

/// Headers as they arrive, in which a name may come again.
pub(crate) fn headers<N: AsRef<str>, V: AsRef<str>>(
    list: impl IntoIterator<Item = (N, V)>,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in list {
        let name: HeaderName = name.as_ref().parse().unwrap();
        headers.append(name, HeaderValue::from_str(value.as_ref()).unwrap());
    }
    headers
}

/// A body in pieces as a network gives them.
pub(crate) fn chunks(body: &[u8]) -> Vec<Vec<u8>> {
    body.chunks(4096).map(<[u8]>::to_vec).collect()
}

/// Runs a future on this thread, whose clock is read.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().build().unwrap().block_on(future)
}
