//! toolwire's own directories of the user.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

/// toolwire's directory in the user's cache, if there is one.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    let cache = from_env("XDG_CACHE_HOME")
        .or_else(|| from_env("LOCALAPPDATA"))
        .or_else(|| from_env("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("toolwire"))
}

/// The home of an agent that `toolwire run` starts. It stays, so that sessions can
/// be resumed, and only this user can read it.
pub(crate) fn agent_home(agent: &str) -> io::Result<PathBuf> {
    let state = from_env("XDG_STATE_HOME")
        .or_else(|| from_env("LOCALAPPDATA"))
        .or_else(|| from_env("HOME").map(|home| home.join(".local/state")));
    let state = state.ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is set"))?;
    let home = state.join("toolwire").join(agent);
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(&home)?;
    Ok(home)
}

fn from_env(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
