//! What went wrong, whose fault it is, and whether to try again.

use crate::wire::Extra;

/// An error as an API reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Who has to act.
    pub blame: Blame,
    /// Whether the same request may succeed later.
    pub retry: Retry,
    /// A sentence for the user.
    pub message: String,
    /// The HTTP status it came with, if it came over HTTP.
    pub status: Option<u16>,
    /// The vendor's own type, kept when it crosses.
    pub vendor_type: Option<String>,
    /// The vendor's own code, kept when it crosses.
    pub code: Option<String>,
    /// The field at fault, in the words of the protocol it came from.
    pub param: Option<String>,
    /// The vendor's id of the request.
    pub request_id: Option<String>,
    /// What else the vendor says about it, in members of its own.
    #[doc(hidden)]
    pub extra: Vec<Extra<'static>>,
}

impl ApiError {
    /// An error with nothing but its kind and message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            blame: kind.blame(),
            retry: kind.retry(),
            message: message.into(),
            status: None,
            vendor_type: None,
            code: None,
            param: None,
            request_id: None,
            extra: Vec::new(),
        }
    }
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is malformed.
    InvalidRequest,
    /// The request asks for what the target cannot do.
    Unsupported,
    /// A tool's schema is not accepted.
    InvalidToolSchema,
    /// The conversation does not fit the model's context.
    ContextLength,
    /// The credential is missing or wrong.
    Auth,
    /// The account has no credit left.
    Quota,
    /// The credential does not allow this.
    Permission,
    /// There is no such model, path or object.
    NotFound,
    /// The object changed in between.
    Conflict,
    /// The request is too large.
    TooLarge,
    /// Too many requests.
    RateLimit,
    /// The vendor has no capacity.
    Overloaded,
    /// The vendor took too long.
    Timeout,
    /// The vendor failed.
    Server,
    /// The vendor's answer stopped in the middle.
    Truncated,
    /// A filter of the vendor's refused the request.
    ContentFilter,
    /// The model wrote something that its vendor could not read, such as a call that is
    /// not JSON.
    UnusableAnswer,
}

impl ErrorKind {
    /// What an HTTP status says by itself. `None` for a status that is no error.
    ///
    /// [`ErrorKind::InvalidRequest`] and [`ErrorKind::Server`] are also what the
    /// statuses of 400 and 500 come to that say nothing more.
    pub fn from_status(status: u16) -> Option<Self> {
        Some(match status {
            401 => Self::Auth,
            402 => Self::Quota,
            403 => Self::Permission,
            404 => Self::NotFound,
            408 | 504 => Self::Timeout,
            409 => Self::Conflict,
            413 => Self::TooLarge,
            429 => Self::RateLimit,
            503 | 529 => Self::Overloaded,
            400..=499 => Self::InvalidRequest,
            500.. => Self::Server,
            0..=399 => return None,
        })
    }

    /// Who has to act on such an error.
    pub fn blame(self) -> Blame {
        match self {
            Self::InvalidRequest
            | Self::Unsupported
            | Self::InvalidToolSchema
            | Self::ContextLength
            | Self::Auth
            | Self::Quota
            | Self::Permission
            | Self::NotFound
            | Self::Conflict
            | Self::TooLarge
            | Self::RateLimit
            | Self::ContentFilter => Blame::Client,
            Self::Overloaded
            | Self::Timeout
            | Self::Server
            | Self::Truncated
            | Self::UnusableAnswer => Blame::Upstream,
        }
    }

    /// Whether the same request may succeed later.
    pub fn retry(self) -> Retry {
        // A client's own mistake stays one, except for those that time mends.
        let passes = matches!(self, Self::RateLimit | Self::Conflict);
        if passes || self.blame() == Blame::Upstream { Retry::Later } else { Retry::Never }
    }
}

/// Who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The client: the request will not succeed as it is.
    Client,
    /// toolwire or its configuration.
    Gateway,
    /// The vendor.
    Upstream,
}

/// Whether the same request may succeed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It will not.
    Never,
    /// It may.
    Later,
    /// It may, after this many seconds.
    After(u64),
}
