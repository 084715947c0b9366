//! The files that a configuration is read from.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file that was read, or would have been if it were there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it was just before: whatever changes while it is read is noticed later.
    pub(super) stamp: FileStamp,
}

impl ReadFile {
    /// Notes a file that is to be read.
    pub(super) fn before(path: PathBuf) -> Self {
        Self { stamp: FileStamp::of(&path), path }
    }
}

/// The time and length by which a change of a file is noticed. A missing file
/// has neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileStamp(Option<(SystemTime, u64)>);

impl FileStamp {
    pub(super) fn of(path: &Path) -> Self {
        let stamp = |file: std::fs::Metadata| Some((file.modified().ok()?, file.len()));
        Self(std::fs::metadata(path).ok().and_then(stamp))
    }
}
