//! Why a conversation could not be completed.

use toolwire::{ApiError, calls, translate};

use crate::Outcome;

/// Why a conversation could not be completed. A tool that fails is no error: the
/// model reads what went wrong and goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tool cannot be offered to a model.
    #[error("the tool `{name}` cannot be used: {reason}")]
    Tool {
        /// The tool's name.
        name: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The client cannot be used as it is set up.
    #[error("the client cannot be used: {0}")]
    Client(String),
    /// The request cannot be read or written.
    #[error("the request cannot be used: {0}")]
    Request(#[from] translate::Error),
    /// The model's API could not be reached, or the connection broke.
    #[error("the model's API did not answer: {0}")]
    Transport(String),
    /// The model's API took too long.
    #[error("the model's API sent nothing for {} seconds", .0.as_secs())]
    Timeout(std::time::Duration),
    /// The model's API refused the request or failed.
    #[error("the model's API refused the request with status {status}: {}", error.message)]
    Api {
        /// The HTTP status.
        status: u16,
        /// What it said.
        error: Box<ApiError>,
    },
    /// The answer cannot be read, or its calls cannot be answered.
    #[error("the model's answer cannot be used: {0}")]
    Answer(#[from] calls::Error),
    /// The model still calls tools after as many rounds as the runner allows.
    #[error("the model still calls tools after {} rounds", outcome.rounds())]
    RoundLimit {
        /// How far it came. Its request can be sent to go on.
        outcome: Box<Outcome>,
    },
}
