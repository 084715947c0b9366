//! Reading a document for some of its members only.
//!
//! What passes is read for little: how many calls there are, what it cost. Whoever takes
//! a glance at a document gives up where it is unusual in any way, and leaves it to the
//! reader that knows all there is. So nothing here says what is wrong.

use super::{Kind, Read, Reader, Str};

/// Reads the object that comes next, member by member. `None` if one comes twice, or may
/// do so, or if `each` gives up.
pub(crate) fn members<'a>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(&str, &mut Reader<'a>) -> Option<()>,
) -> Option<()> {
    let mut known = KnownKeys { marks: 0, keys: [""; MOST_KEYS], count: 0 };
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(reader).ok()? {
        let key = known.add(&key)?;
        each(key, reader)?;
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

/// The keys of one object so far.
struct KnownKeys<'a> {
    /// The marks of all of them. A key whose mark is not among them is new.
    marks: u64,
    keys: [&'a str; MOST_KEYS],
    count: usize,
}

impl<'a> KnownKeys<'a> {
    /// Adds a key that is certainly new.
    fn add(&mut self, key: &Str<'a>) -> Option<&'a str> {
        let text = key.in_source()?;
        let mark = key.mark();
        let mut known = self.keys.iter().take(self.count);
        if self.marks & mark != 0 && known.any(|known| *known == text) {
            return None;
        }
        self.marks |= mark;
        *self.keys.get_mut(self.count)? = text;
        self.count += 1;
        Some(text)
    }
}

/// How many members an object may have. The answers of Responses have the most, because
/// they repeat the request.
const MOST_KEYS: usize = 48;
