//! A pull reader over a JSON document that stays where it is.

use std::fmt;

use super::ends::{self, ValueEnd, ValueEnds};
use super::scan::{self, Fault, MAX_DEPTH, Scan};
use super::{At, Extra, Pos, Raw, ReadError, Str, What, check_duplicates, skip};
use crate::model::Tool;
use crate::translate::KnownTools;

/// Something that can be read from a JSON value.
pub trait Read<'a>: Sized {
    /// Reads one value and leaves the reader behind it.
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError>;
}

/// Reads JSON in one pass, borrowing everything it returns.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    src: &'a str,
    pos: usize,
    base: Pos,
    depth: u32,
    /// The ends of values that were passed over before.
    ends: &'a [ValueEnd],
    /// The list of tools of the document, if it came before.
    tools: Option<&'a KnownTools>,
}

impl<'a> Reader<'a> {
    /// Reads a whole document.
    pub fn new(src: &'a str) -> Self {
        Self::nested(src, Pos::START)
    }

    /// Reads a whole document that was passed over before.
    pub(crate) fn again(src: &'a str, ends: &'a ValueEnds, tools: Option<&'a KnownTools>) -> Self {
        Self { ends: ends.list(src.len()), tools, ..Self::new(src) }
    }

    /// Reads a value that is part of a larger document and starts at `base`.
    pub(super) fn nested(src: &'a str, base: Pos) -> Self {
        Self { src, pos: 0, base, depth: 0, ends: &[], tools: None }
    }

