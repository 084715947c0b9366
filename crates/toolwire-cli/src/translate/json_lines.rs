//! Many documents, one on each line: data sets, and the tests that translate
//! thousands of requests.

use std::io::{self, BufRead, BufWriter, Write};

use toolwire::wire::{Object, Raw};
use toolwire::{Entry, Error, Translated};

use crate::error::Failure;

/// Answers every line of standard input with a line of standard output, as it
/// comes. A document that cannot be translated does not stop the others.
pub(crate) fn run(translate: impl Fn(&[u8]) -> Result<Attempt, Failure>) -> Result<(), Failure> {
    let mut input = io::stdin().lock();
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut line, mut answer) = (Vec::new(), Vec::new());
    let (mut all, mut failed) = (0_usize, 0_usize);
    while read_line(&mut input, &mut line)? {
        answer.clear();
        all += 1;
        failed += usize::from(!write(translate(line.trim_ascii()), &mut answer));
        answer.push(b'\n');
        out.write_all(&answer)?;
    }
    out.flush()?;
    if failed > 0 {
        return Err(Failure::Rejected(format!(
            "{failed} of {all} documents were not translated; \"error\" on their lines says why"
        )));
    }
    Ok(())
}

/// A translation with the HTTP status of an error, or why there is none.
type Attempt = Result<(Translated, Option<u16>), Error>;

fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, Failure> {
    line.clear();
    let failed = |error| Failure::Input { name: "standard input".to_owned(), error };
    Ok(input.read_until(b'\n', line).map_err(failed)? > 0)
}

/// Writes one answer. Whether its document was translated.
fn write(attempt: Result<Attempt, Failure>, answer: &mut Vec<u8>) -> bool {
    let (body, ledger, error, status) = match attempt {
        Ok(Ok((done, status))) => (Some(done.body), done.ledger, None, status),
        Ok(Err(error)) => (None, reasons(&error), Some(error.to_string()), None),
        Err(failure) => (None, Vec::new(), Some(failure.to_string()), None),
    };
    let body = body.as_deref().and_then(|body| std::str::from_utf8(body).ok());
    let mut object = Object::new(answer);
    object.put("body", &body.map(Raw::made));
    object.put("ledger", &ledger);
    object.put("error", &error);
    if let Some(status) = status {
        object.put("status", &u64::from(status));
    }
    error.is_none()
}

fn reasons(error: &Error) -> Vec<Entry> {
    match error {
        Error::Refused { entries } => entries.clone(),
        Error::Invalid { .. } => Vec::new(),
    }
}
