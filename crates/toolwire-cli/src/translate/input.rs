//! What comes in: its bytes, and what it is.

use std::fmt;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use toolwire::Protocol;
use toolwire::guess::{Document, guess};

use crate::error::Failure;
use crate::terminal::visible;

/// What a document is.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub(crate) protocol: Protocol,
    pub(crate) document: Document,
}

impl Source {
    /// What the document is: as told, or else as it looks.
    pub(crate) fn find(
        protocol: Option<Protocol>,
        document: Option<Document>,
        body: &[u8],
    ) -> Result<Self, Failure> {
        if let (Some(protocol), Some(document)) = (protocol, document) {
            return Ok(Self { protocol, document });
        }
        let seen = guess(body).map_err(|error| {
            let error = visible(&error.to_string());
            Failure::Rejected(format!("cannot read standard input as JSON: {error}"))
        })?;
        // A request that is said to be a response tells nothing about its
        // protocol.
        let fits = document.is_none() || document == seen.document;
        match (protocol.or(seen.protocol.filter(|_| fits)), document.or(seen.document)) {
            (Some(protocol), Some(document)) => Ok(Self { protocol, document }),
            (None, Some(document)) => Err(Failure::Usage(format!(
                "cannot tell the protocol of {}; give --from",
                match document {
                    Document::Request => "this request",
                    Document::Response => "this response",
                    Document::Error => "this error",
                    Document::Tools => "these tools",
                }
            ))),
            (Some(_), None) => {
                Err(Failure::Usage("cannot tell what this document is; give --kind".to_owned()))
            }
            (None, None) => Err(Failure::Usage(
                "cannot tell what this document is; give --from and --kind".to_owned(),
            )),
        }
    }
}

/// The document in a sentence: "chat request".
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, document } = self;
        match document {
            Document::Request | Document::Response | Document::Error => {
                write!(f, "{protocol} {}", document.as_str())
            }
            Document::Tools => write!(f, "list of {protocol} tools"),
        }
    }
}

/// Everything on standard input.
pub(crate) fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut input = io::stdin().lock();
    if input.is_terminal() && io::stderr().is_terminal() {
        writeln!(io::stderr().lock(), "Type or paste the document, then press Ctrl-D.")?;
    }
    let mut body = Vec::new();
    let failed = |error| Failure::Input { name: "standard input".to_owned(), error };
    input.read_to_end(&mut body).map_err(failed)?;
    if body.trim_ascii().is_empty() {
        return Err(Failure::Rejected(EMPTY.to_owned()));
    }
    Ok(body)
}

const EMPTY: &str = "\
standard input is empty
Pass a document, as in: toolwire translate --to messages < request.json";

/// Everything in a file.
pub(crate) fn file(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::Input { name: path.display().to_string(), error })
}
