//! The keys of one object, each of which may come once.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::wire::{ReadError, Reader, Str, What};

/// The keys so far.
#[derive(Default)]
pub(super) struct Keys<'a> {
    /// The marks of all of them. A key whose mark is not among them is new.
    marks: u64,
    /// As long as there are few, comparing each with each is cheapest.
    few: Vec<Str<'a>>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Keys<'a> {
    /// Begins with another object.
    pub(super) fn clear(&mut self) {
        self.marks = 0;
        self.few.clear();
        self.many.clear();
    }

    /// Adds the key of the member that comes next, unless it came before.
    #[inline]
    pub(super) fn add(&mut self, key: &Str<'a>, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        let mark = mark(key);
        if self.marks & mark == 0 && self.few.len() < FEW && self.many.is_empty() {
            self.marks |= mark;
            self.few.push(key.clone());
            return Ok(());
        }
        self.marks |= mark;
        self.add_compared(key, reader)
    }

    fn add_compared(&mut self, key: &Str<'a>, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        let is_new = if self.many.is_empty() {
            let is_new = !self.few.iter().any(|known| known == key);
            self.few.push(key.clone());
            if self.few.len() > FEW {
                self.many.extend(self.few.drain(..).map(Str::into_decoded));
            }
            is_new
        } else {
            self.many.insert(key.clone().into_decoded())
        };
        if is_new {
            return Ok(());
        }
        Err(reader.error(What::Duplicate(key.decode().into_owned())))
    }
}

/// One bit of 64, the same for keys that are the same. A key with escapes may be any.
fn mark(key: &Str<'_>) -> u64 {
    if key.is_escaped() {
        return u64::MAX;
    }
    let bytes = key.spelled().as_bytes();
    let [first, last] = [bytes.first(), bytes.last()].map(|byte| byte.map_or(0, |byte| *byte));
    1_u64.rotate_left(bytes.len() as u32 ^ u32::from(first) << 1 ^ u32::from(last) << 3)
}

/// How many keys are compared one by one.
const FEW: usize = 16;
