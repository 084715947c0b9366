//! Connections to one origin, within a time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::late_write::{HearOut, HeardOut};
use super::tls::{self, Authorities};

/// Connects, and gives up after a time that covers everything from the name's
/// lookup to the end of the TLS handshake.
#[derive(Clone)]
pub(super) struct Connector {
    inner: HttpsConnector<Tcp>,
    limit: Duration,
}

impl Connector {
    /// Connects without TLS.
    pub(super) fn plain(limit: Duration) -> Self {
        Self { inner: tls::plain(tcp(limit)), limit }
    }

    /// Connects with TLS. `vouched_by` are those who may vouch for the server.
    pub(super) fn secure(limit: Duration, vouched_by: Option<&Authorities>) -> Self {
        Self { inner: tls::secure(tcp(limit), vouched_by), limit }
    }
}

/// What TLS is spoken over.
pub(super) type Tcp = HearOut<HttpConnector>;
type Stream = MaybeHttpsStream<HeardOut<TokioIo<TcpStream>>>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.inner.call(uri);
        let limit = self.limit;
        Box::pin(async move {
            match tokio::time::timeout(limit, connecting).await {
                Ok(connected) => connected,
                Err(_elapsed) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
            }
        })
    }
}

fn tcp(limit: Duration) -> Tcp {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_keepalive(Some(KEEPALIVE));
    http.set_connect_timeout(Some(limit));
    #[cfg(target_os = "linux")]
    http.set_tcp_user_timeout(Some(LOST));
    HearOut(http)
}

/// How soon the system asks whether a silent peer is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How long the system waits for a peer to take what was sent before it gives
/// the connection up.
#[cfg(target_os = "linux")]
const LOST: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
