//! From a byte offset of the input to the JSON Pointer a user can read.

use std::borrow::Cow;
use std::ops::Range;

use super::{Pos, Str};
use super::{scan, skip};

/// The JSON Pointer (RFC 6901) of the value that holds the byte at `pos`.
pub fn pointer(src: &str, pos: Pos) -> String {
    pointers(src, &[pos]).pop().unwrap_or_default()
}

/// The pointers of many positions, in one walk over the input.
///
/// A position inside a malformed part gets the pointer of the innermost value
/// that could still be made out, so errors point somewhere useful too.
pub fn pointers(src: &str, wanted: &[Pos]) -> Vec<String> {
    pointers_past(src, wanted, &[])
}

/// Like [`pointers`], with string literals and other values of the input that need
/// not be looked through, in order: most of a document is text that somebody has
/// just read.
pub(crate) fn pointers_past(src: &str, wanted: &[Pos], known: &[Range<usize>]) -> Vec<String> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&index| wanted.get(index).copied());
    let mut walk = Walk { bytes: src.as_bytes(), src, pos: 0, path: Vec::new(), known, ahead: 0 };
    let mut found = vec![String::new(); wanted.len()];
    for index in order {
        let Some(offset) = wanted.get(index).and_then(|pos| pos.offset()) else { continue };
        walk.to(offset);
        if let Some(slot) = found.get_mut(index) {
            *slot = walk.render();
        }
    }
    found
}

struct Walk<'s> {
    bytes: &'s [u8],
    src: &'s str,
    /// The first byte that has not been looked at.
    pos: usize,
    path: Vec<PathStep<'s>>,
    /// The values ahead whose ends are known.
    known: &'s [Range<usize>],
    /// The end of the literal at `pos` if it was looked for, and nothing
    /// otherwise: of many places in one long text, only the first looks.
    ahead: usize,
}

enum PathStep<'s> {
    /// In an array, at this element.
    Index(usize),
    /// In an object, before its first key.
    Object,
    /// In an object, at the member of this key, as it is spelled and whether that has
    /// escapes.
    Key(&'s str, bool),
}

impl<'s> Walk<'s> {
    /// Walks until the value that holds `offset` is the innermost of the path.
    fn to(&mut self, offset: usize) {
        while self.pos <= offset {
            self.pos = scan::whitespace(self.bytes, self.pos);
            match self.bytes.get(self.pos) {
                Some(open @ (b'{' | b'[')) if self.pos < offset => {
                    match self.container_end().filter(|end| *end <= offset) {
                        Some(end) => self.pos = end,
                        None if *open == b'{' => self.enter(PathStep::Object),
                        None => self.enter(PathStep::Index(0)),
                    }
                }
                Some(b'}' | b']') if self.pos < offset => {
                    self.path.pop();
                    self.pos += 1;
                }
                Some(b',') => {
                    if let Some(PathStep::Index(index)) = self.path.last_mut() {
                        *index += 1;
                    } else if let Some(step) = self.path.last_mut() {
                        *step = PathStep::Object;
                    }
                    self.pos += 1;
                }
                Some(b':') => self.pos += 1,
                Some(b'"') if matches!(self.path.last(), Some(PathStep::Object)) => {
                    if !self.key() {
                        return;
                    }
                }
                Some(b'"') => {
                    if self.ahead <= self.pos {
                        let end = self.known_end().or_else(|| self.literal_end());
                        self.ahead = end.unwrap_or(usize::MAX);
                    }
                    if self.ahead > offset {
                        return;
                    }
                    self.pos = self.ahead;
                }
                Some(b'{' | b'}' | b'[' | b']') | None => return,
                // A number, a word, or something that is not JSON at all.
                Some(_) => {
                    if self.ahead <= self.pos {
                        self.ahead = self.word_end();
                    }
                    if self.ahead > offset {
                        return;
                    }
                    self.pos = self.ahead;
                }
            }
        }
    }

