//! HTTP/1.1 to one origin, without tasks of its own.
//!
//! A request is written, and its response read, by whoever polls for it, so no
//! byte passes through a channel, and the task that waits for the response is the
//! one that the system wakes. A connection that waits holds no buffer of ours: what
//! arrives is read into memory on the stack and copied from there.
//!
//! TLS toward a server is HTTP/1.1 too, also if the server speaks HTTP/2. Requests
//! that share a connection share its window, which clients that do not read would
//! fill for all others, and wait for each other beyond the number of streams that
//! the server allows.

mod body;
mod chunked;
mod connection;
mod framing;
#[cfg(test)]
pub(crate) mod growth;
mod head;
mod moment;
mod pool;
mod request;
mod stream;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::time::timeout;
use tower_service::Service as _;

pub(super) use self::body::{BodyError, Http1Body};
use self::connection::Connection;
pub(super) use self::head::Head;
use self::pool::Pool;
pub(super) use self::request::OutgoingRequest;
pub(super) use self::stream::Stream;
use super::error::{TimeoutPhase, UpstreamError};
use super::tls::TlsClient;
use super::{POOL_IDLE_TIMEOUT, connect};

/// The connections to one origin.
pub(super) struct Http1Client {
    connector: HttpConnector,
    tls: Option<TlsClient>,
    connect_timeout: Duration,
    origin: Uri,
    /// The host and the port as the `host` header has them.
    host: String,
    pool: Arc<Pool<Stream>>,
}

impl Http1Client {
    /// A client for an origin that has a host, with TLS or without.
    pub(super) fn new(origin: Uri, connect_timeout: Duration, tls: Option<TlsClient>) -> Self {
        let host = origin.host().unwrap_or_default();
        let usual_port = if tls.is_some() { HTTPS_PORT } else { HTTP_PORT };
        let host = match origin.port().filter(|port| port.as_u16() != usual_port) {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let connector = connect::tcp(connect_timeout);
        let pool = Pool::new(POOL_IDLE_TIMEOUT);
        Self { connector, tls, connect_timeout, origin, host, pool }
    }

    /// Sends a request and waits for the head of the response.
    pub(super) async fn send(
        &self,
        request: &OutgoingRequest<'_>,
    ) -> Result<(Head, Http1Body<Stream>), UpstreamError> {
        let stream = match self.pool.take() {
            Some(stream) => stream,
            None => Box::pin(self.connect()).await?,
        };
        let mut connection = Connection::new(stream, request.write_head(&self.host), request.body);
        let mut head = connection.read_head().await?;
        head.keep_alive = head.keep_alive.filter(|_| !request.asks_to_close());
        let body = Http1Body::new(connection, &mut head, Arc::clone(&self.pool));
        Ok((head, body))
    }

    /// Closes the connections that no request uses.
    pub(super) fn close_idle(&self) {
        self.pool.clear();
    }

    async fn connect(&self) -> Result<Stream, UpstreamError> {
        let mut connector = self.connector.clone();
        let host = self.origin.host().unwrap_or_default();
        let failed = |error: &(dyn Error + 'static)| UpstreamError::from_connector(error, host);
        let connecting = async {
            let connected = async {
                std::future::poll_fn(|cx| connector.poll_ready(cx)).await?;
                connector.call(self.origin.clone()).await
            };
            let tcp = connected.await.map_err(|error| failed(&error))?;
            match &self.tls {
                None => Ok(Stream::Plain(tcp.into_inner())),
                Some(tls) => match tls.connect(tcp.into_inner()).await {
                    Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
                    Err(error) => Err(failed(&error)),
                },
            }
        };
        match timeout(self.connect_timeout, connecting).await {
            Ok(connected) => connected,
            Err(_elapsed) => Err(UpstreamError::Timeout(TimeoutPhase::Connect)),
        }
    }
}

/// The ports that a `host` header leaves out.
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

#[cfg(test)]
mod tests;
