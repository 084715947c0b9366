//! HTTP/1.1 to one origin, without tasks of its own.
//!
//! A request is written, and its response read, by whoever polls for it, so no
//! byte passes through a channel, and the task that waits for the response is the
//! one that the system wakes. A connection that waits holds no buffer: what
//! arrives is read into memory on the stack and copied from there.
//!
//! Only connections without TLS are made here. Those with TLS may be HTTP/2,
//! which needs a task that reads for all of its requests.

mod body;
mod chunked;
mod connection;
mod framing;
#[cfg(test)]
pub(crate) mod growth;
mod head;
mod pool;
mod request;

use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service as _;

pub(super) use self::body::Http1Body;
use self::connection::Connection;
pub(super) use self::head::Head;
use self::pool::Pool;
pub(super) use self::request::OutgoingRequest;
use super::error::{TimeoutPhase, UpstreamError};
use super::{POOL_IDLE_TIMEOUT, connect};

/// The connections to one origin.
pub(super) struct Http1Client {
    connector: HttpConnector,
    connect_timeout: Duration,
    origin: Uri,
    /// The host and the port as the `host` header has them.
    host: String,
    pool: Arc<Pool<TcpStream>>,
}

impl Http1Client {
    /// A client for an origin that has a host.
    pub(super) fn new(origin: Uri, connect_timeout: Duration) -> Self {
        let host = origin.host().unwrap_or_default();
        let host = match origin.port().filter(|port| port.as_u16() != HTTP_PORT) {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let connector = connect::tcp(connect_timeout);
        Self { connector, connect_timeout, origin, host, pool: Pool::new(POOL_IDLE_TIMEOUT) }
    }

    /// Sends a request and waits for the head of the response.
    pub(super) async fn send(
        &self,
        request: &OutgoingRequest<'_>,
    ) -> Result<(Head, Http1Body<TcpStream>), UpstreamError> {
        let stream = match self.pool.take() {
            Some(stream) => stream,
            None => Box::pin(self.connect()).await?,
        };
        let mut connection = Connection::new(stream, request.write_head(&self.host), request.body);
        let mut head = connection.read_head().await?;
        head.keep_alive &= !request.asks_to_close();
        let body = Http1Body::new(connection, &mut head, Arc::clone(&self.pool));
        Ok((head, body))
    }

    async fn connect(&self) -> Result<TcpStream, UpstreamError> {
        let mut connector = self.connector.clone();
        let connecting = async {
            std::future::poll_fn(|cx| connector.poll_ready(cx)).await?;
            connector.call(self.origin.clone()).await
        };
        match timeout(self.connect_timeout, connecting).await {
            Ok(Ok(stream)) => Ok(stream.into_inner()),
            Ok(Err(error)) => Err(UpstreamError::from_connector(&error)),
            Err(_elapsed) => Err(UpstreamError::Timeout(TimeoutPhase::Connect)),
        }
    }
}

/// The port that a `host` header leaves out.
const HTTP_PORT: u16 = 80;

#[cfg(test)]
mod tests;
