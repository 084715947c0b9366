//! Writing JSON into the caller's buffer.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::scan::{self, BLOCK};

/// Something that can be written as a JSON value.
pub trait Write {
    /// Appends the value to `out`.
    fn write(&self, out: &mut Vec<u8>);
}

/// The JSON that `write` writes, as text.
pub(crate) fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    // JSON is only written from texts, so it is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// An object being written. It is closed when dropped.
pub struct Object<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
    braces: bool,
}

impl<'o> Object<'o> {
    /// Opens an object.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true, braces: true }
    }

    /// Members without the braces around them, to be put into an object later
    /// by [`Object::members`].
    pub fn members_only(out: &'o mut Vec<u8>) -> Self {
        Self { out, empty: true, braces: false }
    }

    /// Members that follow others in an object that has been begun by hand.
    pub(crate) fn more_members(out: &'o mut Vec<u8>) -> Self {
        Self { out, empty: false, braces: false }
    }

    /// Writes members that were written before.
    pub fn members(&mut self, members: &[u8]) {
        if !members.is_empty() {
            self.separate();
            self.out.extend_from_slice(members);
        }
    }

    /// Writes members that were written before, in pieces that follow each other. The first
    /// is not empty. Returns where they begin.
    pub(crate) fn members_in_parts(&mut self, parts: [&[u8]; 3]) -> usize {
        self.separate();
        let start = self.out.len();
        self.out.reserve(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| self.out.extend_from_slice(part));
        start
    }

    /// Writes a key and gives the buffer for its value.
    pub fn key(&mut self, key: &str) -> &mut Vec<u8> {
        self.separate();
        // Keys in the sources are plain words, so they need no escaping.
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// Writes a key that came from outside and gives the buffer for its value.
    pub fn foreign_key(&mut self, key: &super::Str<'_>) -> &mut Vec<u8> {
        self.separate();
        key.write(self.out);
        self.out.push(b':');
        self.out
    }

    /// Writes a member.
    pub fn put(&mut self, key: &str, value: &(impl Write + ?Sized)) {
        value.write(self.key(key));
    }

    /// Writes a member if there is a value.
    pub fn maybe(&mut self, key: &str, value: Option<&(impl Write + ?Sized)>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Opens an object as a member.
    pub fn object(&mut self, key: &str) -> Object<'_> {
        Object::new(self.key(key))
    }

    /// Opens an array as a member.
    pub fn array(&mut self, key: &str) -> Array<'_> {
        Array::new(self.key(key))
    }

    /// Writes an array as a member, unless `write` says afterwards that there is
    /// nothing in it.
    pub(crate) fn array_if_any(&mut self, key: &str, write: impl FnOnce(&mut Array<'_>) -> bool) {
        let (length, empty) = (self.out.len(), self.empty);
        let mut array = self.array(key);
        if !write(&mut array) {
            drop(array);
            self.out.truncate(length);
            self.empty = empty;
        }
    }

    /// Replays fields that the model has no room for.
    pub fn extra(&mut self, fields: &[super::Extra<'_>]) {
        for field in fields {
            field.value.write(self.foreign_key(&field.key));
        }
    }

    /// Replays fields beside members of the names in `written`, of which an
    /// object can have only one each. A field whose name is taken gets another.
    pub(crate) fn extra_beside(&mut self, fields: &[super::Extra<'_>], written: &[&str]) {
        let mut taken: HashSet<Cow<'_, str>> = written.iter().map(|name| (*name).into()).collect();
        for field in fields {
            let mut name = field.key.decode();
            while taken.contains(&name) {
                name = format!("upstream_{name}").into();
            }
            field.value.write(self.foreign_key(&super::Str::plain(&*name)));
            taken.insert(name);
        }
    }

    /// Whether nothing has been written yet.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.empty, false) {
            self.out.push(b',');
        }
    }
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        if self.braces {
            self.out.push(b'}');
        }
    }
}

/// An array being written. It is closed when dropped.
pub struct Array<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
    brackets: bool,
}

