//! A temporary directory, for as long as an agent runs.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A directory that only this user can read. It is deleted on drop.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    /// Creates a directory in the user's cache.
    pub(crate) fn new() -> io::Result<Self> {
        let parent = parent();
        fs::create_dir_all(&parent)?;
        let mut last_error = io::Error::other("no free name for a temporary directory");
        for attempt in 0..100 {
            let path = parent.join(format!("run-{}-{attempt}", std::process::id()));
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) => last_error = error,
            }
        }
        Err(last_error)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // A file that the agent still has open can prevent this. What remains
        // is in the cache, which users may delete at any time.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where temporary directories are made. Codex refuses to put its helpers into
/// the system's temporary directory, where other users could reach them.
fn parent() -> PathBuf {
    cache_dir().unwrap_or_else(|| env::temp_dir().join("toolwire"))
}

/// toolwire's directory in the user's cache, if there is one.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    let from_env =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = from_env("XDG_CACHE_HOME")
        .or_else(|| from_env("LOCALAPPDATA"))
        .or_else(|| from_env("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("toolwire"))
}
