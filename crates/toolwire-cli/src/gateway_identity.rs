//! The identity of a running gateway, in a file that only its user can read.

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use toolwire_gateway::identity::Identity;

use crate::user_dirs;

/// An identity that other programs of the user can read until this is dropped.
pub(crate) struct PublishedIdentity {
    path: PathBuf,
    identity: Identity,
}

impl PublishedIdentity {
    /// Makes the identity of a gateway. There is none if the user has no place
    /// for it. The gateway works without one, but `toolwire run` does not use it.
    pub(crate) fn new(address: SocketAddr) -> Option<Self> {
        let identity = Identity::generate()?;
        let path = path(&directory()?, local_address(address));
        write(&path, &identity.to_text()).ok()?;
        Some(Self { path, identity })
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

impl Drop for PublishedIdentity {
    fn drop(&mut self) {
        // Another gateway may have started at the same address.
        if read_file(&self.path).as_ref() == Some(&self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The identity of the user's gateway at an address, if one was started there.
pub(crate) fn read(address: SocketAddr) -> Option<Identity> {
    read_file(&path(&directory()?, address))
}

/// The address under which this machine reaches a gateway.
pub(crate) fn local_address(listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        return SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), listen.port());
    }
    listen
}

fn read_file(path: &Path) -> Option<Identity> {
    Identity::from_text(&fs::read_to_string(path).ok()?)
}

fn path(directory: &Path, address: SocketAddr) -> PathBuf {
    // Colons are not allowed in every file system.
    directory.join(address.to_string().replace(':', "_"))
}

/// The directory of all identities, which only the user can read.
fn directory() -> Option<PathBuf> {
    let directory = user_dirs::cache_dir()?.join("gateways");
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&directory).ok()?;
    is_private(&directory).then_some(directory)
}

/// Whether only the user can write into a directory. Who else could would decide
/// what a gateway has to answer.
#[cfg(unix)]
fn is_private(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(directory)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(_directory: &Path) -> bool {
    true
}

/// Writes a file that only the user can read, whole or not at all.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension(format!("{}.new", std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&unfinished)?.write_all(text.as_bytes())?;
    fs::rename(&unfinished, path)
}
