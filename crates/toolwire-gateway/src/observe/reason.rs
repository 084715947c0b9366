//! Why an attempt or a request failed, in a word of a closed set.

use std::fmt;

use toolwire::model::ErrorKind;

use crate::upstream::UpstreamError;

/// Why something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// There is no response, or only a part of one.
    Upstream(UpstreamError),
    /// The upstream responded with this status.
    Status(u16),
    /// The gateway's store does not work.
    StoreUnavailable,
    /// The gateway's store has no room.
    StoreFull,
    /// The gateway, or the upstream in an event, says what kind of error it is.
    Kind(ErrorKind),
}

impl Reason {
    /// Whether it says nothing about an upstream.
    pub(crate) fn is_about_store(self) -> bool {
        matches!(self, Self::StoreUnavailable | Self::StoreFull)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Upstream(error) => f.write_str(error.label()),
            Self::Status(status) => write!(f, "status_{status}"),
            Self::StoreUnavailable => f.write_str("store_unavailable"),
            Self::StoreFull => f.write_str("store_full"),
            Self::Kind(kind) => {
                // The names of the kinds are words in camel case.
                for (index, c) in format!("{kind:?}").chars().enumerate() {
                    if c.is_ascii_uppercase() && index > 0 {
                        f.write_str("_")?;
                    }
                    write!(f, "{}", c.to_ascii_lowercase())?;
                }
                Ok(())
            }
        }
    }
}
