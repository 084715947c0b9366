//! The HTTP client of one origin.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::Instant;

use super::connect::Connector;
use super::http1::{Http1Client, OutgoingRequest};
use super::late_write::CloseSignal;
use super::{CaBundle, POOL_IDLE_TIMEOUT, READ_BUFFER, UpstreamError, UpstreamResponse};
use crate::retry::RetryPolicy;

/// A client with its connections.
pub(super) enum HttpClient {
    Plain(Box<Http1Client>),
    /// HTTP/1.1 or HTTP/2 over TLS.
    Tls {
        client: Box<Client<Connector, Full<Bytes>>>,
        origin: Uri,
    },
}

impl HttpClient {
    pub(super) fn plain(origin: Uri, connect_timeout: Duration) -> Self {
        Self::Plain(Box::new(Http1Client::new(origin, connect_timeout)))
    }

    pub(super) fn tls(origin: Uri, connect_timeout: Duration, ca: Option<&CaBundle>) -> Self {
        let client = client_builder().build(Connector::tls(connect_timeout, ca));
        Self::Tls { client: Box::new(client), origin }
    }

    /// Sends a request once and waits for the head of the response. Its body must
    /// be complete at the deadline.
    pub(super) async fn send(
        &self,
        request: &OutgoingRequest<'_>,
        deadline: Instant,
    ) -> Result<UpstreamResponse, UpstreamError> {
        match self {
            Self::Plain(client) => {
                UpstreamResponse::from_http1(client.send(request).await?, deadline)
            }
            Self::Tls { client, origin } => {
                let OutgoingRequest { method, target, headers, body } = request;
                let mut uri = origin.clone().into_parts();
                uri.path_and_query = Some(target.clone());
                let mut request = Request::new(Full::from(Bytes::clone(body)));
                *request.method_mut() = method.clone();
                *request.uri_mut() = Uri::from_parts(uri).map_err(|_| UpstreamError::NotSent)?;
                *request.headers_mut() = (*headers).clone();
                // Its future is large, and plain requests need not carry it.
                let response = Box::pin(send_once(client, request)).await?;
                UpstreamResponse::from_hyper(response, deadline)
            }
        }
    }
}

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

/// How every client treats its connections.
pub(super) fn client_builder() -> Builder {
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

const WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// How often an idle HTTP/2 connection is checked.
const PING_INTERVAL: Duration = Duration::from_secs(20);

/// How long the end of a connection may take to reach its requests.
const CLOSE_LINGER: Duration = Duration::from_secs(1);
