//! Streams: golden vectors, laws, and every fault at every place.

pub(crate) mod accumulate;
mod faults;
mod held;
mod identity;
mod kept;
pub(crate) mod laws;
mod losses;
mod misnumbered;
pub(crate) mod oracle;
mod pairs;
mod renamed;
mod repeated_events;
mod steps;
mod summary;
mod vectors;

use std::fs;
use std::path::{Path, PathBuf};

use toolwire::pipe::Pipe;
use toolwire::translate::Options;
use toolwire::{Entry, Protocol};

/// A recorded stream.
pub(crate) struct Recorded {
    pub(crate) folder: PathBuf,
    pub(crate) from: Protocol,
    pub(crate) bytes: Vec<u8>,
}

impl Recorded {
    pub(crate) fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What the client had sent, if it matters.
    pub(crate) fn request(&self, to: Protocol) -> Option<String> {
        fs::read_to_string(self.folder.join(format!("request.{to}.json"))).ok()
    }
}

/// Every recorded stream, by name.
pub(crate) fn recorded() -> Vec<Recorded> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/streams");
    let mut found = Vec::new();
    let Ok(folders) = fs::read_dir(root) else { return found };
    for folder in folders {
        let folder = folder.unwrap().path();
        let before = found.len();
        for from in Protocol::ALL {
            if let Ok(bytes) = fs::read(folder.join(format!("in.{from}.sse"))) {
                found.push(Recorded { folder: folder.clone(), from, bytes });
            }
        }
        assert_eq!(found.len(), before + 1, "{} must hold one input", folder.display());
    }
    found.sort_by(|a, b| a.folder.cmp(&b.folder));
    found
}

/// A pipe for a client that had sent `request`.
pub(crate) fn pipe(from: Protocol, to: Protocol, request: Option<&str>) -> Pipe {
    let mut options = Options::new();
    options.request = request.map(str::as_bytes);
    Pipe::new(from, to, &options).unwrap()
}

/// The same, with a comment about what was lost.
pub(crate) fn commented_pipe(from: Protocol, to: Protocol, request: Option<&str>) -> Pipe {
    pipe(from, to, request).with_loss_comment(COMMENT_LIMIT)
}

/// How long a comment is at most.
pub(crate) const COMMENT_LIMIT: usize = 2048;

/// What a client gets of a stream that comes in these chunks.
pub(crate) fn translated<'c>(
    from: Protocol,
    to: Protocol,
    request: Option<&str>,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> (Vec<u8>, Vec<Entry>) {
    through(pipe(from, to, request), chunks)
}

/// What comes out of a pipe that gets these chunks.
pub(crate) fn through<'c>(
    mut pipe: Pipe,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> (Vec<u8>, Vec<Entry>) {
    let mut out = Vec::new();
    for chunk in chunks {
        pipe.push(chunk, &mut out);
    }
    pipe.finish(&mut out);
    assert!(pipe.is_done(), "a finished pipe is done");
    (out, pipe.take_ledger())
}
