//! Documents of every protocol in [`PROTOCOLS`].
//!
//! The vectors are written in the built-in protocols. A protocol that has none of
//! its own gets all of theirs, translated into it.

use std::path::PathBuf;

use toolwire::Protocol;
use toolwire::pipe::Pipe;
use toolwire::translate::{self, Options};

use crate::PROTOCOLS;
use crate::streams::{Recorded, recorded};
use crate::vectors::inputs;

/// A folder of vectors, and a document in a protocol.
pub(crate) type Document = (PathBuf, Protocol, Vec<u8>);

/// The documents of a kind in every protocol.
pub(crate) fn documents(kind: &str) -> Vec<Document> {
    let mut found = inputs(kind);
    for protocol in without_vectors() {
        for (folder, from, body) in inputs(kind) {
            if let Some(body) = translated(kind, from, protocol, &body) {
                found.push((folder, protocol, body));
            }
        }
    }
    found
}

/// The streams in every protocol.
pub(crate) fn streams() -> Vec<Recorded> {
    let mut found = recorded();
    for protocol in without_vectors() {
        found.extend(recorded().into_iter().map(|stream| Recorded {
            bytes: piped(stream.from, protocol, &stream.bytes),
            from: protocol,
            folder: stream.folder,
        }));
    }
    found
}

fn without_vectors() -> impl Iterator<Item = Protocol> {
    PROTOCOLS.into_iter().filter(|protocol| !Protocol::ALL.contains(protocol))
}

/// The document in another protocol. What a protocol refuses is in no document
/// of it.
fn translated(kind: &str, from: Protocol, to: Protocol, body: &[u8]) -> Option<Vec<u8>> {
    let options = Options::new();
    match kind {
        "requests" => Some(translate::request(from, to, body, &options).ok()?.body),
        "responses" => Some(translate::response(from, to, body, &options).ok()?.body),
        "errors" => Some(translate::error(from, to, body, &options).ok()?.body),
        "tools" => Some(translate::tools(from, to, body, &options).ok()?.body),
        other => panic!("no such kind of documents: {other}"),
    }
}

fn piped(from: Protocol, to: Protocol, bytes: &[u8]) -> Vec<u8> {
    let mut pipe = Pipe::new(from, to, &Options::new()).unwrap();
    let mut out = Vec::new();
    pipe.push(bytes, &mut out);
    pipe.finish(&mut out);
    out
}
