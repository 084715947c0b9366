//! Connections to one origin, with a timeout.

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

use super::late_write::{LateWriteConnector, LateWriteStream};
use super::tls::{self, CaBundle};

/// Connects with a timeout that covers everything from the DNS lookup to the end
/// of the TLS handshake.
#[derive(Clone)]
pub(super) struct Connector {
    inner: HttpsConnector<Tcp>,
    timeout: Duration,
}

impl Connector {
    /// Connects without TLS.
    pub(super) fn plain(timeout: Duration) -> Self {
        Self { inner: tls::plain(LateWriteConnector(tcp(timeout))), timeout }
    }

    /// Connects with TLS. With `ca`, only servers that it vouches for are
    /// trusted.
    pub(super) fn tls(timeout: Duration, ca: Option<&CaBundle>) -> Self {
        Self { inner: tls::https(LateWriteConnector(tcp(timeout)), ca), timeout }
    }
}

/// The connector below TLS.
pub(super) type Tcp = LateWriteConnector<HttpConnector>;
type Stream = MaybeHttpsStream<LateWriteStream<TokioIo<TcpStream>>>;
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
        let timeout = self.timeout;
        Box::pin(async move {
            match tokio::time::timeout(timeout, connecting).await {
                Ok(connected) => connected,
                Err(_elapsed) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
            }
        })
    }
}

/// The connector for TCP. It knows names and several addresses of one host.
pub(super) fn tcp(timeout: Duration) -> HttpConnector {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_keepalive(Some(KEEPALIVE));
    http.set_connect_timeout(Some(timeout));
    #[cfg(target_os = "linux")]
    http.set_tcp_user_timeout(Some(USER_TIMEOUT));
    http
}

/// How long a connection is idle before the system checks whether the peer is
/// still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How long sent data may stay unacknowledged before the system closes the
/// connection.
#[cfg(target_os = "linux")]
const USER_TIMEOUT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
