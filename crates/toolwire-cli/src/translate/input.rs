//! Reading the input, and detecting its format.

use std::fmt;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use toolwire::Protocol;
use toolwire::guess::{DocumentKind, guess};

use crate::error::CommandError;
use crate::terminal::escape_controls;

/// What a document is, and in which protocol.
#[derive(Clone, Copy)]
pub(super) struct InputFormat {
    pub(super) protocol: Protocol,
    pub(super) document: DocumentKind,
}

impl InputFormat {
    /// The format that the flags give. What they leave open is detected.
    pub(super) fn detect(
        protocol: Option<Protocol>,
        document: Option<DocumentKind>,
        body: &[u8],
    ) -> Result<Self, CommandError> {
        if let (Some(protocol), Some(document)) = (protocol, document) {
            return Ok(Self { protocol, document });
        }
        let detected = guess(body).map_err(|error| {
            let error = escape_controls(&error.to_string());
            CommandError::Rejected(format!("cannot read standard input as JSON: {error}"))
        })?;
        // If the flags call a request a response, its protocol means nothing.
        let fits = document.is_none() || document == detected.document;
        match (protocol.or(detected.protocol.filter(|_| fits)), document.or(detected.document)) {
            (Some(protocol), Some(document)) => Ok(Self { protocol, document }),
            (None, Some(document)) => Err(CommandError::Usage(format!(
                "cannot detect the protocol of {}; pass --from",
                match document {
                    DocumentKind::Request => "this request",
                    DocumentKind::Response => "this response",
                    DocumentKind::Error => "this error",
                    DocumentKind::Tools => "these tools",
                }
            ))),
            (Some(_), None) => Err(CommandError::Usage(
                "cannot detect what this document is; pass --kind".to_owned(),
            )),
            (None, None) => Err(CommandError::Usage(
                "cannot detect what this document is; pass --from and --kind".to_owned(),
            )),
        }
    }
}

/// The format in a sentence: "chat request".
impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, document } = self;
        match document {
            DocumentKind::Request | DocumentKind::Response | DocumentKind::Error => {
                write!(f, "{protocol} {}", document.as_str())
            }
            DocumentKind::Tools => write!(f, "list of {protocol} tools"),
        }
    }
}

/// Reads all of standard input.
pub(super) fn read_stdin() -> Result<Vec<u8>, CommandError> {
    let mut input = io::stdin().lock();
    if input.is_terminal() && io::stderr().is_terminal() {
        writeln!(io::stderr().lock(), "Type or paste the document, then press Ctrl-D.")?;
    }
    let mut body = Vec::new();
    input.read_to_end(&mut body).map_err(CommandError::stdin)?;
    if body.trim_ascii().is_empty() {
        return Err(CommandError::Rejected(EMPTY.to_owned()));
    }
    Ok(body)
}

const EMPTY: &str = "\
standard input is empty
Pass a document: toolwire translate --to messages < request.json";

/// Reads all of a file.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, CommandError> {
    fs::read(path).map_err(|error| CommandError::Input { name: path.display().to_string(), error })
}
