//! What Postgres' errors mean.

use std::error::Error;

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use super::tls::Untrusted;
use crate::error::{OpenError, StoreError};

/// Why some work on a connection did not succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The driver's error.
    Sql(tokio_postgres::Error),
    /// The same, at the very end of a write. If the connection broke, nobody
    /// knows whether the write has happened.
    Commit(tokio_postgres::Error),
    /// There is no connection.
    Pool(String),
    /// There was no answer in time.
    Late,
    /// The work itself is refused. The connection is fine.
    Refused(StoreError),
    /// Somebody has to do something first.
    Open(OpenError),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Sql(error),
            PoolError::Timeout(_) => Self::Late,
            PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                Self::Pool(error.to_string())
            }
        }
    }
}

impl Failure {
    pub(super) fn into_store_error(self) -> StoreError {
        let retry = !self.needs_help();
        match self {
            Self::Refused(error) => error,
            Self::Sql(error) | Self::Commit(error)
                if error.code() == Some(&SqlState::DISK_FULL) =>
            {
                StoreError::Full(describe(&error))
            }
            Self::Sql(error) | Self::Commit(error) => {
                StoreError::Unavailable { reason: describe(&error), retry }
            }
            Self::Pool(reason) => StoreError::Unavailable { reason, retry },
            Self::Late => {
                let reason = "Postgres did not answer in time".to_owned();
                StoreError::Unavailable { reason, retry }
            }
            Self::Open(error) => StoreError::Unavailable { reason: error.to_string(), retry },
        }
    }

    /// The error of a store that cannot be opened, unless that may pass.
    pub(super) fn into_open_error(self) -> Option<OpenError> {
        if !self.needs_help() {
            return None;
        }
        if let Self::Open(error) = self {
            return Some(error);
        }
        Some(OpenError::Failed(self.into_store_error().to_string()))
    }

    /// Whether the connection broke, or the server asks to try again.
    pub(super) fn is_transient(&self) -> bool {
        let (Self::Sql(error) | Self::Commit(error)) = self else { return false };
        match error.code() {
            Some(code) => {
                let transient = [
                    SqlState::T_R_DEADLOCK_DETECTED,
                    SqlState::T_R_SERIALIZATION_FAILURE,
                    SqlState::ADMIN_SHUTDOWN,
                    SqlState::CRASH_SHUTDOWN,
                ];
                transient.contains(code)
            }
            None => {
                error.is_closed()
                    || error.source().is_some_and(|source| source.is::<std::io::Error>())
            }
        }
    }

    /// Whether the write that has failed may have happened all the same. An answer of the
    /// server means that it has not, unless the server was about to end.
    pub(super) fn may_be_done(&self) -> bool {
        match self {
            Self::Commit(error) => error.code().is_none_or(|code| {
                let ends = [
                    SqlState::ADMIN_SHUTDOWN,
                    SqlState::CRASH_SHUTDOWN,
                    SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN,
                ];
                ends.contains(code)
            }),
            Self::Late => true,
            Self::Sql(_) | Self::Pool(_) | Self::Refused(_) | Self::Open(_) => false,
        }
    }

    /// Whether a record was to have a part of its body that the database has no longer.
    pub(super) fn is_missing_part(&self) -> bool {
        let (Self::Sql(error) | Self::Commit(error)) = self else { return false };
        error.as_db_error().is_some_and(|error| error.constraint() == Some(PART_CONSTRAINT))
    }

    /// Whether it stays like this until somebody does something.
    fn needs_help(&self) -> bool {
        match self {
            Self::Open(_) => true,
            Self::Sql(error) | Self::Commit(error)
                if error.source().is_some_and(|source| source.is::<Untrusted>()) =>
            {
                true
            }
            Self::Sql(error) | Self::Commit(error) => error.code().is_some_and(|code| {
                let permanent = [
                    SqlState::INVALID_PASSWORD,
                    SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                    SqlState::INVALID_CATALOG_NAME,
                    SqlState::INSUFFICIENT_PRIVILEGE,
                    SqlState::UNDEFINED_TABLE,
                    SqlState::UNDEFINED_COLUMN,
                ];
                permanent.contains(code)
            }),
            Self::Pool(_) | Self::Late | Self::Refused(_) => false,
        }
    }
}

/// An error with its causes. The driver's own text is only the first half.
fn describe(error: &tokio_postgres::Error) -> String {
    if let Some(database) = error.as_db_error() {
        return format!("Postgres: {}", database.message());
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// What forbids a record without its part.
const PART_CONSTRAINT: &str = "toolwire_record_part";
