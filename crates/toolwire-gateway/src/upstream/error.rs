//! What can go wrong between the gateway and an upstream.

use std::error::Error;
use std::net::Ipv4Addr;

use toolwire::model::{ApiError, ErrorKind, Retry};

use super::connect_error::{ConnectFailure, TlsFailure};

/// Why there is no response, or only a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpstreamError {
    /// The connection could not be made.
    Connect(ConnectFailure),
    /// The TLS handshake failed: the upstream's certificate is not trusted, or
    /// the server does not speak TLS.
    Tls(TlsFailure),
    /// The connection closed before the request was sent.
    NotSent,
    /// The connection broke.
    Disconnected,
    /// What came is no response.
    NotHttp,
    /// The upstream took too long.
    Timeout(TimeoutPhase),
    /// The body cannot be decompressed.
    Undecodable,
    /// The body is longer than any real response.
    TooLarge,
    /// The gateway keeps so much already that there is no room for the body.
    NoMemory,
    /// The gateway's machine has no socket for another connection, or no file
    /// descriptor for it.
    NoSockets,
}

/// The timeout that ran out. Each has a setting of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutPhase {
    Connect,
    Headers,
    FirstEvent,
    Idle,
    Total,
}

impl UpstreamError {
    /// Finds the cause of an error of the HTTP client for a host.
    pub(super) fn from_client(error: &hyper_util::client::legacy::Error, host: &str) -> Self {
        if error.is_connect() {
            return connect_error(error, host);
        }
        let mut source = error.source();
        while let Some(cause) = source {
            match cause.downcast_ref::<hyper::Error>() {
                Some(error) if error.is_canceled() => return Self::NotSent,
                Some(error) => return Self::from_hyper(error),
                None => source = cause.source(),
            }
        }
        Self::Disconnected
    }

    /// Finds the cause of an error of a connection that passes a request.
    pub(super) fn from_hyper(error: &hyper::Error) -> Self {
        if error.is_parse() { Self::NotHttp } else { Self::Disconnected }
    }

    /// Finds the cause of an error of a connector for a host.
    pub(super) fn from_connector(error: &(dyn Error + 'static), host: &str) -> Self {
        connect_error(error, host)
    }

    /// The error for the client.
    pub(crate) fn to_api_error(self, upstream: &str) -> ApiError {
        let (kind, what) = match self {
            Self::Connect(failure) => (ErrorKind::Server, failure.message()),
            Self::Tls(failure) => (ErrorKind::Server, failure.message()),
            Self::NotSent => {
                (ErrorKind::Server, "closed the connection before the request was sent")
            }
            Self::Disconnected => {
                (ErrorKind::Truncated, "closed the connection before its response was complete")
            }
            Self::NotHttp => {
                (ErrorKind::Server, "sent something that is not a response in HTTP/1.1")
            }
            Self::Timeout(TimeoutPhase::Connect) => {
                (ErrorKind::Timeout, "took too long to accept a connection")
            }
            Self::Timeout(TimeoutPhase::Headers) => {
                (ErrorKind::Timeout, "took too long to start its response")
            }
            Self::Timeout(TimeoutPhase::FirstEvent) => {
                (ErrorKind::Timeout, "took too long to send the first event")
            }
            Self::Timeout(TimeoutPhase::Idle) => {
                (ErrorKind::Timeout, "stopped in the middle of its response")
            }
            Self::Timeout(TimeoutPhase::Total) => {
                (ErrorKind::Timeout, "took too long to complete its response")
            }
            Self::Undecodable => (ErrorKind::Server, "sent a body that cannot be decompressed"),
            Self::TooLarge => (ErrorKind::Server, "sent a response that is too long"),
            Self::NoMemory => (
                ErrorKind::Overloaded,
                "sent a response for which the gateway has no memory left. Try again in a moment",
            ),
            Self::NoSockets => (
                ErrorKind::Overloaded,
                "cannot be asked: the gateway's machine has no free sockets or file descriptors. Try again in a moment, or raise `ulimit -n` for the gateway",
            ),
        };
        let mut error = ApiError::new(kind, format!("The upstream {upstream} {what}."));
        if matches!(self, Self::NoMemory | Self::NoSockets) {
            error.retry = Retry::After(1);
        }
        error
    }

    /// A word for the log.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Connect(failure) => failure.label(),
            Self::Tls(failure) => failure.label(),
            Self::NotSent => "not_sent",
            Self::Disconnected => "disconnected",
            Self::NotHttp => "not_http",
            Self::Timeout(TimeoutPhase::Connect) => "timeout_connect",
            Self::Timeout(TimeoutPhase::Headers) => "timeout_headers",
            Self::Timeout(TimeoutPhase::FirstEvent) => "timeout_first_event",
            Self::Timeout(TimeoutPhase::Idle) => "timeout_idle",
            Self::Timeout(TimeoutPhase::Total) => "timeout_total",
            Self::Undecodable => "undecodable",
            Self::TooLarge => "too_large",
            Self::NoMemory => "no_memory",
            Self::NoSockets => "no_sockets",
        }
    }

    /// The HTTP status for the client. A gateway that cannot reach its upstream
    /// answers with 502, whatever status the kind of error has otherwise.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Connect(_)
            | Self::Tls(_)
            | Self::NotSent
            | Self::Disconnected
            | Self::NotHttp
            | Self::Undecodable
            | Self::TooLarge => 502,
            Self::NoMemory | Self::NoSockets => 503,
            Self::Timeout(_) => 504,
        }
    }
}

/// Why the connection could not be made.
fn connect_error(error: &(dyn Error + 'static), host: &str) -> UpstreamError {
    let mut source = Some(error);
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<rustls::Error>() {
            return UpstreamError::Tls(TlsFailure::of(error));
        }
        source = match cause.downcast_ref::<std::io::Error>() {
            Some(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                return UpstreamError::Timeout(TimeoutPhase::Connect);
            }
            // Looking up a name needs a file descriptor, too.
            Some(error) if matches!(error.raw_os_error(), Some(ENFILE | EMFILE)) => {
                return UpstreamError::NoSockets;
            }
            // All ports toward this address are taken. Of a name, the same may be said
            // because it has an address of IPv6 as well, and this machine has none.
            Some(error)
                if error.kind() == std::io::ErrorKind::AddrNotAvailable
                    && host.parse::<Ipv4Addr>().is_ok() =>
            {
                return UpstreamError::NoSockets;
            }
            // `source` of an I/O error skips the error that it wraps. TLS errors
            // are wrapped like this, once or twice.
            Some(error) => error.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => cause.source(),
        };
    }
    UpstreamError::Connect(ConnectFailure::of(error))
}

/// What the system says if all programs together, or this one, have as many files
/// open as they may. The numbers are the same on every Unix, and the standard
/// library has no name for these errors.
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;

#[cfg(test)]
mod tests;
