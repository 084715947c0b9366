//! One model API, and how to talk to it.
//!
//! A request goes to the origin that the operator configured and nowhere else.
//! The gateway follows no redirects, uses no proxies from the environment, and
//! takes no address from a client's request.

mod connect;
mod connect_error;
mod decode;
mod error;
#[cfg(test)]
pub(crate) mod growth;
mod http1;
mod late_write;
mod passed;
mod response;
mod tls;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use hyper::http::uri::PathAndQuery;
use hyper::{HeaderMap, Method, Uri};
use tokio::time::{Instant, timeout_at};
use toolwire_demo::TokenEstimator;
use toolwire_tokens::{Tokenizer, count_request};

#[cfg(test)]
pub(crate) use self::connect_error::{ConnectFailure, TlsFailure};
pub(crate) use self::decode::{DecodeError, Decoder, MAX_PIECE, MAX_RATIO};
pub(crate) use self::error::{TimeoutPhase, UpstreamError};
#[cfg(test)]
pub(crate) use self::http1::growth as http1_growth;
use self::http1::{Http1Client, OutgoingRequest};
use self::passed::PassedClient;
pub(crate) use self::passed::PassedRequest;
pub(crate) use self::response::{ResponseLimit, UpstreamBody, UpstreamResponse};
pub use self::tls::CaBundle;
use self::tls::TlsClient;
use crate::active_config::StartError;
use crate::config::{self, Origin};
use crate::health::{Availability, Health};
use crate::heavy_work::in_place;
use crate::models::{ListingSlot, PublishedFacts};
use crate::observe::UpstreamMetrics;
use crate::relay::KeyHeader;
use crate::retry::RetryPolicy;

/// One model API.
pub(crate) struct Upstream {
    pub(crate) config: config::UpstreamConfig,
    pub(crate) health: Arc<Health>,
    pub(crate) metrics: Arc<UpstreamMetrics>,
    pub(crate) retry: Arc<RetryPolicy>,
    /// The models that it lists.
    pub(crate) listing: Arc<ListingSlot>,
    pub(crate) published: PublishedFacts,
    transport: Transport,
    passed_client: OnceLock<PassedClient>,
    pub(crate) key_header: KeyHeader,
}

enum Transport {
    Demo,
    Http {
        client: Box<Http1Client>,
        /// The address without a slash at its end.
        base: String,
    },
}

impl Upstream {
    /// Whether it remembers what it has answered by itself.
    pub(crate) fn remembers(&self) -> bool {
        toolwire::codec(self.config.protocol).stateful.is_some()
    }