impl<'o> Array<'o> {
    /// Opens an array.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, empty: true, brackets: true }
    }

    /// Elements without the brackets around them, for one that stands alone.
    pub fn elements_only(out: &'o mut Vec<u8>) -> Self {
        Self { out, empty: true, brackets: false }
    }

    /// Gives the buffer for the next element.
    pub fn item(&mut self) -> &mut Vec<u8> {
        if !std::mem::replace(&mut self.empty, false) {
            self.out.push(b',');
        }
        self.out
    }

    /// Writes the next element.
    pub fn push(&mut self, value: &(impl Write + ?Sized)) {
        value.write(self.item());
    }

    /// Writes elements that were written before.
    pub(crate) fn elements(&mut self, elements: &[u8]) {
        if !elements.is_empty() {
            self.item().extend_from_slice(elements);
        }
    }

    /// Lets `write` write the next element, or nothing. Returns where it is in the buffer.
    pub(crate) fn place_of(&mut self, write: impl FnOnce(&mut Self)) -> Option<Range<usize>> {
        let start = self.out.len() + usize::from(!self.empty);
        write(self);
        (start < self.out.len()).then_some(start..self.out.len())
    }

    /// Opens an object as the next element.
    pub fn object(&mut self) -> Object<'_> {
        Object::new(self.item())
    }

    /// Whether nothing has been written yet.
    pub fn is_empty(&self) -> bool {
        self.empty
    }
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        if self.brackets {
            self.out.push(b']');
        }
    }
}

/// Writes text as a string literal.
pub fn write_str(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    write_escaped(text, out);
    out.push(b'"');
}

/// Writes text as the inside of a string literal, with the fewest escapes.
pub fn write_escaped(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len());
    // A block is copied before it is known how much of it needs no escape, because a
    // copy of so many bytes is one instruction.
    let mut plain_blocks = 0;
    while let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() {
        out.extend_from_slice(block);
        let at = scan::special(*block).to_bitmask().trailing_zeros() as usize;
        let Some(special) = block.get(at) else {
            rest = tail;
            plain_blocks += 1;
            if plain_blocks == 4 {
                plain_blocks = 0;
                rest = write_plain(rest, out);
            }
            continue;
        };
        out.truncate(out.len() - (BLOCK - at));
        write_escape(*special, out);
        rest = rest.get(at + 1..).unwrap_or_default();
        plain_blocks = 0;
    }
    loop {
        rest = write_plain(rest, out);
        let [special, after @ ..] = rest else { return };
        write_escape(*special, out);
        rest = after;
    }
}

/// Writes the bytes that need no escape, and returns what follows them.
fn write_plain<'t>(text: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    let rest = scan::after_plain(text);
    out.extend_from_slice(text.get(..text.len() - rest.len()).unwrap_or_default());
    rest
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        control => {
            let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
            out.extend_from_slice(b"\\u00");
            out.push(digit(control >> 4));
            return out.push(digit(control & 0xf));
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

impl Write for str {
    fn write(&self, out: &mut Vec<u8>) {
        write_str(self, out);
    }
}

impl Write for String {
    fn write(&self, out: &mut Vec<u8>) {
        write_str(self, out);
    }
}

impl Write for Cow<'_, str> {
    fn write(&self, out: &mut Vec<u8>) {
        write_str(self, out);
    }
}

impl<T: Write + ?Sized> Write for &T {
    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }
}

impl Write for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl Write for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        // The longest u64 has twenty digits.
        let mut digits = [b'0'; 20];
        let mut rest = *self;
        let mut used = 0;
        for slot in digits.iter_mut().rev() {
            // The remainder of a division by ten is one digit.
            *slot = b'0' + (rest % 10) as u8;
            rest /= 10;
            used += 1;
            if rest == 0 {
                break;
            }
        }
        out.extend_from_slice(digits.get(digits.len() - used..).unwrap_or_default());
    }
}

/// The absence of a value where the protocol wants the member to be there.
impl Write for () {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"null");
    }
}

impl<T: Write> Write for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(out),
            None => ().write(out),
        }
    }
}

impl<T: Write> Write for [T] {
    fn write(&self, out: &mut Vec<u8>) {
        let mut array = Array::new(out);
        for value in self {
            array.push(value);
        }
    }
}

impl<T: Write> Write for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_slice().write(out);
    }
}
