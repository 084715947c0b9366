//! The names of properties that Messages refuses.

use super::walk::{Visitor, walk};
use crate::wire::{Raw, ReadError, Reader, Str};

/// The first name of a property, at any depth, that Messages refuses, with its
/// position in the document: it takes letters, digits, `_`, `.` and `-`, up to
/// 64 of them.
pub fn property_names<'s>(schema: &'s Raw<'_>) -> Option<Str<'s>> {
    let mut search = Search { found: None };
    // A schema that cannot be read is reported where it is read.
    let walked = walk(&mut schema.reader(), &mut search);
    walked.ok().and(search.found)
}

struct Search<'s> {
    found: Option<Str<'s>>,
}

impl<'s> Visitor<'s> for Search<'s> {
    fn keyword(&mut self, _key: &Str<'s>, reader: &mut Reader<'s>) -> Result<(), ReadError> {
        reader.skip()
    }

    fn name(&mut self, of: &str, name: &Str<'s>) {
        if of == "properties" && self.found.is_none() && !accepts(&name.decode()) {
            self.found = Some(name.clone());
        }
    }
}

fn accepts(name: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(word)
}
