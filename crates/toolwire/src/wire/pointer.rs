//! From a byte offset of the input to the JSON Pointer a user can read.

use std::ops::Range;

use super::Pos;
use super::scan;

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

/// Like [`pointers`], with string literals of the input that need not be looked
/// through, in order: most of a document is text that somebody has just read.
pub(crate) fn pointers_past(src: &str, wanted: &[Pos], known: &[Range<usize>]) -> Vec<String> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&index| wanted.get(index).copied());
    let mut walk = Walk { bytes: src.as_bytes(), src, pos: 0, path: Vec::new(), known };
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
    /// The literals ahead whose ends are known.
    known: &'s [Range<usize>],
}

enum PathStep<'s> {
    /// In an array, at this element.
    Index(usize),
    /// In an object, before its first key.
    Object,
    /// In an object, at the member of this key (the inside of its literal).
    Key(&'s str),
}

impl<'s> Walk<'s> {
    /// Walks until the value that holds `offset` is the innermost of the path.
    fn to(&mut self, offset: usize) {
        while self.pos <= offset {
            self.pos = scan::whitespace(self.bytes, self.pos);
            match self.bytes.get(self.pos) {
                Some(b'{') if self.pos < offset => self.enter(PathStep::Object),
                Some(b'[') if self.pos < offset => self.enter(PathStep::Index(0)),
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
                Some(b'"') => match self.known_end().or_else(|| self.literal_end()) {
                    Some(end) if end <= offset => self.pos = end,
                    Some(_) | None => return,
                },
                Some(b'{' | b'}' | b'[' | b']') | None => return,
                // A number, a word, or something that is not JSON at all.
                Some(_) => {
                    let end = self.word_end();
                    if end > offset {
                        return;
                    }
                    self.pos = end;
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
        let Ok((end, _)) = scan::string(self.bytes, self.pos) else { return false };
        let inside = self.src.get(self.pos + 1..end.saturating_sub(1)).unwrap_or_default();
        if let Some(step) = self.path.last_mut() {
            *step = PathStep::Key(inside);
        }
        self.pos = end;
        true
    }

    /// The end of the literal that comes next, if it is known.
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
                PathStep::Index(index) => {
                    pointer.push('/');
                    pointer.push_str(&index.to_string());
                }
                PathStep::Key(key) => {
                    pointer.push('/');
                    let literal = super::Str::literal(key, key.contains('\\'), Pos::NONE);
                    let key = literal.decode();
                    if key.contains(['~', '/']) {
                        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    } else {
                        pointer.push_str(&key);
                    }
                }
                PathStep::Object => {}
            }
        }
        pointer
    }
}