    fn enter(&mut self, step: PathStep<'s>) {
        self.path.push(step);
        self.pos += 1;
    }

    /// Passes over a key. Whether it could be read.
    fn key(&mut self) -> bool {
        let Ok(literal) = scan::string(self.bytes, self.pos) else { return false };
        let (end, escaped) = (literal.behind(), literal.is_escaped());
        let inside = self.src.get(self.pos + 1..end.saturating_sub(1)).unwrap_or_default();
        if let Some(step) = self.path.last_mut() {
            *step = PathStep::Key(inside, escaped);
        }
        self.pos = end;
        true
    }

    /// The end of the value that comes next, if it is known.
    fn known_end(&mut self) -> Option<usize> {
        while let [next, later @ ..] = self.known
            && next.start <= self.pos
        {
            if next.start == self.pos {
                return Some(next.end);
            }
            self.known = later;
        }
        None
    }

    /// The end of the list or object that comes next, if it is known or near. Only
    /// members of the document are looked through for it, so that no byte is looked at
    /// more than twice. What comes before a place that is asked for is JSON, and an end
    /// behind that place is not used.
    fn container_end(&mut self) -> Option<usize> {
        if let Some(end) = self.known_end() {
            return Some(end);
        }
        let near = self.bytes.get(..self.pos + NEAR).unwrap_or(self.bytes);
        let is_member = self.path.len() == 1;
        let end = is_member.then(|| skip::container_end(near, self.pos))?;
        (end < near.len()).then_some(end)
    }

    /// The end of the literal that comes next. What it holds was checked when
    /// the document was read, so only its last quote is looked for, which is
    /// what makes a pointer cheap in a document of long texts.
    fn literal_end(&self) -> Option<usize> {
        let mut end = self.pos + 1;
        loop {
            end += scan::quote(self.bytes.get(end..)?)?;
            if !self.is_escaped(end) {
                return Some(end + 1);
            }
            end += 1;
        }
    }

    /// Whether the quote at `end` belongs to the literal that comes next.
    fn is_escaped(&self, end: usize) -> bool {
        match self.bytes.get(self.pos + 1..end).unwrap_or_default() {
            before @ [.., b'\\', b'\\'] => {
                before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
            }
            [.., b'\\'] => true,
            [..] => false,
        }
    }

    fn word_end(&self) -> usize {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let ends = |byte: &u8| {
            matches!(
                byte,
                b',' | b'}' | b']' | b'{' | b'[' | b'"' | b':' | b' ' | b'\n' | b'\r' | b'\t'
            )
        };
        self.pos + rest.iter().position(ends).unwrap_or(rest.len()).max(1)
    }

    fn render(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            match step {
                PathStep::Index(index) => step_into(&index.to_string(), &mut pointer),
                PathStep::Key(inside, is_escaped) => {
                    let key = Str::literal(inside, *is_escaped, Pos::NONE);
                    step_into(&key.decode(), &mut pointer);
                }
                PathStep::Object => {}
            }
            if pointer.len() > LONGEST_POINTER {
                pointer.push_str("/…");
                break;
            }
        }
        pointer
    }
}

/// Adds a member of that name to a pointer. Keys are strangers' text and may be
/// as long as the document, so a long one is cut.
pub(crate) fn step_into(key: &str, pointer: &mut String) {
    let key = shorten(key, LONGEST_STEP);
    pointer.push('/');
    if key.contains(['~', '/']) {
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(&key);
    }
}

/// The beginning of a text that is too long to repeat.
pub(crate) fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let fits = |(index, _): &(usize, char)| *index <= limit;
    let end = text.char_indices().take_while(fits).last().map_or(0, |(index, _)| index);
    Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default()))
}

/// How far the end of a list or an object may be to be looked for.
const NEAR: usize = 4096;

/// The longest name of a member in a pointer, in bytes.
const LONGEST_STEP: usize = 256;

/// The length beyond which a pointer names no further member.
const LONGEST_POINTER: usize = 1024;
