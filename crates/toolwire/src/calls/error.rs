//! Why calls could not be found or answered.

use crate::model::ApiError;
use crate::translate;

/// Why calls could not be found or answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request or the answer cannot be read.
    #[error(transparent)]
    Document(#[from] translate::Error),
    /// The answer failed or was broken off, or a streamed one cannot be read.
    #[error("{}", .0.message)]
    Answer(Box<ApiError>),
    /// Calls that no output answers. Every protocol refuses a conversation with
    /// a call that has no result.
    #[error("no output for the call{} {}", if ids.len() == 1 { "" } else { "s" }, ids.join(", "))]
    Missing {
        /// The ids of the calls.
        ids: Vec<String>,
    },
    /// An output that answers no call of this answer.
    #[error("the output for {id} answers no call of this answer")]
    Unknown {
        /// The id of the output.
        id: String,
    },
    /// A second output for the same call.
    #[error("two outputs for the call {id}")]
    Duplicate {
        /// The id of both outputs.
        id: String,
    },
    /// An output that the protocol has no place for.
    #[error("the output for {id} cannot be sent: {reason}")]
    Content {
        /// The id of the output.
        id: String,
        /// Why, and what to do.
        reason: String,
    },
}
