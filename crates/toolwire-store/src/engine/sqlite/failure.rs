//! What SQLite's errors mean.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::{OpenError, StoreError};

/// Why some work on a connection did not succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// SQLite's error.
    Sql(rusqlite::Error),
    /// The file cannot be made.
    Io(std::io::Error),
    /// The work itself is refused. The connection and its transaction are fine.
    Refused(StoreError),
    /// Somebody has to do something first.
    Open(OpenError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl Failure {
    pub(super) fn into_store_error(self) -> StoreError {
        let retry = self.may_pass();
        match self {
            Self::Refused(error) => error,
            Self::Sql(error) if is_full(&error) => StoreError::Full(error.to_string()),
            Self::Sql(error) => StoreError::Unavailable { reason: error.to_string(), retry },
            Self::Io(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                StoreError::Full(error.to_string())
            }
            Self::Io(error) => StoreError::Unavailable { reason: error.to_string(), retry },
            Self::Open(error) => StoreError::Unavailable { reason: error.to_string(), retry },
        }
    }

    /// The error of a store that cannot be opened, unless that may pass.
    pub(super) fn into_open_error(self, path: &Path) -> Option<OpenError> {
        if self.may_pass() {
            return None;
        }
        let path = path.display();
        Some(match self {
            Self::Open(error) => error,
            Self::Sql(error) => OpenError::Failed(format!("cannot open {path}: {error}")),
            Self::Io(error) => OpenError::Failed(format!("cannot open {path}: {error}")),
            Self::Refused(error) => OpenError::Failed(format!("cannot open {path}: {error}")),
        })
    }

    /// Whether another process has the file locked.
    pub(super) fn is_lock(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        let code = error.sqlite_error_code();
        matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Whether it has nothing to do with what was written, so that anything else would fail
    /// like it. A disk that is full may have room for less.
    pub(super) fn is_of_all(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        let code = error.sqlite_error_code();
        let is_trouble =
            matches!(code, Some(ErrorCode::SystemIoFailure | ErrorCode::OperationInterrupted));
        is_trouble || self.is_lock()
    }

    /// Whether it may work later without anybody's help.
    fn may_pass(&self) -> bool {
        match self {
            Self::Sql(error) => {
                is_full(error)
                    || matches!(
                        error.sqlite_error_code(),
                        Some(
                            ErrorCode::DatabaseBusy
                                | ErrorCode::DatabaseLocked
                                | ErrorCode::SystemIoFailure
                                | ErrorCode::OutOfMemory
                                | ErrorCode::OperationInterrupted
                        )
                    )
            }
            Self::Io(error) => error.kind() == std::io::ErrorKind::StorageFull,
            Self::Refused(_) | Self::Open(_) => false,
        }
    }
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}
