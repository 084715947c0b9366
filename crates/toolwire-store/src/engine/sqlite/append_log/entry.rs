//! A response in the append log.
//!
//! An entry begins with the length and the checksum of what follows: its number and the
//! columns of the response. Entries are numbered without gaps, so what an earlier round
//! has left behind them is never taken for the next one.

use std::borrow::Cow;
use std::ops::Range;

use bytes::{Buf, BufMut};

use crate::engine::sqlite::new_row::NewRow;
use crate::record::Kind;

/// A response that was appended.
pub(super) struct Entry<'e> {
    pub(super) number: i64,
    pub(super) row: NewRow<'e>,
    /// The part that is cut out of its body, unless an entry before it has brought it.
    pub(super) part: Option<&'e [u8]>,
}

impl<'e> Entry<'e> {
    /// Writes an entry for a response whose items are all in its row. Returns where the part
    /// is in what was written.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Option<Range<usize>> {
        let Self { number, row, part } = self;
        let start = out.len();
        out.put_bytes(0, HEADER);
        out.put_i64_le(*number);
        // It comes first, so that its place is easy to tell.
        put_option(out, *part, put_bytes);
        let end = out.len();
        let part = part.map(|part| end - part.len() - start..end - start);
        put_row(out, row);
        let (length, checksum) = match out.get(start + HEADER..) {
            Some(content) => (content.len() as u64, crc32fast::hash(content)),
            None => (0, 0),
        };
        if let Some(mut header) = out.get_mut(start..start + HEADER) {
            header.put_u64_le(length);
            header.put_u32_le(checksum);
        }
        part
    }

    /// The entry that begins here, and how long it is. `None` if none does.
    pub(super) fn read(log: &'e [u8]) -> Option<(Self, usize)> {
        let mut header = log;
        let length = usize::try_from(header.try_get_u64_le().ok()?).ok()?;
        let checksum = header.try_get_u32_le().ok()?;
        let mut content = header.get(..length)?;
        if crc32fast::hash(content) != checksum {
            return None;
        }
        let number = take_number(&mut content)?;
        let part = take_option(&mut content, take_bytes)?;
        let row = take_row(&mut content)?;
        content.is_empty().then_some((Self { number, row, part }, HEADER + length))
    }
}

fn put_row(out: &mut Vec<u8>, row: &NewRow<'_>) {
    let NewRow {
        tenant,
        // An entry is a response that has ended, so nobody owns it and it has no events.
        kind: _,
        next: _,
        owner: _,
        lease: _,
        id,
        created,
        updated,
        expires,
        previous,
        conversation,
        status,
        model,
        body,
        internal,
        items,
        bytes,
        context,
        packed,
        shared,
        shared_at,
        output_at,
        listed,
    } = row;
    for text in [tenant, id, status, model] {
        put_bytes(out, text.as_bytes());
    }
    for text in [previous, conversation] {
        put_option(out, *text, |out, text| put_bytes(out, text.as_bytes()));
    }
    for number in [created, updated, expires, items, bytes, context] {
        out.put_i64_le(*number);
    }
    for number in [shared, shared_at, output_at] {
        put_option(out, *number, |out, number| out.put_i64_le(number));
    }
    put_bytes(out, internal);
    put_bytes(out, body);
    put_option(out, packed.as_deref(), put_bytes);
    out.put_u64_le(listed.len() as u64);
    for id in listed {
        put_bytes(out, id.as_bytes());
    }
}

fn take_row<'e>(from: &mut &'e [u8]) -> Option<NewRow<'e>> {
    let [tenant, id, status, model] = take_each(from, take_text)?;
    let [previous, conversation] = take_each(from, |from| take_option(from, take_text))?;
    let [created, updated, expires, items, bytes, context] = take_each(from, take_number)?;
    let [shared, shared_at, output_at] = take_each(from, |from| take_option(from, take_number))?;
    let internal = take_bytes(from)?;
    let body = Cow::Borrowed(take_bytes(from)?);
    let packed = take_option(from, take_bytes)?.map(Cow::Borrowed);
    let ids = from.try_get_u64_le().ok()?;
    let listed = (0..ids).map(|_| take_text(from)).collect::<Option<_>>()?;
    Some(NewRow {
        tenant,
        kind: Kind::Response.as_str(),
        id,
        created,
        updated,
        expires,
        previous,
        conversation,
        status,
        model,
        body,
        internal,
        next: 0,
        items,
        bytes,
        context,
        owner: None,
        lease: None,
        packed,
        shared,
        shared_at,
        output_at,
        listed,
    })
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.put_u64_le(bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_option<T>(out: &mut Vec<u8>, value: Option<T>, put: impl Fn(&mut Vec<u8>, T)) {
    out.put_u8(u8::from(value.is_some()));
    if let Some(value) = value {
        put(out, value);
    }
}

fn take_bytes<'e>(from: &mut &'e [u8]) -> Option<&'e [u8]> {
    let length = usize::try_from(from.try_get_u64_le().ok()?).ok()?;
    let (bytes, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(bytes)
}

fn take_text<'e>(from: &mut &'e [u8]) -> Option<&'e str> {
    str::from_utf8(take_bytes(from)?).ok()
}

fn take_number(from: &mut &[u8]) -> Option<i64> {
    from.try_get_i64_le().ok()
}

/// The outer `None` is no value at all.
#[expect(clippy::option_option, reason = "a value that is absent was written too")]
fn take_option<'e, T>(
    from: &mut &'e [u8],
    take: impl Fn(&mut &'e [u8]) -> Option<T>,
) -> Option<Option<T>> {
    match from.try_get_u8().ok()? {
        0 => Some(None),
        1 => Some(Some(take(from)?)),
        _ => None,
    }
}

fn take_each<'e, T, const N: usize>(
    from: &mut &'e [u8],
    take: impl Fn(&mut &'e [u8]) -> Option<T>,
) -> Option<[T; N]> {
    let taken = (0..N).map(|_| take(from)).collect::<Option<Vec<_>>>()?;
    taken.try_into().ok()
}

/// A length and a checksum.
const HEADER: usize = 8 + 4;

#[cfg(test)]
mod tests;
