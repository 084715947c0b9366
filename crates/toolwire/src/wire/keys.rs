//! The keys of one object, each of which may come once.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{ReadError, Reader, Str, What};

/// The keys so far.
#[derive(Default)]
pub(crate) struct Keys<'a> {
    /// The marks of all of them. A key whose mark is not among them is new.
    marks: u64,
    /// As long as there are few, and none has escapes, comparing each with each is cheapest.
    few: Vec<&'a str>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Keys<'a> {
    /// Begins with another object.
    pub(crate) fn clear(&mut self) {
        self.marks = 0;
        self.few.clear();
        self.many.clear();
    }

    /// Adds the key of the member that comes next, unless it came before.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: &Str<'a>, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        let mark = key.mark();
        if self.marks & mark == 0
            && self.few.len() < FEW
            && let Some(text) = key.in_source()
        {
            self.marks |= mark;
            self.few.push(text);
            return Ok(());
        }
        self.add_compared(key, reader)
    }

    /// Whether there is such a key.
    #[inline]
    pub(crate) fn has(&self, name: &str) -> bool {
        self.marks & Str::plain(name).mark() != 0
            && (self.few.contains(&name) || self.many.contains(name))
    }

    fn add_compared(&mut self, key: &Str<'a>, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        let is_new = match key.in_source() {
            Some(text) if self.many.is_empty() && self.few.len() < FEW => {
                let is_new = !self.few.contains(&text);
                self.few.push(text);
                is_new
            }
            Some(_) | None => {
                self.many.extend(self.few.drain(..).map(Cow::Borrowed));
                // From now on, every key is looked up.
                self.marks = u64::MAX;
                self.many.insert(key.clone().into_decoded())
            }
        };
        if is_new {
            return Ok(());
        }
        Err(reader.error(What::Duplicate(key.decode().into_owned())))
    }
}

/// How many keys are compared one by one. A response of the Responses API has about 35.
const FEW: usize = 64;
