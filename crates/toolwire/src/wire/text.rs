//! A string that remembers how it was spelled.

use std::borrow::Cow;
use std::ops::Range;

use super::{Pos, Write, write_escaped};

/// Text that came from a JSON string literal, or will become one.
///
/// Text read from a document borrows the inside of its literal, escapes and
/// all. Writing it to another document copies those bytes, so `\u00e9` stays
/// `\u00e9` and nothing is decoded only to be encoded again. Text that toolwire
/// made itself is plain and is escaped when written.
#[derive(Clone)]
pub struct Str<'a> {
    text: Cow<'a, str>,
    form: Form,
    pos: Pos,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Decoded and literal spelling are the same bytes.
    Clean,
    /// The inside of a literal that holds at least one escape.
    Escaped,
    /// Decoded text that may need escapes when written.
    Plain,
}

impl<'a> Str<'a> {
    /// Text of toolwire's own making.
    pub fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), form: Form::Plain, pos: Pos::NONE }
    }

    /// The inside of a literal of the input. The reader has checked it.
    pub(super) fn literal(inside: &'a str, escaped: bool, pos: Pos) -> Self {
        let form = if escaped { Form::Escaped } else { Form::Clean };
        Self { text: Cow::Borrowed(inside), form, pos }
    }

    /// The text itself, with every escape resolved.
    pub fn decode(&self) -> Cow<'_, str> {
        match self.form {
            Form::Clean | Form::Plain => Cow::Borrowed(&self.text),
            Form::Escaped => Cow::Owned(unescape(&self.text)),
        }
    }

    /// Like [`Str::decode`], giving up the string.
    pub fn into_decoded(self) -> Cow<'a, str> {
        match self.form {
            Form::Clean | Form::Plain => self.text,
            Form::Escaped => Cow::Owned(unescape(&self.text)),
        }
    }

    /// The same text positioned elsewhere in the input, for a value derived
    /// from a field that is reported under that position.
    #[must_use]
    pub fn at(mut self, pos: Pos) -> Self {
        self.pos = pos;
        self
    }

    /// Where the literal is in the input.
    pub fn pos(&self) -> Pos {
        self.pos
    }

    /// Whether the text has no characters.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether the text has only whitespace, or nothing.
    pub fn is_blank(&self) -> bool {
        let rest = self.text.trim_start();
        match self.form {
            Form::Clean | Form::Plain => rest.is_empty(),
            // An escape may stand for whitespace; anything else that shows up
            // first decides without decoding a long text.
            Form::Escaped => {
                rest.is_empty() || (rest.starts_with('\\') && self.decode().trim().is_empty())
            }
        }
    }

    /// Splits the text at the first `mark`, which must be made of characters that
    /// JSON never escapes.
    pub fn split_once(&self, mark: &str) -> Option<(Self, Self)> {
        let half = |text: Cow<'a, str>| Self { text, form: self.form, pos: self.pos };
        match &self.text {
            Cow::Borrowed(text) => {
                let (head, tail) = text.split_once(mark)?;
                Some((half(Cow::Borrowed(head)), half(Cow::Borrowed(tail))))
            }
            Cow::Owned(text) => {
                let (head, tail) = text.split_once(mark)?;
                Some((half(Cow::Owned(head.to_owned())), half(Cow::Owned(tail.to_owned()))))
            }
        }
    }

    /// Borrows this string for a shorter time.
    pub fn borrowed(&self) -> Str<'_> {
        Str { text: Cow::Borrowed(&self.text), form: self.form, pos: self.pos }
    }

    /// Gives up the borrow of the input.
    pub fn into_owned(self) -> Str<'static> {
        Str { text: Cow::Owned(self.text.into_owned()), form: self.form, pos: self.pos }
    }

    /// Whether the texts could be of one length. An escape is up to six times as
    /// long as what it stands for, so texts of other lengths need no decoding.
    fn may_be_as_long_as(&self, other: &Str<'_>) -> bool {
        let bounds = |text: &Str<'_>| match text.form {
            Form::Clean | Form::Plain => (text.text.len(), text.text.len()),
            Form::Escaped => (text.text.len() / 6, text.text.len()),
        };
        let ((least, most), (others_least, others_most)) = (bounds(self), bounds(other));
        least <= others_most && others_least <= most
    }

    /// The text as it is kept, whether its escapes are resolved or not. Good
    /// for a quick look at what cannot be in it.
    pub(crate) fn spelled(&self) -> &str {
        &self.text
    }

    /// The text as a part of the document that it was read from, if it is one, which a
    /// text with escapes is not.
    pub(crate) fn in_source(&self) -> Option<&'a str> {
        match (&self.text, self.form) {
            (Cow::Borrowed(text), Form::Clean) => Some(text),
            (Cow::Borrowed(_), Form::Escaped | Form::Plain) | (Cow::Owned(_), _) => None,
        }
    }

    /// One bit of 64, which is the same for texts that are the same. A text with escapes
    /// may be any, and has all of them.
    pub(crate) fn mark(&self) -> u64 {
        if self.is_escaped() {
            return u64::MAX;
        }
        let bytes = self.text.as_bytes();
        let [first, last] = [bytes.first(), bytes.last()].map(|byte| byte.map_or(0, |byte| *byte));
        1_u64.rotate_left(bytes.len() as u32 ^ u32::from(first) << 1 ^ u32::from(last) << 3)
    }

    /// Whether [`Str::spelled`] gives escapes that stand for something else.
    pub(crate) fn is_escaped(&self) -> bool {
        self.form == Form::Escaped
    }

    /// The length of the text as written inside a literal, near enough for
    /// reserving space.
    pub fn size_hint(&self) -> usize {
        self.text.len()
    }

    /// How many bytes the text itself has, its escapes resolved.
    pub fn decoded_len(&self) -> usize {
        match self.form {
            Form::Clean | Form::Plain => self.text.len(),
            Form::Escaped => walk(&self.text, usize::MAX).0,
        }
    }

    /// What follows the first `bytes` bytes of the text itself. `None` if it
    /// has fewer, or if a character would be cut.
    pub fn after(&self, bytes: usize) -> Option<Str<'_>> {
        let spelled = match self.form {
            Form::Clean | Form::Plain => bytes,
            Form::Escaped => {
                let (decoded, spelled) = walk(&self.text, bytes);
                (decoded == bytes).then_some(spelled)?
            }
        };
        let rest = self.text.get(spelled..)?;
        Some(Str { text: Cow::Borrowed(rest), form: self.form, pos: self.pos })
    }

    /// Where the literal is in `source`, quotes included, if the text is
    /// the whole of a literal there.
    pub(crate) fn span(&self, source: &str) -> Option<Range<usize>> {
        let start = self.pos.offset()?;
        let end = start + 1 + self.text.len();
        let inside = source.get(start + 1..end)?;
        // Text may have been cut from a literal or be reported under the
        // position of another; then it does not lie where it should.
        let whole = inside.as_ptr() == self.text.as_ptr()
            && source.as_bytes().get(end) == Some(&b'"')
            && self.form != Form::Plain;
        whole.then_some(start..end + 1)
    }

    /// Writes the text as the inside of a literal, without the quotes.
    pub fn write_inside(&self, out: &mut Vec<u8>) {
        match self.form {
            Form::Clean | Form::Escaped => out.extend_from_slice(self.text.as_bytes()),
            Form::Plain => write_escaped(&self.text, out),
        }
    }
}

