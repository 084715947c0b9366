//! The names of properties that Messages refuses.

use super::walk::{Visitor, walk};
use crate::wire::scan::literal_end;
use crate::wire::{Raw, ReadError, Reader, Str};

/// The first name of a property, at any depth, that Messages refuses, with its
/// position in the document: it takes letters, digits, `_`, `.` and `-`, up to
/// 64 of them.
pub(crate) fn property_names<'s>(schema: &'s Raw<'_>) -> Option<Str<'s>> {
    if !has_odd_key(schema.text().as_bytes()) {
        return None;
    }
    let mut search = Search { found: None };
    // A schema that cannot be read is reported where it is read.
    let walked = walk(&mut schema.reader(), &mut search);
    walked.ok().and(search.found)
}

/// Whether any key of any object is one that Messages would refuse as the name
/// of a property. Nearly no schema has one, and to tell properties from
/// keywords takes a walk that costs more than the rest of the translation.
fn has_odd_key(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        if *byte != b'"' {
            continue;
        }
        let start = at;
        at = literal_end(text, at);
        // Values are mostly texts, and keys are mostly words.
        let after = text.get(at..).unwrap_or_default();
        let is_key = match after {
            [b':', ..] => true,
            [b',' | b'}' | b']', ..] => false,
            _spaces => after.trim_ascii_start().first() == Some(&b':'),
        };
        let inside = text.get(start..at - 1).unwrap_or_default();
        if is_key && !((1..=64).contains(&inside.len()) && inside.iter().all(|b| is_word(*b))) {
            return true;
        }
    }
    false
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
    (1..=64).contains(&name.len()) && name.bytes().all(is_word)
}

fn is_word(byte: u8) -> bool {
    WORD.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Letters, digits, `_`, `.` and `-`, as a table: schemas are mostly words.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        let known = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        #[expect(clippy::indexing_slicing, reason = "checked when compiled")]
        {
            table[byte as usize] = known;
        }
        byte += 1;
    }
    table
};
