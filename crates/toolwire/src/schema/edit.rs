//! Changes to a text that leave everything around them as it was.

use std::ops::Range;

use crate::wire::Raw;

/// Changes to one text, collected in any order.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// Puts `text` in the place of a range. An empty range is an insertion.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.list.push((range, text.into()));
    }

    /// Takes the marked members out of an object, with the commas between.
    pub(super) fn remove(&mut self, members: &[Span]) {
        for (index, span) in members.iter().enumerate().filter(|(_, span)| span.removed) {
            let next = members.get(index + 1);
            match next {
                Some(next) => self.replace(span.start..next.start, ""),
                // The last member goes with the comma before it, and with the
                // members before that which go too.
                None => {
                    let kept = members.iter().rev().find(|span| !span.removed);
                    let start = kept.map_or(span.start, |kept| kept.end);
                    self.replace(start..span.end, "");
                }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The text with the changes made. Of two changes to the same bytes the
    /// one that begins first, or is longer, counts.
    pub(crate) fn apply(mut self, text: &str) -> String {
        self.sort();
        self.splice(text, 0..text.len())
    }

    /// A range of the text with the changes inside it made. The changes must
    /// be in order.
    pub(super) fn splice(&self, text: &str, range: Range<usize>) -> String {
        let first = self.list.partition_point(|(at, _)| at.start < range.start);
        let mut out = String::with_capacity(range.len());
        let mut done = range.start;
        for (at, new) in self.list.get(first..).unwrap_or_default() {
            if at.end > range.end {
                break;
            }
            if at.start < done {
                continue;
            }
            out.push_str(text.get(done..at.start).unwrap_or_default());
            out.push_str(new);
            done = at.end;
        }
        out.push_str(text.get(done..range.end).unwrap_or_default());
        out
    }

    /// Puts the changes in order, for [`Edits::splice`].
    pub(super) fn sort(&mut self) {
        self.list.sort_by(|(a, _), (b, _)| a.start.cmp(&b.start).then(b.end.cmp(&a.end)));
    }

    /// The value with the changes made, or the value itself if there are none.
    pub(super) fn rewrite<'s>(self, value: &'s Raw<'_>) -> Raw<'s> {
        if self.is_empty() {
            return value.borrowed();
        }
        Raw::made(self.apply(value.text())).at(value.pos())
    }
}

/// A member of an object, from its key to the end of its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) removed: bool,
}