impl PartialEq<str> for Str<'_> {
    fn eq(&self, other: &str) -> bool {
        match self.form {
            Form::Clean | Form::Plain => *self.text == *other,
            Form::Escaped => self.decode() == other,
        }
    }
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// Two strings are equal when their text is, however it was spelled and
/// wherever it stood.
impl PartialEq<Str<'_>> for Str<'_> {
    fn eq(&self, other: &Str<'_>) -> bool {
        if !self.is_escaped() && !other.is_escaped() {
            return self.text == other.text;
        }
        self.may_be_as_long_as(other) && self.decode() == other.decode()
    }
}

impl Eq for Str<'_> {}

impl std::fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.decode().fmt(f)
    }
}

impl Write for Str<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        self.write_inside(out);
        out.push(b'"');
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

/// A string that grows by pieces of literals and keeps their spelling.
#[derive(Clone, Debug, Default)]
pub struct TextBuffer {
    inside: String,
    escaped: bool,
}

impl TextBuffer {
    /// Appends a text.
    pub fn push(&mut self, text: &Str<'_>) {
        match text.form {
            Form::Clean => self.inside.push_str(&text.text),
            Form::Escaped => {
                self.inside.push_str(&text.text);
                self.escaped = true;
            }
            Form::Plain => {
                let mut inside = Vec::new();
                write_escaped(&text.text, &mut inside);
                self.escaped |= inside.len() != text.text.len();
                // Escaping UTF-8 gives UTF-8.
                self.inside.push_str(std::str::from_utf8(&inside).unwrap_or_default());
            }
        }
    }

