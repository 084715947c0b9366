//! Reading a document for some of its members only.
//!
//! What passes is read for little: how many calls there are, what it cost. An overview is
//! given up where the document is unusual in any way, and left to the reader that knows
//! all there is. So nothing here says what is wrong.

use super::{Keys, Kind, Read, Reader};

/// Reads the object that comes next, member by member. `None` if one comes twice, or if
/// `each` gives up.
pub(crate) fn members<'a>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(&str, &mut Reader<'a>) -> Option<()>,
) -> Option<()> {
    let mut keys = Keys::default();
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(reader).ok()? {
        keys.add(&key, reader).ok()?;
        each(&key.decode(), reader)?;
    }
    Some(())
}

/// Reads the list that comes next, element by element.
pub(crate) fn elements<'a>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(&mut Reader<'a>) -> Option<()>,
) -> Option<()> {
    let mut elements = reader.array().ok()?;
    while elements.more(reader).ok()? {
        each(reader)?;
    }
    Some(())
}

/// Reads a value, or `null` as its absence.
pub(crate) fn value<'a, T: Read<'a>>(reader: &mut Reader<'a>) -> Option<Option<T>> {
    reader.nullable().ok()
}

/// Passes over a string or `null`. Whether it is a string.
pub(crate) fn has_text(reader: &mut Reader<'_>) -> Option<bool> {
    let is_text = match reader.peek() {
        Kind::String => true,
        Kind::Null => false,
        Kind::Bool | Kind::Number | Kind::Array | Kind::Object | Kind::Invalid | Kind::End => {
            return None;
        }
    };
    reader.skip().ok()?;
    Some(is_text)
}

/// Passes over `null`, and gives up on anything else.
pub(crate) fn absent(reader: &mut Reader<'_>) -> Option<()> {
    (!has_text(reader)?).then_some(())
}

/// Passes over any value.
pub(crate) fn anything(reader: &mut Reader<'_>) -> Option<()> {
    reader.skip().ok()
}
