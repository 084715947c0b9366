//! One model API, and how to talk to it.
//!
//! A request goes to the origin that the operator configured and nowhere else:
//! redirects are not followed, the environment's proxies not asked, and no
//! field of a client's request names an address.

mod connect;
mod decode;
mod error;
mod late_write;
mod response;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, timeout_at};
use toolwire::Protocol;

use self::connect::Connector;
pub(crate) use self::decode::Decoder;
pub(crate) use self::error::{Phase, Trouble};
use self::late_write::Life;
pub(crate) use self::response::{Answer, Body};
pub use self::tls::Authorities;
use crate::active_config::StartError;
use crate::config::{self, Origin};
use crate::demo;
use crate::health::Health;
use crate::observe::Meters;

/// One model API.
pub(crate) struct Upstream {
    pub(crate) config: config::Upstream,
    pub(crate) health: Arc<Health>,
    pub(crate) meters: Arc<Meters>,
    way: Way,
}

enum Way {
    Demo,
    Http { client: Box<Client<Connector, Full<Bytes>>>, base: String },
}

/// What of an API is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An answer.
    Answers,
    /// How many tokens a request costs.
    Counts,
}

impl Upstream {
    /// Builds what the configuration says, and keeps what is known of the
    /// health of the same upstream.
    pub(crate) fn build(
        config: &config::Upstream,
        meters: Arc<Meters>,
        known: &[Arc<Self>],
    ) -> Result<Self, StartError> {
        let way = match &config.origin {
            Origin::Demo => Way::Demo,
            Origin::Http { base, path } => {
                let broken = |reason: &str| StartError::Upstream {
                    name: config.name.clone(),
                    reason: reason.to_owned(),
                };
                let base = format!("{}{}", base.trim_end_matches('/'), path.trim_end_matches('/'));
                let uri: Uri = base.parse().map_err(|_| broken("its address is not a URL"))?;
                let limit = config.timeouts.connect;
                let connector = match uri.scheme_str() {
                    Some("https") => Connector::secure(limit, config.ca.as_ref()),
                    Some("http") => Connector::plain(limit),
                    Some(_) | None => {
                        return Err(broken("its address starts with neither http nor https"));
                    }
                };
                if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
                    return Err(broken("its address has no host, or holds a credential"));
                }
                Way::Http { client: Box::new(client(connector)), base }
            }
        };
        let same = known
            .iter()
            .find(|known| known.config.name == config.name && known.config.origin == config.origin);
        let health = same.map_or_else(Arc::default, |known| Arc::clone(&known.health));
        Ok(Self { config: config.clone(), health, meters, way })
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn send(
        &self,
        endpoint: Endpoint,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Answer, Trouble> {
        let now = Instant::now();
        let total = now + self.config.timeouts.total;
        match &self.way {
            Way::Demo => Ok(Answer::of_demo(demo::answer(self.config.protocol, &body), total)),
            Way::Http { client, base } => {
                let uri = format!("{base}{}", path(self.config.protocol, endpoint));
                let mut request = Request::new(Full::from(body));
                *request.method_mut() = Method::POST;
                *request.uri_mut() = uri.parse().map_err(|_| Trouble::Unsent)?;
                *request.headers_mut() = headers;
                let by = total.min(now + self.config.timeouts.headers);
                match timeout_at(by, self.ask(client, request)).await {
                    Ok(Ok(response)) => Answer::new(response, total),
                    Ok(Err(trouble)) => Err(trouble),
                    Err(_elapsed) => Err(Trouble::Late(Phase::Head)),
                }
            }
        }
    }

    /// Sends a request, and once more on another connection if this one ended
    /// without the upstream having looked at it. Servers that restart or balance
    /// their load do so, and mean no harm by it.
    async fn ask(
        &self,
        client: &Client<Connector, Full<Bytes>>,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Trouble> {
        let again = request.clone();
        match once(client, request).await {
            Err(trouble) if trouble.is_untouched() => {
                self.meters.repeated();
                once(client, again).await
            }
            answered => answered,
        }
    }

    /// It answered well.
    pub(crate) fn succeeded(&self) {
        self.health.succeeded();
    }

    /// It failed, by no fault of the client.
    pub(crate) fn failed(&self) {
        if self.health.failed(Instant::now()) {
            self.meters.ejected();
        }
    }
}

/// Sends a request once.
async fn once(
    client: &Client<Connector, Full<Bytes>>,
    mut request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Trouble> {
    let carrier = capture_connection(&mut request);
    let error = tokio::select! {
        answered = client.request(request) => match answered {
            Ok(response) => return Ok(response),
            Err(error) => error,
        },
        () = forgotten(carrier) => return Err(Trouble::Unsent),
    };
    let trouble = Trouble::of(&error);
    // An HTTP/2 connection that refuses one request may live on, and the pool
    // would offer it again.
    if trouble.is_untouched()
        && let Some(connection) = error.connect_info()
    {
        connection.poison();
    }
    Err(trouble)
}

/// Waits until the connection that a request was given to is gone, and its end
/// has not ended the request. That can only be one that lay between the pool
/// and the connection when it closed; nobody sends it, and nobody says so.
async fn forgotten(mut carrier: CaptureConnection) {
    loop {
        let Some(mut life) = Life::of(&mut carrier).await else { std::future::pending().await };
        life.over().await;
        tokio::time::sleep(FAREWELL).await;
        // The pool may have found it another connection.
        if Life::of(&mut carrier).await.is_some_and(|now| now.is_same(&life)) {
            return;
        }
    }
}

/// Where the API has what is asked of it.
fn path(protocol: Protocol, endpoint: Endpoint) -> &'static str {
    match (protocol, endpoint) {
        (Protocol::Chat, Endpoint::Answers | Endpoint::Counts) => "/chat/completions",
        (Protocol::Responses, Endpoint::Answers) => "/responses",
        (Protocol::Responses, Endpoint::Counts) => "/responses/input_tokens",
        (Protocol::Messages, Endpoint::Answers) => "/messages",
        (Protocol::Messages, Endpoint::Counts) => "/messages/count_tokens",
    }
}

fn client(connector: Connector) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .http1_max_buf_size(BUFFER)
        .http2_initial_stream_window_size(WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(PING)
        .http2_keep_alive_timeout(PING)
        .build(connector)
}

/// How long an unused connection is kept. Vendors' load balancers close theirs
/// after a minute or more; one that is closed first by us cannot be closed
/// under a request.
const IDLE: Duration = Duration::from_secs(50);

/// What a connection may hold that nobody has taken yet: it is what a client
/// who does not read costs.
const BUFFER: usize = 64 * 1024;
const WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// How often a silent HTTP/2 connection is asked whether it is still there.
const PING: Duration = Duration::from_secs(20);

/// How long the end of a connection may take to reach its requests.
const FAREWELL: Duration = Duration::from_secs(1);
