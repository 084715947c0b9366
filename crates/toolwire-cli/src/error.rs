//! Why a command failed, and its exit code.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use toolwire::Entry;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The flags contradict each other, or something is missing.
    #[error("{0}")]
    Usage(String),
    /// The document cannot be read or must not be translated.
    #[error("{0}")]
    Rejected(String),
    /// The stream ended with an error. The translated stream says so too.
    #[error("the stream ended with an error: {message}")]
    Stream {
        /// What was lost before.
        ledger: Vec<Entry>,
        /// The message of the error.
        message: String,
    },
    /// A file or standard input cannot be read.
    #[error("cannot read {name}: {error}")]
    Input {
        /// What was to be read.
        name: String,
        /// The system's error.
        error: io::Error,
    },
    /// The configuration has mistakes, which are ready to be printed.
    #[error("{0}")]
    Configuration(String),
    /// The gateway or an agent did not start.
    #[error("{0}")]
    Start(String),
    /// The store cannot be used.
    #[error("{0}")]
    Store(String),
    /// The output cannot be written.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

impl CommandError {
    /// Standard input cannot be read.
    pub(crate) fn stdin(error: io::Error) -> Self {
        Self::Input { name: "standard input".to_owned(), error }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Rejected(_)
            | Self::Stream { .. }
            | Self::Input { .. }
            | Self::Configuration(_)
            | Self::Start(_)
            | Self::Store(_)
            | Self::Output(_) => ExitCode::FAILURE,
        }
    }
}

/// Whether the reader of the output has closed it.
pub(crate) fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
