//! What can go wrong between the gateway and an upstream.

use std::error::Error;

use toolwire::model::{ApiError, ErrorKind};

/// Why there is no answer, or no more of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// There is no connection.
    Connect,
    /// There is one, and whoever is there cannot prove to be the upstream.
    Untrusted,
    /// The connection was gone before the request was sent.
    Unsent,
    /// The upstream sent the request back without having looked at it.
    Returned,
    /// The connection broke.
    Broken,
    /// It took too long.
    Late(Phase),
    /// The body cannot be decoded.
    Encoding,
    /// The body is longer than an answer can be.
    TooLong,
}

/// What was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Connection,
    Head,
    FirstEvent,
    Next,
    Whole,
}

impl Trouble {
    /// What the HTTP client's error amounts to.
    pub(super) fn of(error: &hyper_util::client::legacy::Error) -> Self {
        if error.is_connect() {
            return connecting(error);
        }
        let mut source = error.source();
        while let Some(cause) = source {
            if let Some(error) = cause.downcast_ref::<hyper::Error>()
                && error.is_canceled()
            {
                return Self::Unsent;
            }
            if cause.downcast_ref().is_some_and(is_return) {
                return Self::Returned;
            }
            source = cause.source();
        }
        Self::Broken
    }

    /// Whether the upstream was there and certainly did nothing with the
    /// request, so that it may be asked the same once more.
    pub(super) fn is_untouched(self) -> bool {
        match self {
            Self::Unsent | Self::Returned => true,
            Self::Connect
            | Self::Untrusted
            | Self::Broken
            | Self::Late(_)
            | Self::Encoding
            | Self::TooLong => false,
        }
    }

    /// Whether the upstream cannot have begun to answer, so that another may
    /// be asked. A request that was sent and not answered may have been run.
    pub(crate) fn is_unsent(self) -> bool {
        match self {
            Self::Connect
            | Self::Untrusted
            | Self::Unsent
            | Self::Returned
            | Self::Late(Phase::Connection) => true,
            Self::Broken
            | Self::Late(Phase::Head | Phase::FirstEvent | Phase::Next | Phase::Whole)
            | Self::Encoding
            | Self::TooLong => false,
        }
    }

    /// The same as an error for the client.
    pub(crate) fn error(self, upstream: &str) -> ApiError {
        let (kind, what) = match self {
            Self::Connect => (ErrorKind::Server, "cannot be reached"),
            Self::Untrusted => (
                ErrorKind::Server,
                "did not pass TLS: its certificate is not trusted here, or it speaks no TLS",
            ),
            Self::Unsent => {
                (ErrorKind::Server, "closed the connection before the request was sent")
            }
            Self::Returned => (ErrorKind::Server, "turned the request away, twice"),
            Self::Broken => {
                (ErrorKind::Truncated, "closed the connection before its answer was complete")
            }
            Self::Late(Phase::Connection) => {
                (ErrorKind::Timeout, "took too long to accept a connection")
            }
            Self::Late(Phase::Head) => (ErrorKind::Timeout, "took too long to begin its answer"),
            Self::Late(Phase::FirstEvent) => {
                (ErrorKind::Timeout, "took too long to send the first event")
            }
            Self::Late(Phase::Next) => (ErrorKind::Timeout, "stopped in the middle of its answer"),
            Self::Late(Phase::Whole) => (ErrorKind::Timeout, "took too long for the whole answer"),
            Self::Encoding => (ErrorKind::Server, "sent a body that cannot be decoded"),
            Self::TooLong => {
                (ErrorKind::Server, "sent an answer that is longer than toolwire takes")
            }
        };
        ApiError::new(kind, format!("The upstream {upstream} {what}."))
    }

    /// The status of the answer that says so. A gateway that cannot reach its
    /// upstream says 502, whatever the kind of error would say.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Connect
            | Self::Untrusted
            | Self::Unsent
            | Self::Returned
            | Self::Broken
            | Self::Encoding
            | Self::TooLong => 502,
            Self::Late(_) => 504,
        }
    }
}

/// Whether HTTP/2 says that a request was not looked at. A stream ends by the
/// peer's GOAWAY only if its number is above the last that the peer names as
/// its own; all others go on, or end by what ends the connection.
fn is_return(error: &h2::Error) -> bool {
    let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    error.is_remote() && (refused || error.is_go_away())
}

/// Why there is no connection.
fn connecting(error: &(dyn Error + 'static)) -> Trouble {
    let mut source = Some(error);
    while let Some(cause) = source {
        if cause.is::<rustls::Error>() {
            return Trouble::Untrusted;
        }
        source = match cause.downcast_ref::<std::io::Error>() {
            Some(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                return Trouble::Late(Phase::Connection);
            }
            // What an I/O error holds is not its source but itself, in other
            // words; TLS wraps its errors so, once or twice.
            Some(error) => error.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => cause.source(),
        };
    }
    Trouble::Connect
}
