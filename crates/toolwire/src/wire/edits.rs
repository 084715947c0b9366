//! Stretches of a document that are written anew, while everything else keeps its
//! bytes.

use std::borrow::Cow;
use std::ops::Range;

/// What stands in a place of a document instead of what was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit<'e> {
    /// The bytes that it replaces. If there are none, it goes between others.
    pub(crate) place: Range<usize>,
    pub(crate) text: Cow<'e, [u8]>,
}

/// Writes a document with edits, which are in order and beside each other.
pub(crate) fn write_edited<'e>(
    source: &[u8],
    edits: impl IntoIterator<Item = Edit<'e>>,
    out: &mut Vec<u8>,
) {
    let mut from = 0;
    for Edit { place, text } in edits {
        out.extend_from_slice(source.get(from..place.start).unwrap_or_default());
        out.extend_from_slice(&text);
        from = place.end;
    }
    out.extend_from_slice(source.get(from..).unwrap_or_default());
}
