//! A pull reader over a JSON document that stays where it is.

use super::ends::{self, ValueEnd, ValueEnds};
use super::scan::{self, Fault, LiteralEnd, MAX_DEPTH, Scan, Visit};
use super::{Kind, Pos, Raw, ReadError, Str, What, skip};
use crate::model::Tool;
use crate::translate::KnownTools;

/// Something that can be read from a JSON value.
pub trait Read<'a>: Sized {
    /// Reads one value and leaves the reader behind it.
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError>;

    /// Reads one value into its place, for objects so large that it costs something
    /// to move them there.
    fn read_into(place: &mut Option<Self>, reader: &mut Reader<'a>) -> Result<(), ReadError> {
        *place = Some(Self::read(reader)?);
        Ok(())
    }
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
        if self.byte() != Some(b'"') {
            self.expect(Kind::String)?;
        }
        let end = match ends::find(&mut self.ends, self.pos) {
            Some(end) => end,
            None => self.literal_end()?,
        };
        Ok(self.literal(end))
    }

    /// The end of the string whose quote comes next.
    #[inline(always)]
    fn literal_end(&self) -> Result<LiteralEnd, ReadError> {
        match scan::string(self.bytes(), self.pos) {
            Ok(end) => Ok(end),
            Err(fault) => Err(self.fault(*fault)),
        }
    }

    /// Reads the string whose quote comes next and of which the end is known.
    #[inline(always)]
    fn literal(&mut self, end: LiteralEnd) -> Str<'a> {
        let (start, behind) = (self.pos, end.behind());
        self.pos = behind;
        let inside = self.src.get(start + 1..behind - 1).unwrap_or_default();
        Str::literal(inside, end.is_escaped(), self.base.advance(start))
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

    /// Reads once more from a place beside which nothing was left open. `ends` has those of what
    /// was passed over since, behind `mark`.
    pub(crate) fn again_from<'e>(
        &self,
        place: usize,
        ends: &'e ValueEnds,
        mark: usize,
    ) -> Reader<'e>
    where
        'a: 'e,
    {
        Reader { pos: place, ends: ends.after(mark), ..self.clone() }
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

    /// The list of tools that came before.
    pub(crate) fn known_list(&self) -> Option<&'a KnownTools> {
        self.tools
    }

    /// Passes over one value of any kind.
    pub fn skip(&mut self) -> Result<(), ReadError> {
        self.skip_whitespace();
        self.pos = match ends::find(&mut self.ends, self.pos) {
            Some(end) => end.behind(),
            None if self.byte() == Some(b'"') => self.literal_end()?.behind(),
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
        self.pos = if self.byte() == Some(b'"') {
            let end = self.literal_end()?;
            ends.string(self.bytes(), self.pos, end);
            end.behind()
        } else {
            self.scanned(scan::value(self.bytes(), self.pos, self.depth, ends))?
        };
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

    /// Reads a whole number of few digits, if one comes next and is spelled without a
    /// sign, a fraction and an exponent.
    pub(super) fn small_number(&mut self) -> Option<u64> {
        let bytes = self.bytes().get(self.pos..)?;
        let (first, rest) = bytes.split_first().filter(|(first, _)| first.is_ascii_digit())?;
        let mut value = u64::from(first - b'0');
        // A number of eighteen digits is not too large.
        for (length, byte) in (1..18).zip(rest) {
            match byte {
                b'0'..=b'9' if value > 0 => value = value * 10 + u64::from(byte - b'0'),
                b'0'..=b'9' | b'.' | b'e' | b'E' => return None,
                _other => {
                    self.pos += length;
                    return Some(value);
                }
            }
        }
        None
    }

    /// Reads a value, or `null` as its absence.
    pub fn nullable<T: Read<'a>>(&mut self) -> Result<Option<T>, ReadError> {
        self.skip_whitespace();
        if self.byte() == Some(b'n') {
            self.skip()?;
            return Ok(None);
        }
        T::read(self).map(Some)
    }

    /// Reads a value into its place, which is empty. `null` leaves it so.
    pub(super) fn nullable_into<T: Read<'a>>(
        &mut self,
        place: &mut Option<T>,
    ) -> Result<(), ReadError> {
        self.skip_whitespace();
        if self.byte() == Some(b'n') { self.skip() } else { T::read_into(place, self) }
    }

    /// Enters an object.
    pub fn object(&mut self) -> Result<Members, ReadError> {
        if self.byte() != Some(b'{') {
            self.expect(Kind::Object)?;
        }
        self.open()
    }

    /// Enters an array.
    pub fn array(&mut self) -> Result<Members, ReadError> {
        if self.byte() != Some(b'[') {
            self.expect(Kind::Array)?;
        }
        self.open()
    }

    /// Looks ahead for the string under `key` in the object that comes next,
    /// and stays before the object.
    ///
    /// Writers put a discriminator first almost always, so this rarely looks
    /// past a few bytes.
    pub fn tag(&mut self, key: &str) -> Result<Option<Str<'a>>, ReadError> {
        if let Some(tag) = self.first_tag(key) {
            return Ok(Some(tag));
        }
        let mut ahead = self.clone();
        if ahead.seek(key)? && ahead.peek() == Kind::String {
            return ahead.string().map(Some);
        }
        Ok(None)
    }

    /// The string under `key` if the object that comes next begins with it.
    fn first_tag(&mut self, key: &str) -> Option<Str<'a>> {
        self.skip_whitespace();
        let rest = self.rest().strip_prefix("{\"")?.strip_prefix(key)?.strip_prefix("\":")?;
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        if !rest.starts_with('"') || self.depth >= MAX_DEPTH {
            return None;
        }
        let start = self.src.len() - rest.len();
        let end = scan::string(self.bytes(), start).ok()?;
        let inside = self.src.get(start + 1..end.behind() - 1)?;
        Some(Str::literal(inside, end.is_escaped(), self.base.advance(start)))
    }

    /// Goes into the object that comes next, to the value under `key`. Says
    /// whether it is there.
    pub(super) fn seek(&mut self, key: &str) -> Result<bool, ReadError> {
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
    #[cold]
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

    /// An error where a container of which one element was read must go on or end.
    #[cold]
    fn misplaced(&mut self, close: u8) -> ReadError {
        let what = match (self.byte(), close) {
            (None, _) => What::End,
            (Some(_), b'}') => What::CommaOrBrace,
            (Some(_), _) => What::CommaOrBracket,
        };
        self.error(what)
    }

    #[inline(always)]
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
        result.map_err(|fault| self.fault(*fault))
    }

    #[cold]
    fn fault(&self, fault: Fault) -> ReadError {
        let Fault { at, what } = fault;
        ReadError::new(self.base.advance(at), what)
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
        if !self.step(reader, b'}')? {
            return Ok(None);
        }
        if reader.byte() != Some(b'"') {
            let what = if reader.peek() == Kind::End { What::End } else { What::Key };
            return Err(reader.error(what));
        }
        // The ends that are known are those of values.
        let end = reader.literal_end()?;
        let key = reader.literal(end);
        reader.pos = match scan::colon(reader.bytes(), reader.pos) {
            Ok(pos) => pos,
            Err(fault) => return Err(reader.fault(*fault)),
        };
        Ok(Some(key))
    }

    /// Whether an array has another element; the reader is before it.
    pub fn more(&mut self, reader: &mut Reader<'_>) -> Result<bool, ReadError> {
        self.step(reader, b']')
    }

    #[inline(always)]
    fn step(&mut self, reader: &mut Reader<'_>, close: u8) -> Result<bool, ReadError> {
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
            Some(_) | None => Err(reader.misplaced(close)),
        }
    }
}
