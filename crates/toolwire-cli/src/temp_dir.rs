//! A folder for the time that an agent runs.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder that only this user can look into, and that is gone at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes one where programs keep what they can do without.
    pub(crate) fn new() -> io::Result<Self> {
        let parent = parent();
        fs::create_dir_all(&parent)?;
        let mut last = io::Error::other("no free name for a temporary folder");
        for attempt in 0..100 {
            let path = parent.join(format!("run-{}-{attempt}", std::process::id()));
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A file that the agent still holds open may keep it; what is left is
        // where a user looks for what can be deleted.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The user's cache. Codex refuses to put its helpers into the system's
/// temporary folder, where other users could get at them.
fn parent() -> PathBuf {
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = set("XDG_CACHE_HOME")
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".cache")));
    cache.unwrap_or_else(env::temp_dir).join("toolwire")
}
