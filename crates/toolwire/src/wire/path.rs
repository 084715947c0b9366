//! A value deep in a document, without reading what is behind it.

use super::{Raw, Reader, Str};

/// The string that `path` leads to from the top of a document. Nothing behind
/// it is looked at.
pub fn string_under<'a>(source: &'a str, path: &[&str]) -> Option<Str<'a>> {
    at_path(source, path)?.string().ok()
}

/// The value that `path` leads to from the top of a document. Nothing behind it is looked at.
pub(crate) fn value_under<'a>(source: &'a str, path: &[&str]) -> Option<Raw<'a>> {
    at_path(source, path)?.raw().ok()
}

fn at_path<'a>(source: &'a str, path: &[&str]) -> Option<Reader<'a>> {
    let mut reader = Reader::new(source);
    for key in path {
        reader.seek(key).ok()?.then_some(())?;
    }
    Some(reader)
}
