//! `--lines`: many documents, one per line.

use std::io::{self, BufRead, BufWriter, Write};

use toolwire::wire::{Object, Raw};
use toolwire::{Entry, Error};

use super::document::TranslatedDocument;
use crate::error::CommandError;

/// Writes a line of standard output for each line of standard input. A document
/// that cannot be translated does not stop the others.
pub(super) fn run(
    translate: impl Fn(&[u8]) -> Result<TranslatedLine, CommandError>,
) -> Result<(), CommandError> {
    let mut input = io::stdin().lock();
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut line, mut output) = (Vec::new(), Vec::new());
    let (mut all, mut failed) = (0_usize, 0_usize);
    while read_line(&mut input, &mut line)? {
        output.clear();
        all += 1;
        failed += usize::from(!write_line(translate(line.trim_ascii()), &mut output));
        output.push(b'\n');
        out.write_all(&output)?;
    }
    out.flush()?;
    if failed > 0 {
        return Err(CommandError::Rejected(format!(
            "{failed} of {all} documents were not translated; \"error\" on their lines says why"
        )));
    }
    Ok(())
}

/// What became of one line.
#[derive(Default)]
pub(super) struct TranslatedLine {
    /// The translation, as JSON.
    pub(super) body: Option<Vec<u8>>,
    pub(super) ledger: Vec<Entry>,
    /// Why there is no translation, or the error that a stream ends with.
    pub(super) error: Option<String>,
    /// The HTTP status, if the line is an error.
    pub(super) status: Option<u16>,
}

impl From<Result<TranslatedDocument, Error>> for TranslatedLine {
    fn from(attempt: Result<TranslatedDocument, Error>) -> Self {
        match attempt {
            Ok(TranslatedDocument { body, ledger, status }) => {
                Self { body: Some(body), ledger, error: None, status }
            }
            Err(error) => Self {
                ledger: refused_fields(&error),
                error: Some(error.to_string()),
                ..Self::default()
            },
        }
    }
}

/// The fields because of which a document was refused.
fn refused_fields(error: &Error) -> Vec<Entry> {
    if let Error::Refused { entries } = error { entries.clone() } else { Vec::new() }
}

fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, CommandError> {
    line.clear();
    Ok(input.read_until(b'\n', line).map_err(CommandError::stdin)? > 0)
}

/// Writes one line. Returns whether it was translated without an error.
fn write_line(line: Result<TranslatedLine, CommandError>, output: &mut Vec<u8>) -> bool {
    let TranslatedLine { body, ledger, error, status } = line.unwrap_or_else(|error| {
        TranslatedLine { error: Some(error.to_string()), ..TranslatedLine::default() }
    });
    let body = body.as_deref().and_then(|body| std::str::from_utf8(body).ok());
    let mut object = Object::new(output);
    object.put("body", &body.map(Raw::made));
    object.put("ledger", &ledger);
    object.put("error", &error);
    if let Some(status) = status {
        object.put("status", &u64::from(status));
    }
    error.is_none()
}
