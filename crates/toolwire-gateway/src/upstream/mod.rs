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
mod late_write;
mod passed;
mod response;
mod tls;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Request, Response, Uri};
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, timeout_at};
use toolwire_demo::TokenEstimator;
use toolwire_tokens::{Tokenizer, count_request};

use self::connect::Connector;
#[cfg(test)]
pub(crate) use self::connect_error::{ConnectFailure, TlsFailure};
pub(crate) use self::decode::{Decoder, MAX_PIECE};
pub(crate) use self::error::{TimeoutPhase, UpstreamError};
use self::late_write::CloseSignal;
use self::passed::PassedClient;
pub(crate) use self::passed::PassedRequest;
pub(crate) use self::response::{ResponseLimit, UpstreamBody, UpstreamResponse};
pub use self::tls::CaBundle;
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
    Http { client: Box<Client<Connector, Full<Bytes>>>, base: String },
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
                let timeout = config.timeouts.connect;
                let connector = match uri.scheme_str() {
                    Some("https") => Connector::tls(timeout, config.ca.as_ref()),
                    Some("http") => Connector::plain(timeout),
                    Some(_) | None => {
                        return Err(invalid("its address starts with neither http nor https"));
                    }
                };
                if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
                    return Err(invalid("its address has no host, or contains a credential"));
                }
                Transport::Http { client: Box::new(http_client(connector)), base }
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
    /// response.
    pub(crate) async fn send(
        &self,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let now = Instant::now();
        let deadline = now + self.config.timeouts.total;
        match &self.transport {
            Transport::Demo => {
                let respond = || toolwire_demo::respond(self.config.protocol, &body, DEMO_TOKENS);
                let response = in_place(body.len(), respond);
                Ok(UpstreamResponse::from_demo(response, deadline))
            }
            Transport::Http { client, base } => {
                // The configured address has the version of the API already.
                let prefix = self.config.protocol.describe().prefix;
                let uri = format!("{base}{}", path.strip_prefix(prefix).unwrap_or(path));
                let uri = with_query(uri, &self.config.query);
                let mut request = Request::new(Full::from(body));
                *request.method_mut() = Method::POST;
                *request.uri_mut() = uri.parse().map_err(|_| UpstreamError::NotSent)?;
                *request.headers_mut() = headers;
                let head_deadline = deadline.min(now + self.config.timeouts.headers);
                match timeout_at(head_deadline, self.send_http(client, request)).await {
                    Ok(Ok(response)) => UpstreamResponse::new(response, deadline),
                    Ok(Err(error)) => Err(error),
                    Err(_elapsed) => Err(UpstreamError::Timeout(TimeoutPhase::Headers)),
                }
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
        let uri = with_query(format!("{base}{path}"), &parameters);
        let mut request = Request::new(Full::default());
        *request.uri_mut() = uri.parse().map_err(|_| UpstreamError::NotSent)?;
        *request.headers_mut() = headers;
        let now = Instant::now();
        let deadline = now + self.config.timeouts.total;
        let head_deadline = deadline.min(now + self.config.timeouts.headers);
        match timeout_at(head_deadline, self.send_http(client, request)).await {
            Ok(Ok(response)) => UpstreamResponse::new(response, deadline),
            Ok(Err(error)) => Err(error),
            Err(_elapsed) => Err(UpstreamError::Timeout(TimeoutPhase::Headers)),
        }
    }

    /// Sends a request, and once more on another connection if the retry policy
    /// allows it.
    async fn send_http(
        &self,
        client: &Client<Connector, Full<Bytes>>,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let copy = request.clone();
        match send_once(client, request).await {
            // If an upstream refuses everything, repeating it would double the load.
            Err(error) if RetryPolicy::may_repeat(error) && !self.health.is_ejected() => {
                self.metrics.repeated();
                send_once(client, copy).await
            }
            result => result,
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

/// Sends a request once.
async fn send_once(
    client: &Client<Connector, Full<Bytes>>,
    mut request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, UpstreamError> {
    let captured = capture_connection(&mut request);
    let client_error = tokio::select! {
        result = client.request(request) => match result {
            Ok(response) => return Ok(response),
            Err(error) => error,
        },
        () = lost_with_connection(captured) => return Err(UpstreamError::NotSent),
    };
    let error = UpstreamError::from_client(&client_error);
    // An HTTP/2 connection that refuses one request may stay open, and the pool
    // would offer it again.
    if RetryPolicy::may_repeat(error)
        && let Some(connection) = client_error.connect_info()
    {
        connection.poison();
    }
    Err(error)
}

/// Waits until the connection of a request has closed without ending the
/// request. That happens if the connection closes while the pool is handing the
/// request over: nothing sends the request, and nothing reports it.
async fn lost_with_connection(mut captured: CaptureConnection) {
    loop {
        let Some(mut signal) = CloseSignal::of(&mut captured).await else {
            std::future::pending().await
        };
        signal.closed().await;
        tokio::time::sleep(CLOSE_LINGER).await;
        // The pool may have moved the request to another connection.
        if CloseSignal::of(&mut captured).await.is_some_and(|now| now.is_same_connection(&signal)) {
            return;
        }
    }
}

/// A URL with parameters behind its path.
fn with_query(mut uri: String, parameters: &[String]) -> String {
    for (index, parameter) in parameters.iter().enumerate() {
        uri.push(if index == 0 { '?' } else { '&' });
        uri.push_str(parameter);
    }
    uri
}

fn http_client(connector: Connector) -> Client<Connector, Full<Bytes>> {
    client_builder().build(connector)
}

/// How every client treats its connections.
fn client_builder() -> Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .http1_max_buf_size(READ_BUFFER)
        .http2_initial_stream_window_size(WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(PING_INTERVAL)
        .http2_keep_alive_timeout(PING_INTERVAL);
    builder
}

/// How long an unused connection is kept. Vendors' load balancers close theirs
/// after a minute or more. If the gateway closes first, a connection cannot close
/// under a request.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(50);

/// What a connection may buffer. It is the memory that a client costs if it does
/// not read.
const READ_BUFFER: usize = 16 * 1024;
const WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// How often an idle HTTP/2 connection is checked.
const PING_INTERVAL: Duration = Duration::from_secs(20);

/// How long the end of a connection may take to reach its requests.
const CLOSE_LINGER: Duration = Duration::from_secs(1);
