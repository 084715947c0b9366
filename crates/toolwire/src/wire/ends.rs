//! Where the long values of a document end.

use std::ops::Range;

use super::scan::{LiteralEnd, Visit};
use super::{envelope, ids};

/// The ends of a document's long values, as the first pass over it found them.
/// The next pass goes over such a value without looking at its bytes again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ValueEnds {
    /// How long the document is. Another document has other ends.
    length: usize,
    /// In the order in which the values begin.
    list: Vec<ValueEnd>,
    /// The containers that are being read, as places in the list.
    open: Vec<usize>,
    /// Whether a string begins like an envelope, or is like an id of toolwire's.
    has_envelope: bool,
}

/// Where one value begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueEnd {
    start: u32,
    /// The position behind the value, and whether it is a literal with a
    /// backslash.
    end: u32,
}

impl ValueEnd {
    /// The same value in a document in which it is `distance` bytes later, if its end
    /// is known.
    fn moved(self, distance: i64) -> Option<Self> {
        if self.end == 0 {
            return None;
        }
        let start = u32::try_from(i64::from(self.start) + distance).ok()?;
        let end = LiteralEnd::from_word(self.end as usize);
        let behind = usize::try_from(signed(end.behind()) + distance).ok()?;
        let end = u32::try_from(LiteralEnd::new(behind, end.is_escaped()).word()).ok()?;
        Some(Self { start, end })
    }
}

fn signed(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

impl ValueEnds {
    /// For a document of that length.
    pub(crate) fn of(length: usize) -> Self {
        Self { length, ..Self::default() }
    }

    /// The ends, if they are those of a document of that length.
    pub(super) fn list(&self, length: usize) -> &[ValueEnd] {
        if self.length == length { &self.list } else { &[] }
    }

    /// Whether a string that was passed over may be an envelope.
    pub(crate) fn has_envelope(&self) -> bool {
        self.has_envelope
    }

    /// Whether a string may be one, which is forgotten.
    pub(crate) fn take_envelope(&mut self) -> bool {
        std::mem::take(&mut self.has_envelope)
    }

    /// Adds what [`ValueEnds::take_envelope`] gave.
    pub(crate) fn note_envelope(&mut self, has_envelope: bool) {
        self.has_envelope |= has_envelope;
    }

    /// How many ends there are so far.
    pub(crate) fn mark(&self) -> usize {
        self.list.len()
    }

    /// The ends that were added since a mark.
    pub(super) fn after(&self, mark: usize) -> &[ValueEnd] {
        self.list.get(mark..).unwrap_or_default()
    }

    /// The ends that were added since a mark, for a part of the document.
    pub(crate) fn since(&self, mark: usize, start: usize, length: usize) -> Self {
        let mut part = Self { has_envelope: self.has_envelope, ..Self::of(length) };
        part.extend(self.after(mark), -signed(start));
        part
    }

    /// Adds the ends of a part that begins at `start`.
    pub(crate) fn append(&mut self, part: &Self, start: usize) {
        self.extend(&part.list, signed(start));
        self.has_envelope |= part.has_envelope;
    }

    /// The same with the ends of a part that begins at `start`, behind the end of the part.
    pub(crate) fn with_part(&self, part: &Self, start: usize) -> Self {
        let place = self.list.partition_point(|end| end.start as usize <= start);
        let (before, behind) = self.list.split_at(place);
        let mut whole = Self { list: before.to_vec(), ..Self::of(self.length) };
        whole.has_envelope = self.has_envelope;
        whole.append(part, start);
        whole.list.extend(behind);
        whole
    }

    /// Adds a list or an object that begins at `start`. Its end is added behind what is in it.
    pub(crate) fn open_container(&mut self, start: usize) {
        self.open.push(self.list.len());
        if !self.is_full() {
            self.add(start, 0);
        }
    }

    /// Adds the end of the container that was opened last, unless it is a short one.
    pub(crate) fn close_container(&mut self, end: usize) {
        let Some(place) = self.open.pop() else { return };
        let Some(container) = self.list.get_mut(place) else { return };
        if end - (container.start as usize) < LONG {
            self.list.truncate(place);
        } else if let Ok(end) = u32::try_from(LiteralEnd::new(end, false).word()) {
            container.end = end;
        }
    }

    /// Where the long values of a document of that length are, in the order in which they
    /// begin.
    pub(crate) fn ranges(&self, length: usize) -> Vec<Range<usize>> {
        let known = self.list(length).iter().filter(|end| end.end > 0);
        let behind = |end: &ValueEnd| LiteralEnd::from_word(end.end as usize).behind();
        known.map(|end| end.start as usize..behind(end)).collect()
    }

    fn extend(&mut self, ends: &[ValueEnd], distance: i64) {
        let room = MAX_ENDS.saturating_sub(self.list.len());
        self.list.extend(ends.iter().take(room).filter_map(|end| end.moved(distance)));
    }

    fn add(&mut self, start: usize, end: usize) {
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
            self.list.push(ValueEnd { start, end });
        }
    }

    fn is_full(&self) -> bool {
        self.list.len() >= MAX_ENDS
    }
}

impl Visit for ValueEnds {
    fn string(&mut self, document: &[u8], start: usize, end: LiteralEnd) {
        let text = document.get(start + 1..end.behind() - 1).unwrap_or_default();
        self.has_envelope |=
            text.starts_with(envelope::PREFIX.as_bytes()) || ids::may_be_own_reasoning(text);
        if end.behind() - start >= LONG && !self.is_full() {
            self.add(start, end.word());
        }
    }

    fn open(&mut self, start: usize) {
        self.open_container(start);
    }

    fn close(&mut self, end: usize) {
        self.close_container(end);
    }
}

/// Finds the end of the value that begins at `pos`, if it is known. What ends
/// before is left behind.
pub(super) fn find(ends: &mut &[ValueEnd], pos: usize) -> Option<LiteralEnd> {
    while let [next, later @ ..] = *ends {
        let start = next.start as usize;
        if start > pos {
            return None;
        }
        if start == pos {
            return (next.end > 0).then(|| LiteralEnd::from_word(next.end as usize));
        }
        *ends = later;
    }
    None
}

/// How many bytes are too many to be looked at twice.
const LONG: usize = 32;

/// How many ends are kept, so that a document of many small values costs no more
/// than half a megabyte.
const MAX_ENDS: usize = 64 * 1024;
