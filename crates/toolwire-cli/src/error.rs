//! Why a command did not do its job, and the exit code that says so.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use toolwire::Entry;

/// Why a command did not do its job.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The flags do not go together, or do not say enough.
    #[error("{0}")]
    Usage(String),
    /// The document cannot be read or must not be translated.
    #[error("{0}")]
    Rejected(String),
    /// The stream did not end well, and the client was told so in it.
    #[error("the stream ended in an error: {message}")]
    Stream {
        /// What was lost before.
        ledger: Vec<Entry>,
        /// What the error says.
        message: String,
    },
    /// A file or a stream failed.
    #[error("cannot read {name}: {error}")]
    Input {
        /// What was to be read.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// A configuration is wrong: its problems, ready to be shown.
    #[error("{0}")]
    Configuration(String),
    /// The gateway did not start, or an agent did not.
    #[error("{0}")]
    Start(String),
    /// The output failed.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Rejected(_)
            | Self::Stream { .. }
            | Self::Input { .. }
            | Self::Configuration(_)
            | Self::Start(_)
            | Self::Output(_) => ExitCode::FAILURE,
        }
    }
}

/// Whether an error is that the reader of the output has gone.
pub(crate) fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