    /// Reads one value, and refuses anything but whitespace behind it.
    pub fn document<T: Read<'a>>(mut self) -> Result<T, ReadError> {
        let value = T::read(&mut self)?;
        self.finish()?;
        Ok(value)
    }

    /// Reads an array, each element by `read`.
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        let mut list = Vec::new();
        let mut members = self.array()?;
        while members.more(self)? {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// Refuses anything but whitespace behind the value that was read.
    pub fn finish(mut self) -> Result<(), ReadError> {
        self.skip_whitespace();
        if self.pos < self.src.len() { Err(self.error(What::Trailing)) } else { Ok(()) }
    }

    /// The kind of the value that comes next.
    pub fn peek(&mut self) -> Kind {
        self.skip_whitespace();
        Kind::of(self.byte())
    }

    /// The position of the value that comes next.
    pub fn here(&mut self) -> Pos {
        self.skip_whitespace();
        self.base.advance(self.pos)
    }

    /// The position right behind what was read last.
    pub fn behind(&self) -> Pos {
        self.base.advance(self.pos)
    }

    /// Reads a string.
    pub fn string(&mut self) -> Result<Str<'a>, ReadError> {
        self.expect(Kind::String)?;
        self.literal()
    }

    /// Reads a string whose quote comes next.
    fn literal(&mut self) -> Result<Str<'a>, ReadError> {
        let start = self.pos;
        let end = match ends::find(&mut self.ends, start) {
            Some(end) => end,
            None => self.scanned(scan::string(self.bytes(), start))?,
        };
        let (end, escaped) = (end.behind(), end.is_escaped());
        self.pos = end;
        let inside = self.src.get(start + 1..end - 1).unwrap_or_default();
        let pos = self.base.advance(start);
        Ok(Str::literal(inside, escaped, pos))
    }

    /// Reads any value as the bytes it is.
    pub fn raw(&mut self) -> Result<Raw<'a>, ReadError> {
        self.skip_whitespace();
        let start = self.pos;
        self.skip()?;
        Ok(Raw::span(self.src.get(start..self.pos).unwrap_or_default(), self.base.advance(start)))
    }

    /// The bytes that were read since `start`.
    pub(crate) fn raw_since(&self, start: &Self) -> Raw<'a> {
        let text = self.src.get(start.pos..self.pos).unwrap_or_default();
        Raw::span(text, self.base.advance(start.pos))
    }

    /// What is left of the document.
    pub(crate) fn rest(&self) -> &'a str {
        self.src.get(self.pos..).unwrap_or_default()
    }

    /// Where that begins.
    pub(crate) fn offset(&self) -> usize {
        self.pos
    }

    /// Passes over a value that is known to have that many bytes.
    pub(crate) fn advance(&mut self, length: usize) {
        self.pos += length;
    }

    /// Reads the list of tools that comes next, if it came before.
    pub(crate) fn known_tools(&mut self) -> Option<Vec<Tool<'a>>> {
        self.skip_whitespace();
        let known = self.tools.filter(|known| known.start() == self.pos)?;
        let tools = known.tools()?;
        self.pos += known.length();
        Some(tools)
    }

    /// Passes over one value of any kind.
    pub fn skip(&mut self) -> Result<(), ReadError> {
        self.skip_whitespace();
        self.pos = match ends::find(&mut self.ends, self.pos) {
            Some(end) => end.behind(),
            None => self.scanned(scan::value(self.bytes(), self.pos, self.depth, &mut ()))?,
        };
        Ok(())
    }

    /// Passes over one value of a document that was read or written before, and
    /// checks no list and no object for the second time.
    pub(crate) fn skip_known(&mut self) -> Result<(), ReadError> {
        if !matches!(self.peek(), Kind::Array | Kind::Object) {
            return self.skip();
        }
        self.pos = match ends::find(&mut self.ends, self.pos) {
            Some(end) => end.behind(),
            None => skip::container_end(self.bytes(), self.pos),
        };
        Ok(())
    }

    /// Passes over one value of any kind, and notes where the long values in it
    /// end, for another reader of the same document.
    pub(crate) fn skip_noting(&mut self, ends: &mut ValueEnds) -> Result<(), ReadError> {
        self.skip_whitespace();
        self.pos = self.scanned(scan::value(self.bytes(), self.pos, self.depth, ends))?;
        Ok(())
    }

    /// Reads `true` or `false`.
    pub fn boolean(&mut self) -> Result<bool, ReadError> {
        self.expect(Kind::Bool)?;
        let value = self.byte() == Some(b't');
        let word = if value { "true" } else { "false" };
        self.pos = self.scanned(scan::literal(self.bytes(), self.pos, word))?;
        Ok(value)
    }

    /// Reads a number as it is spelled.
    pub fn number(&mut self) -> Result<Raw<'a>, ReadError> {
        self.expect(Kind::Number)?;
        self.raw()
    }

    /// Reads a value, or `null` as its absence.
    pub fn nullable<T: Read<'a>>(&mut self) -> Result<Option<T>, ReadError> {
        if self.peek() == Kind::Null {
            self.skip()?;
            return Ok(None);
        }
        T::read(self).map(Some)
    }

    /// Enters an object.
    pub fn object(&mut self) -> Result<Members, ReadError> {
        self.expect(Kind::Object)?;
        self.open()
    }

    /// Enters an array.
    pub fn array(&mut self) -> Result<Members, ReadError> {
        self.expect(Kind::Array)?;
        self.open()
    }

    /// Looks ahead for the string under `key` in the object that comes next,
    /// and stays before the object.
    ///
    /// Writers put a discriminator first almost always, so this rarely looks
    /// past a few bytes.
    pub fn tag(&mut self, key: &str) -> Result<Option<Str<'a>>, ReadError> {
        let mut ahead = self.clone();
        if ahead.seek(key)? && ahead.peek() == Kind::String {
            return ahead.string().map(Some);
        }
        Ok(None)
    }

    /// Goes into the object that comes next, to the value under `key`. Says
    /// whether it is there.
    fn seek(&mut self, key: &str) -> Result<bool, ReadError> {
        if self.peek() != Kind::Object {
            return Ok(false);
        }
        let mut members = self.object()?;
        while let Some(found) = members.next(self)? {
            if found == *key {
                return Ok(true);
            }
            self.skip()?;
        }
        Ok(false)
    }

    /// Goes into the object that comes next, to the value under `key`, which must
    /// be there. What comes before it is passed over, what comes behind it is not
    /// looked at.
    pub fn enter(&mut self, key: &'static str) -> Result<(), ReadError> {
        self.expect(Kind::Object)?;
        let at = self.here();
        if self.seek(key)? { Ok(()) } else { Err(ReadError::missing(at, key)) }
    }

    /// Reads the object that comes next for some of its members only. `null`
    /// is absent, and a value of another kind has no members.
    pub fn pick<const N: usize>(
        &mut self,
        keys: [&str; N],
    ) -> Result<[Option<Raw<'a>>; N], ReadError> {
        let mut found = [const { None }; N];
        if self.peek() != Kind::Object {
            self.skip()?;
            return Ok(found);
        }
        let mut members = self.object()?;
        while let Some(key) = members.next(self)? {
            let known = key.decode();
            match keys.iter().zip(&mut found).find(|(wanted, _)| **wanted == known) {
                Some((_, slot)) => *slot = self.nullable()?,
                None => self.skip()?,
            }
        }
        Ok(found)
    }

    /// An error at the value that comes next.
    pub fn error(&mut self, what: What) -> ReadError {
        ReadError::new(self.here(), what)
    }

    fn open(&mut self) -> Result<Members, ReadError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(What::Depth));
        }
        self.depth += 1;
        let at = self.base.advance(self.pos);
        self.pos += 1;
        Ok(Members { at, first: true })
    }

    fn expect(&mut self, wanted: Kind) -> Result<(), ReadError> {
        let found = self.peek();
        if found == wanted {
            return Ok(());
        }
        let what = match found {
            Kind::End => What::End,
            Kind::Invalid => What::Value,
            Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Array | Kind::Object => {
                What::Expected { wanted, found }
            }
        };
        Err(self.error(what))
    }

    fn skip_whitespace(&mut self) {
        self.pos = scan::whitespace(self.bytes(), self.pos);
    }

    fn bytes(&self) -> &'a [u8] {
        self.src.as_bytes()
    }

    fn byte(&self) -> Option<u8> {
        self.bytes().get(self.pos).copied()
    }

    fn scanned<T>(&self, result: Scan<T>) -> Result<T, ReadError> {
        result.map_err(|fault| {
            let Fault { at, what } = *fault;
            ReadError::new(self.base.advance(at), what)
        })
    }
}

