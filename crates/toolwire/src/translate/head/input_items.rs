//! Where the items are that a client adds to the conversation.

use std::ops::Range;

/// The items, as the scan of a request found them. Whoever keeps them cuts them out of the
/// body, and does not have to read it for that.
#[derive(Clone, Debug, Default)]
pub(super) struct InputItems {
    /// How long the body is, once the whole list is known. Another body has other items.
    length: Option<usize>,
    list: Vec<InputItem>,
    /// The item that is being read, or was read last.
    current: InputItem,
    is_incomplete: bool,
}

/// One item. There may be many, and bodies are shorter than 4 GB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InputItem {
    start: u32,
    end: u32,
    /// Whether it has an id.
    pub(crate) has_id: bool,
}

impl InputItem {
    /// Where it is in the body.
    pub(crate) fn place(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl InputItems {
    /// Begins with the list, in a body of that length. Long bodies have long items, and a list
    /// that grows is copied.
    pub(super) fn begin(&mut self, length: usize) {
        self.list.reserve_exact((length / LIKELY_SIZE + FEW_ITEMS).min(MOST_ITEMS));
    }

    /// Begins with what may be an item. Places in a body that is too long for them are not
    /// used.
    #[inline(always)]
    pub(super) fn begin_item(&mut self, start: usize) {
        self.current = InputItem { start: start as u32, end: 0, has_id: false };
    }

    /// Says that what was begun has an id.
    pub(super) fn note_id(&mut self) {
        self.current.has_id = true;
    }

    /// Adds what was begun, which ends here.
    #[inline(always)]
    pub(super) fn end_item(&mut self, end: usize) {
        if self.list.len() < MOST_ITEMS {
            self.list.push(InputItem { end: end as u32, ..self.current });
        } else {
            self.is_incomplete = true;
        }
    }

    /// Says that the list has ended, in a body of that length.
    pub(super) fn end(&mut self, length: usize) {
        let is_known = !self.is_incomplete && u32::try_from(length).is_ok();
        self.length = Some(length).filter(|_| is_known);
    }

    /// The items of a body of that length, if all of them are known.
    pub(super) fn list(&self, length: usize) -> Option<&[InputItem]> {
        (self.length == Some(length)).then_some(&self.list)
    }
}

/// How long an item usually is at least, in a long body.
const LIKELY_SIZE: usize = 1024;

/// How many items there is room for in any case.
const FEW_ITEMS: usize = 4;

/// How many items are known, so that a body of many small ones costs no more than a megabyte.
const MOST_ITEMS: usize = 64 * 1024;