    /// Builds an upstream. `previous` had its name until now. If it is the same,
    /// its health and its list of models stay.
    pub(crate) fn build(
        config: &config::UpstreamConfig,
        metrics: Arc<UpstreamMetrics>,
        retry: &Arc<RetryPolicy>,
        previous: Option<&Arc<Self>>,
    ) -> Result<Self, StartError> {
        let transport = match &config.origin {
            Origin::Demo => Transport::Demo,
            Origin::Http { base, path } => {
                let invalid = |reason: &str| StartError::Upstream {
                    name: config.name.clone(),
                    reason: reason.to_owned(),
                };
                let base = format!("{}{}", base.trim_end_matches('/'), path.trim_end_matches('/'));
                let uri: Uri = base.parse().map_err(|_| invalid("its address is not a URL"))?;
                if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
                    return Err(invalid("its address has no host, or contains a credential"));
                }
                let tls = match uri.scheme_str() {
                    Some("https") => {
                        let tls =
                            TlsClient::new(uri.host().unwrap_or_default(), config.ca.as_ref());
                        Some(tls.ok_or_else(|| invalid("no certificate can name its host"))?)
                    }
                    Some("http") => None,
                    Some(_) | None => {
                        return Err(invalid("its address starts with neither http nor https"));
                    }
                };
                let client = Box::new(Http1Client::new(uri, config.timeouts.connect, tls));
                Transport::Http { client, base }
            }
        };
        let same = previous.filter(|previous| previous.config.origin == config.origin);
        let health = same.map_or_else(Arc::default, |same| Arc::clone(&same.health));
        let retry = Arc::clone(retry);
        // Another key may see other models.
        let same = same.filter(|same| {
            same.config.protocol == config.protocol && same.config.credential == config.credential
        });
        let listing = same.map_or_else(Arc::default, |same| Arc::clone(&same.listing));
        let (config, published) = (config.clone(), PublishedFacts::default());
        Ok(Self {
            config,
            health,
            metrics,
            retry,
            listing,
            published,
            transport,
            passed_client: OnceLock::new(),
            key_header: KeyHeader::new(),
        })
    }

    /// Sends a request to a path of its protocol and waits for the head of the
    /// response, for as long as `patience`.
    pub(crate) async fn send(
        &self,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
        patience: Duration,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let now = Instant::now();
        let deadline = now + self.config.timeouts.total;
        let head_deadline = deadline.min(now + patience);
        match &self.transport {
            Transport::Demo => {
                let respond = || toolwire_demo::respond(self.config.protocol, &body, DEMO_TOKENS);
                let response = in_place(body.len(), respond);
                Ok(UpstreamResponse::from_demo(response, deadline))
            }
            Transport::Http { client, base } => {
                // The configured address has the version of the API already.
                let prefix = self.config.protocol.describe().prefix;
                let path = path.strip_prefix(prefix).unwrap_or(path);
                let target = target(base, path, &self.config.query)?;
                let (method, headers, body) = (Method::POST, &headers, &body);
                let request = OutgoingRequest { method, target, headers, body };
                self.send_http(client, &request, head_deadline, deadline).await
            }
        }
    }

    /// Asks for something that needs no body, at a path behind the version of the
    /// API.
    pub(crate) async fn get(
        &self,
        path: &str,
        query: &str,
        headers: HeaderMap,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let Transport::Http { client, base } = &self.transport else {
            return Err(UpstreamError::NotSent);
        };
        let mut parameters = self.config.query.clone();
        parameters.extend((!query.is_empty()).then(|| query.to_owned()));
        let target = target(base, path, &parameters)?;
        let (method, headers, body) = (Method::GET, &headers, &Bytes::new());
        let request = OutgoingRequest { method, target, headers, body };
        let (now, timeouts) = (Instant::now(), &self.config.timeouts);
        let deadline = now + timeouts.total;
        let head_deadline = deadline.min(now + timeouts.headers);
        self.send_http(client, &request, head_deadline, deadline).await
    }

    /// Sends a request, and once more on another connection if the retry policy
    /// allows it.
    async fn send_http(
        &self,
        client: &Http1Client,
        request: &OutgoingRequest<'_>,
        head_deadline: Instant,
        deadline: Instant,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let sending = async {
            match client.send(request).await {
                // If an upstream refuses everything, repeating it would double the load.
                Err(error) if RetryPolicy::may_repeat(error) && !self.health.is_ejected() => {
                    self.metrics.repeated();
                    client.send(request).await
                }
                result => result,
            }
        };
        match timeout_at(head_deadline, sending).await {
            Ok(result) => UpstreamResponse::from_http1(result?, deadline),
            Err(_elapsed) => Err(UpstreamError::Timeout(TimeoutPhase::Headers)),
        }
    }

    /// Closes the connections that no request uses.
    pub(crate) fn close_idle(&self) {
        match &self.transport {
            Transport::Http { client, base: _ } => client.close_idle(),
            Transport::Demo => {}
        }
    }

    /// Records a success.
    pub(crate) fn succeeded(&self) {
        self.health.succeeded();
    }

    /// Records that it has begun to respond.
    pub(crate) fn responded(&self) {
        self.health.probe_answered(&self.retry);
    }

    /// Records a failure that is not the client's fault.
    pub(crate) fn failed(&self) {
        if self.health.failed(Instant::now(), &self.retry) {
            self.metrics.ejected();
        }
    }

    /// Records that it asked for a pause.
    pub(crate) fn pause(&self, length: Duration) {
        self.health.pause(Instant::now(), length, &self.retry);
    }

    /// Whether to try it.
    pub(crate) fn availability(&self, now: Instant) -> Availability {
        self.health.check(now, &self.retry)
    }
}

/// How the demo model counts.
const DEMO_TOKENS: TokenEstimator = TokenEstimator {
    request: |request| count_request(request, Tokenizer::ESTIMATE),
    text: |text| Tokenizer::ESTIMATE.count(text),
};

/// The path and the query of a request.
fn target(base: &str, path: &str, parameters: &[String]) -> Result<PathAndQuery, UpstreamError> {
    let behind_scheme = base.split_once("://").map_or(base, |(_, behind)| behind);
    let base_path = behind_scheme.find('/').and_then(|start| behind_scheme.get(start..));
    let mut target = format!("{}{path}", base_path.unwrap_or_default());
    for (index, parameter) in parameters.iter().enumerate() {
        target.push(if index == 0 { '?' } else { '&' });
        target.push_str(parameter);
    }
    PathAndQuery::try_from(target).map_err(|_| UpstreamError::NotSent)
}

/// How long an unused connection is kept. Vendors' load balancers close theirs
/// after a minute or more. If the gateway closes first, a connection cannot close
/// under a request.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(50);

/// What a connection may buffer. It is the memory that a client costs if it does
/// not read.
const READ_BUFFER: usize = 16 * 1024;