/// The members of an object or array that is being read.
pub struct Members {
    at: Pos,
    first: bool,
}

impl Members {
    /// Where the container starts in the input.
    pub fn at(&self) -> Pos {
        self.at
    }

    /// The key of the next member of an object; the reader is before its
    /// value, which must be read or skipped.
    pub fn next<'a>(&mut self, reader: &mut Reader<'a>) -> Result<Option<Str<'a>>, ReadError> {
        if !self.step(reader, b'}', What::CommaOrBrace)? {
            return Ok(None);
        }
        if reader.byte() != Some(b'"') {
            let what = if reader.peek() == Kind::End { What::End } else { What::Key };
            return Err(reader.error(what));
        }
        let key = reader.literal()?;
        reader.pos = reader.scanned(scan::colon(reader.bytes(), reader.pos))?;
        Ok(Some(key))
    }

    /// Whether an array has another element; the reader is before it.
    pub fn more(&mut self, reader: &mut Reader<'_>) -> Result<bool, ReadError> {
        self.step(reader, b']', What::CommaOrBracket)
    }

    fn step(&mut self, reader: &mut Reader<'_>, close: u8, what: What) -> Result<bool, ReadError> {
        reader.skip_whitespace();
        let first = std::mem::replace(&mut self.first, false);
        match reader.byte() {
            Some(byte) if byte == close => {
                reader.pos += 1;
                reader.depth -= 1;
                Ok(false)
            }
            Some(b',') if !first => {
                reader.pos += 1;
                reader.skip_whitespace();
                Ok(true)
            }
            Some(_) if first => Ok(true),
            Some(_) => Err(reader.error(what)),
            None => Err(reader.error(What::End)),
        }
    }
}

/// The kind of a JSON value, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
    Invalid,
    End,
}

impl Kind {
    pub(super) fn of(byte: Option<u8>) -> Self {
        match byte {
            Some(b'"') => Self::String,
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b't' | b'f') => Self::Bool,
            Some(b'n') => Self::Null,
            Some(b'-' | b'0'..=b'9') => Self::Number,
            Some(_) => Self::Invalid,
            None => Self::End,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
            Self::Invalid => "invalid JSON",
            Self::End => "the end of the input",
        })
    }
}

impl<'a> Read<'a> for Str<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.string()
    }
}

impl<'a> Read<'a> for Raw<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.raw()
    }
}

impl<'a> Read<'a> for At<bool> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let pos = reader.here();
        Ok(Self { pos, value: reader.boolean()? })
    }
}

/// Whole numbers that toolwire computes with: limits, counts, timestamps. A
/// number that is not a whole one in range is refused rather than rounded.
impl<'a> Read<'a> for At<u64> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let pos = reader.here();
        let number = reader.number()?;
        let value = number.text().parse().or_else(|_| whole(number.text()).ok_or(()));
        let Ok(value) = value else {
            return Err(ReadError::new(
                pos,
                What::Invalid(format!("expected a whole number, found {}", number.text())),
            ));
        };
        Ok(Self { pos, value })
    }
}

/// Reads `3.0` and `1e3` as the whole numbers they are.
fn whole(text: &str) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
}

impl<'a, T: Read<'a>> Read<'a> for Vec<T> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.list(T::read)
    }
}

impl<'a, T: Read<'a>> Read<'a> for At<Vec<T>> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        Ok(Self { pos: reader.here(), value: Vec::read(reader)? })
    }
}

/// Reads an object of which nothing is known beforehand.
pub fn read_fields<'a>(reader: &mut Reader<'a>) -> Result<Vec<Extra<'a>>, ReadError> {
    let mut fields = Vec::new();
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        fields.push(Extra { value: reader.raw()?, key });
    }
    check_duplicates(&fields)?;
    Ok(fields)
}

/// The string that `path` leads to from the top of a document. Nothing behind
/// it is looked at.
pub fn string_under<'a>(source: &'a str, path: &[&str]) -> Option<Str<'a>> {
    let mut reader = Reader::new(source);
    for key in path {
        reader.seek(key).ok()?.then_some(())?;
    }
    reader.string().ok()
}
