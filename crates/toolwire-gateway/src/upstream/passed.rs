//! Requests whose body passes while it arrives.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Body;
use hyper::{HeaderMap, Method, Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, sleep, sleep_until};

use super::connect::Connector;
use super::{
    POOL_IDLE_TIMEOUT, READ_BUFFER, TimeoutPhase, Transport, Upstream, UpstreamError,
    UpstreamResponse,
};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The client for bodies that pass. It has connections of its own, and is made
/// when it is first needed.
pub(super) type PassedClient = Client<Connector, UnsyncBoxBody<Bytes, BoxError>>;

/// A request that passes.
pub(crate) struct PassedRequest {
    method: Method,
    /// The path as the client wrote it, with the version prefix and the query.
    path: String,
    headers: HeaderMap,
    body: UnsyncBoxBody<Bytes, BoxError>,
    /// Ends when there is nothing left to send.
    sent: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl PassedRequest {
    /// A request whose body is all here.
    pub(crate) fn whole(method: Method, path: String, headers: HeaderMap, body: Bytes) -> Self {
        let body = Full::from(body).map_err(|never| match never {}).boxed_unsync();
        Self { method, path, headers, body, sent: Box::pin(std::future::ready(())) }
    }

    /// A request whose body is read while it is sent.
    pub(crate) fn streamed<B>(
        method: Method,
        path: String,
        headers: HeaderMap,
        body: B,
        sent: impl Future<Output = ()> + Send + 'static,
    ) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let body = body.map_err(Into::into).boxed_unsync();
        Self { method, path, headers, body, sent: Box::pin(sent) }
    }
}

impl Upstream {
    /// Where a request to a path goes.
    pub(crate) fn url(&self, path: &str) -> String {
        let prefix = self.config.protocol.describe().prefix;
        match &self.transport {
            Transport::Demo => "the built-in demo model".to_owned(),
            Transport::Http { base, .. } => {
                let mut url = format!("{base}{}", path.strip_prefix(prefix).unwrap_or(path));
                for parameter in &self.config.query {
                    url.push(if url.contains('?') { '&' } else { '?' });
                    url.push_str(parameter);
                }
                url
            }
        }
    }

    /// Sends a request and waits for the head of the response. Nothing is sent
    /// twice. The upstream's time begins when it has got all of the request.
    pub(crate) async fn pass(
        &self,
        request: PassedRequest,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let Transport::Http { base, .. } = &self.transport else {
            return Err(UpstreamError::NotSent);
        };
        let PassedRequest { method, path, headers, body, sent } = request;
        let timeouts = &self.config.timeouts;
        let deadline = Instant::now() + timeouts.total;
        let uri: Uri = self.url(&path).parse().map_err(|_| UpstreamError::NotSent)?;
        let host = uri.host().unwrap_or_default().to_owned();
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        let client = self.passed_client.get_or_init(|| {
            let (timeout, ca) = (timeouts.connect, self.config.ca.as_ref());
            let is_tls = base.starts_with("https:");
            let connector =
                if is_tls { Connector::tls(timeout, ca) } else { Connector::plain(timeout) };
            Client::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(POOL_IDLE_TIMEOUT)
                .http1_max_buf_size(READ_BUFFER)
                .build(connector)
        });
        // A model may work on what is posted, and a whole answer begins when it is complete.
        let is_posted = *request.method() == Method::POST;
        let patience = if is_posted { timeouts.whole } else { timeouts.headers };
        let too_late = async {
            sent.await;
            sleep(patience).await;
        };
        tokio::select! {
            response = client.request(request) => match response {
                Ok(response) => UpstreamResponse::from_hyper(response, deadline),
                Err(error) => Err(UpstreamError::from_client(&error, &host)),
            },
            () = too_late => Err(UpstreamError::Timeout(TimeoutPhase::Headers)),
            () = sleep_until(deadline) => Err(UpstreamError::Timeout(TimeoutPhase::Total)),
        }
    }
}