    /// The text so far.
    pub fn text(&self) -> Str<'_> {
        Str::literal(&self.inside, self.escaped, Pos::NONE)
    }

    /// Whether nothing has been appended.
    pub fn is_empty(&self) -> bool {
        self.inside.is_empty()
    }

    /// The text as the inside of a literal.
    pub fn inside(&self) -> &str {
        &self.inside
    }

    /// Gives back the room that a long text does not need.
    pub fn settle(&mut self) {
        if self.inside.capacity() >= LONG {
            self.inside.shrink_to_fit();
        }
    }

    /// Forgets the text and keeps its space.
    pub fn clear(&mut self) {
        self.inside.clear();
        self.escaped = false;
    }
}

/// How much room is worth giving back.
const LONG: usize = 64 * 1024;

/// Walks over the inside of a literal until at least `bytes` bytes of the text
/// itself are behind. How many are, and how many as they are spelled.
fn walk(inside: &str, bytes: usize) -> (usize, usize) {
    let (mut decoded, mut spelled) = (0, 0);
    while decoded < bytes {
        let rest = inside.get(spelled..).unwrap_or_default();
        let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        let plain = plain.min(bytes - decoded);
        decoded += plain;
        spelled += plain;
        if decoded == bytes || plain == rest.len() {
            break;
        }
        let (character, used) = escape(rest.get(plain..).unwrap_or_default());
        decoded += character.len_utf8();
        spelled += used;
    }
    (decoded, spelled)
}

/// Resolves the escapes of a literal that the reader has checked.
fn unescape(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(slash) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (run, tail) = rest.split_at(slash);
        text.push_str(run);
        let (decoded, used) = escape(tail);
        text.push(decoded);
        rest = tail.get(used..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// Decodes the escape at the start of `tail` and says how many bytes it took.
fn escape(tail: &str) -> (char, usize) {
    match tail.as_bytes().get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => unicode(tail),
        Some(other) => (char::from(*other), 2),
        None => ('\\', 1),
    }
}

fn unicode(tail: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = tail.get(at..at + 4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(2).unwrap_or_default();
    let second = match tail.get(6..8) {
        Some("\\u") => unit(8),
        Some(_) | None => None,
    };
    let mut units = std::iter::once(first).chain(second);
    match char::decode_utf16(&mut units).next() {
        Some(Ok(decoded)) => (decoded, if decoded.len_utf16() == 2 { 12 } else { 6 }),
        // The reader refuses lone surrogates before anything is decoded.
        Some(Err(_)) | None => (char::REPLACEMENT_CHARACTER, 6),
    }
}
