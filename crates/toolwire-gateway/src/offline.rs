//! What a gateway would do, without one that listens: the request that it would
//! send, and whether its upstreams can be used.

use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request};
use toolwire::Protocol;
use toolwire::protocol::PathMatch;

use crate::active_config::{ActiveConfig, StartError};
use crate::config::{Config, LogFormat, Secret};
use crate::guard::Credentials;
use crate::observe::RequestLog;
use crate::relay::{self, RequestContext};
use crate::state::GatewayState;
use crate::stored::ResponseStore;

/// A gateway that neither listens nor logs nor keeps anything.
pub struct OfflineGateway {
    state: Arc<GatewayState>,
    active: Arc<ActiveConfig>,
    parts: Parts,
    credentials: Credentials,
}

impl OfflineGateway {
    /// Checks a configuration and builds its upstreams.
    ///
    /// # Errors
    ///
    /// Why a gateway could not start with the configuration.
    pub fn new(config: Config) -> Result<Self, StartError> {
        let log = Box::new(std::io::sink());
        let state = GatewayState::new(config, ResponseStore::default(), log, None)?;
        let (active, state) = (state.active.load_full(), Arc::new(state));
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.method = Method::POST;
        parts.headers = HeaderMap::new();
        // An upstream that takes the client's own key has to get one.
        let client_key = Secret::new("the-client's-own-key".to_owned());
        let credentials = Credentials { bearer: Some(client_key), api_key: None, key: None };
        Ok(Self { state, active, parts, credentials })
    }

    /// What would be sent for a request of a client that speaks `client`: where,
    /// with which headers and which body, and what is lost. Nothing is sent. The
    /// plan is JSON, and so is the error, in the client's protocol.
    ///
    /// # Errors
    ///
    /// The error that the client would get.
    pub async fn plan(mut self, client: Protocol, body: Vec<u8>) -> Result<Vec<u8>, Vec<u8>> {
        self.parts.headers.insert("toolwire-dry-run", HeaderValue::from_static("?1"));
        let mut context = self.context(client);
        relay::plan(&mut context, body).await
    }

    /// A request that nobody has sent.
    pub(crate) fn context(&self, client: Protocol) -> RequestContext<'_> {
        let Self { state, active, parts, credentials } = self;
        let id = relay::request_id();
        let log = RequestLog::start(state, LogFormat::Off, id, client, "offline");
        let path = PathMatch::default();
        RequestContext { state, active, parts, credentials, client, path, log }
    }

    pub(crate) fn active(&self) -> &Arc<ActiveConfig> {
        &self.active
    }
}
