//! A JSON value that is carried without being understood.

use std::borrow::Cow;
use std::ops::Range;

use super::{Kind, Pos, Read, ReadError, Reader, Str, Write, read_fields};

/// One JSON value, kept as the bytes it was written in.
#[derive(Clone)]
pub struct Raw<'a> {
    text: Cow<'a, str>,
    pos: Pos,
    /// Whether somebody has found that it is a schema whose root every protocol
    /// takes as it is.
    is_plain_schema: bool,
}

impl<'a> Raw<'a> {
    /// A span of the input that the reader has checked.
    pub(super) fn span(text: &'a str, pos: Pos) -> Self {
        Self { text: Cow::Borrowed(text), pos, is_plain_schema: false }
    }

    /// JSON of toolwire's own making. The caller vouches that it is valid.
    pub fn made(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), pos: Pos::NONE, is_plain_schema: false }
    }

    /// Checks that `text` is one JSON value.
    pub fn parse(text: &'a str) -> Result<Self, ReadError> {
        Reader::new(text).document()
    }

    /// A text as a string literal.
    pub(crate) fn literal(text: &Str<'_>) -> Self {
        let mut out = Vec::with_capacity(text.size_hint() + 2);
        text.write(&mut out);
        Self::made(String::from_utf8(out).unwrap_or_default()).at(text.pos())
    }

    /// The bytes of the value.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the value, giving up the value.
    pub fn into_text(self) -> Cow<'a, str> {
        self.text
    }

    /// Where the value is in the input.
    pub fn pos(&self) -> Pos {
        self.pos
    }

    /// Where the value is in the input, from its first byte to its last.
    pub fn range(&self) -> Option<Range<usize>> {
        self.pos.offset().map(|start| start..start + self.text.len())
    }

    /// The same value reported under another position.
    #[must_use]
    pub fn at(mut self, pos: Pos) -> Self {
        self.pos = pos;
        self
    }

    /// Notes that it is a schema whose root every protocol takes as it is.
    pub(crate) fn set_plain_schema(&mut self) {
        self.is_plain_schema = true;
    }

    /// Whether that was noted.
    pub(crate) fn is_plain_schema(&self) -> bool {
        self.is_plain_schema
    }

    /// What kind of value it is.
    pub fn kind(&self) -> Kind {
        Kind::of(self.text.as_bytes().first().copied())
    }

    /// Whether it is a list or an object without members.
    pub fn is_empty(&self) -> bool {
        let inside = |open: char, close: char| self.text.strip_prefix(open)?.strip_suffix(close);
        let inside = inside('[', ']').or_else(|| inside('{', '}'));
        inside.is_some_and(|inside| inside.trim().is_empty())
    }

    /// Whether a value in an answer says nothing: it is null or empty, counts
    /// nothing, or is an object of such values.
    pub(crate) fn says_nothing(&self) -> bool {
        match self.kind() {
            Kind::Null => true,
            Kind::String => self.text == "\"\"",
            Kind::Number => matches!(self.text.as_ref(), "0" | "0.0"),
            Kind::Array => self.is_empty(),
            Kind::Object => read_fields(&mut self.reader())
                .is_ok_and(|fields| fields.iter().all(|field| field.value.says_nothing())),
            Kind::Bool | Kind::Invalid | Kind::End => false,
        }
    }

    /// Reads into the value. Positions stay those of the whole input.
    pub fn reader(&self) -> Reader<'_> {
        Reader::nested(&self.text, self.pos)
    }

    /// Like [`Raw::reader`] for a value that borrows the input, so that what is
    /// read lives as long as the input does. `None` when the value is owned.
    pub fn source_reader(&self) -> Option<Reader<'a>> {
        match self.text {
            Cow::Borrowed(text) => Some(Reader::nested(text, self.pos)),
            Cow::Owned(_) => None,
        }
    }

    /// The elements of a list. What is no list has none.
    pub fn elements(&self) -> Result<Vec<Raw<'_>>, ReadError> {
        if self.kind() == Kind::Array { Vec::read(&mut self.reader()) } else { Ok(Vec::new()) }
    }

    /// The value in this one that is at a place of the input.
    pub(crate) fn part_at(&self, pos: Pos) -> Option<Raw<'_>> {
        let start = pos.offset()?.checked_sub(self.pos.offset()?)?;
        Reader::nested(self.text.get(start..)?, pos).raw().ok()
    }

    /// The same object with other values, given as JSON, for some of the
    /// members it has.
    pub(crate) fn but(&self, other: &[(&str, &str)]) -> Result<Raw<'static>, ReadError> {
        let mut text = String::with_capacity(self.text.len());
        for field in read_fields(&mut self.reader())? {
            text.push(if text.is_empty() { '{' } else { ',' });
            let known = other.iter().find(|(key, _)| field.key == *key);
            let value = known.map_or(field.value.text(), |(_, value)| value);
            text.extend(["\"", field.key.spelled(), "\":", value]);
        }
        text.push_str(if text.is_empty() { "{}" } else { "}" });
        Ok(Raw::made(text))
    }

    /// Borrows this value for a shorter time.
    pub fn borrowed(&self) -> Raw<'_> {
        let Self { text, pos, is_plain_schema } = self;
        Raw { text: Cow::Borrowed(text), pos: *pos, is_plain_schema: *is_plain_schema }
    }

    /// Gives up the borrow of the input.
    pub fn into_owned(self) -> Raw<'static> {
        let Self { text, pos, is_plain_schema } = self;
        Raw { text: Cow::Owned(text.into_owned()), pos, is_plain_schema }
    }
}

/// Values are equal when their bytes are: `1.0` and `1` are different numbers
/// to somebody, so they are different here.
impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Raw<'_> {}

impl std::fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Write for Raw<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.text.as_bytes());
    }
}
