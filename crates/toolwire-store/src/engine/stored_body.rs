//! The body of a record without what is kept elsewhere: a part that other bodies have too,
//! and the output of a response, whose items are kept on their own.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

use super::shared_parts::Cut;
use crate::record::{FullRecord, Row, Section, count};

/// What a database gets of a body.
pub(super) struct StoredBody<'b> {
    /// What is left, in order.
    pub(super) pieces: [&'b [u8]; 3],
    /// The key of the part that other bodies have too.
    pub(super) shared: Option<i64>,
    /// Where that part goes, in a body that has no output.
    pub(super) shared_at: Option<i64>,
    /// Where the output goes, in a body that has everything else.
    pub(super) output_at: Option<i64>,
}

impl<'b> StoredBody<'b> {
    pub(super) fn of(full: &'b FullRecord, cut: Option<&Cut>) -> Self {
        let FullRecord { record, rows } = full;
        let body = &record.body[..];
        let shared = cut.map(Cut::place);
        let is_apart = |output: &Range<usize>| {
            shared.as_ref().is_none_or(|part| output.end <= part.start || part.end <= output.start)
        };
        // What may still change is kept whole, because another body takes its place.
        let output = if record.status.is_terminal() {
            output_place(&record.body, rows).filter(is_apart)
        } else {
            None
        };
        let before = |part: &Range<usize>| {
            let output = output.as_ref().filter(|output| output.end <= part.start);
            part.start - output.map_or(0, ExactSizeIterator::len)
        };
        let mut gaps =
            [output.clone(), shared.clone()].map(|gap| gap.unwrap_or(body.len()..body.len()));
        gaps.sort_unstable_by_key(|gap| gap.start);
        let [first, second] = gaps;
        let piece = |range: Range<usize>| body.get(range).unwrap_or_default();
        Self {
            pieces: [
                piece(0..first.start),
                piece(first.end..second.start),
                piece(second.end..body.len()),
            ],
            shared: cut.map(|cut| cut.key),
            shared_at: shared.as_ref().map(|part| count(before(part))),
            output_at: output.map(|output| count(output.start)),
        }
    }

    /// What is left as one value.
    pub(super) fn to_bytes(&self) -> Cow<'b, [u8]> {
        match self.pieces {
            [only, [], []] => Cow::Borrowed(only),
            pieces => Cow::Owned(pieces.concat()),
        }
    }
}

/// Where the output is in a body, if the items are just what is there, with a comma between
/// them. An item that only looks the same does not count, because nobody compares bytes here.
fn output_place(body: &Bytes, rows: &[Row]) -> Option<Range<usize>> {
    let mut items = rows.iter().filter(|row| row.section == Section::Output);
    let mut place = place_in(body, &items.next()?.body)?;
    for item in items {
        let next = place_in(body, &item.body)?;
        if next.start != place.end + 1 || body.get(place.end) != Some(&b',') {
            return None;
        }
        place.end = next.end;
    }
    Some(place)
}

/// Where a part is that shares the memory of the whole.
pub(super) fn place_in(whole: &Bytes, part: &Bytes) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (!part.is_empty() && end <= whole.len()).then_some(start..end)
}

/// Puts the output among these items back into a body, at its place. `None` if the body
/// has no such place.
pub(super) fn with_output(body: &[u8], at: i64, items: &[Row]) -> Option<Bytes> {
    let output = items.iter().filter(|row| row.section == Section::Output);
    let output: Vec<&[u8]> = output.map(|row| row.body.as_ref()).collect();
    let (before, behind) = body.split_at_checked(usize::try_from(at).ok()?)?;
    Some([before, &output.join(&b','), behind].concat().into())
}

#[cfg(test)]
mod tests;
