//! What can go wrong between the gateway and an upstream.

use std::error::Error;

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
    /// The upstream refused the request without processing it.
    NotProcessed,
    /// The connection broke.
    Disconnected,
    /// The upstream took too long.
    Timeout(TimeoutPhase),
    /// The body cannot be decompressed.
    Undecodable,
    /// The body is longer than any real response.
    TooLarge,
    /// The gateway keeps so much already that there is no room for the body.
    NoMemory,
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
    /// Finds the cause of an error of the HTTP client.
    pub(super) fn from_client(error: &hyper_util::client::legacy::Error) -> Self {
        if error.is_connect() {
            return connect_error(error);
        }
        let mut source = error.source();
        while let Some(cause) = source {
            if let Some(error) = cause.downcast_ref::<hyper::Error>()
                && error.is_canceled()
            {
                return Self::NotSent;
            }
            if cause.downcast_ref().is_some_and(is_not_processed) {
                return Self::NotProcessed;
            }
            source = cause.source();
        }
        Self::Disconnected
    }

    /// Finds the cause of an error of a connector.
    pub(super) fn from_connector(error: &(dyn Error + 'static)) -> Self {
        connect_error(error)
    }

    /// The error for the client.
    pub(crate) fn to_api_error(self, upstream: &str) -> ApiError {
        let (kind, what) = match self {
            Self::Connect(failure) => (ErrorKind::Server, failure.message()),
            Self::Tls(failure) => (ErrorKind::Server, failure.message()),
            Self::NotSent => {
                (ErrorKind::Server, "closed the connection before the request was sent")
            }
            Self::NotProcessed => {
                (ErrorKind::Server, "refused the request twice without processing it")
            }
            Self::Disconnected => {
                (ErrorKind::Truncated, "closed the connection before its response was complete")
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
        };
        let mut error = ApiError::new(kind, format!("The upstream {upstream} {what}."));
        if self == Self::NoMemory {
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
            Self::NotProcessed => "not_processed",
            Self::Disconnected => "disconnected",
            Self::Timeout(TimeoutPhase::Connect) => "timeout_connect",
            Self::Timeout(TimeoutPhase::Headers) => "timeout_headers",
            Self::Timeout(TimeoutPhase::FirstEvent) => "timeout_first_event",
            Self::Timeout(TimeoutPhase::Idle) => "timeout_idle",
            Self::Timeout(TimeoutPhase::Total) => "timeout_total",
            Self::Undecodable => "undecodable",
            Self::TooLarge => "too_large",
            Self::NoMemory => "no_memory",
        }
    }

    /// The HTTP status for the client. A gateway that cannot reach its upstream
    /// answers with 502, whatever status the kind of error has otherwise.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Connect(_)
            | Self::Tls(_)
            | Self::NotSent
            | Self::NotProcessed
            | Self::Disconnected
            | Self::Undecodable
            | Self::TooLarge => 502,
            Self::NoMemory => 503,
            Self::Timeout(_) => 504,
        }
    }
}

/// Whether HTTP/2 guarantees that a request was not processed. A GOAWAY from the
/// peer ends a stream only if the stream's number is above the last one that the
/// peer has processed. All others continue, or end with the connection's error.
fn is_not_processed(error: &h2::Error) -> bool {
    let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    error.is_remote() && (refused || error.is_go_away())
}

/// Why the connection could not be made.
fn connect_error(error: &(dyn Error + 'static)) -> UpstreamError {
    let mut source = Some(error);
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<rustls::Error>() {
            return UpstreamError::Tls(TlsFailure::of(error));
        }
        source = match cause.downcast_ref::<std::io::Error>() {
            Some(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                return UpstreamError::Timeout(TimeoutPhase::Connect);
            }
            // `source` of an I/O error skips the error that it wraps. TLS errors
            // are wrapped like this, once or twice.
            Some(error) => error.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => cause.source(),
        };
    }
    UpstreamError::Connect(ConnectFailure::of(error))
}
