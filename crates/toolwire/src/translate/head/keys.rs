//! The keys of one object, each of which may come once.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::wire::{ReadError, Reader, Str, What};

/// The keys so far.
#[derive(Default)]
pub(super) struct Keys<'a> {
    /// As long as there are few, comparing each with each is cheapest.
    few: Vec<Str<'a>>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Keys<'a> {
    /// Begins with another object.
    pub(super) fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }

    /// Adds the key of the member that comes next, unless it came before.
    pub(super) fn add(&mut self, key: &Str<'a>, reader: &mut Reader<'_>) -> Result<(), ReadError> {
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

/// How many keys are compared one by one.
const FEW: usize = 16;
