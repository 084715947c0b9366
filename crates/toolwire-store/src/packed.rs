//! The items of a response as one value.
//!
//! They are written once, together, and read together when a conversation goes
//! on. As rows of their own they would cost more than everything else about a
//! response.
//!
//! Each item is a byte for its section, the lengths of its id, tag and body, and
//! these three.

use bytes::{Buf, BufMut, Bytes};

use crate::id::tells_response;
use crate::record::{Row, Section};

/// Writes the rows that belong to a response's input and output, in their order.
pub(crate) fn pack<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> Vec<u8> {
    let mut packed = Vec::with_capacity(size(rows.clone()));
    pack_into(rows, &mut packed);
    packed
}

/// The same, behind what there is.
pub(crate) fn pack_into<'r>(rows: impl Iterator<Item = &'r Row>, packed: &mut impl BufMut) {
    let rows = rows.filter(|row| row.section.is_packed());
    for Row { section, position: _, id, tag, body } in rows {
        packed.put_u8(section_byte(*section));
        for length in [id.len(), tag.len(), body.len()] {
            packed.put_u64_le(length as u64);
        }
        packed.put_slice(id.as_bytes());
        packed.put_slice(tag.as_bytes());
        packed.put_slice(body);
    }
}

/// How many bytes rows are when they are packed.
fn size<'r>(rows: impl Iterator<Item = &'r Row>) -> usize {
    let rows = rows.filter(|row| row.section.is_packed());
    rows.map(|row| HEADER + row.id.len() + row.tag.len() + row.body.len()).sum()
}

/// Reads what [`pack`] has written. Bodies share its memory. `None` if it is
/// something else.
pub(crate) fn unpack(mut packed: Bytes) -> Option<Vec<Row>> {
    let (mut rows, mut position, mut last) = (Vec::new(), 0, Section::Input);
    while packed.has_remaining() {
        let section = Section::from_number(i64::from(packed.try_get_u8().ok()?))?;
        let mut lengths = [0; 3];
        for length in &mut lengths {
            *length = usize::try_from(packed.try_get_u64_le().ok()?).ok()?;
        }
        let [id, tag, body] = lengths;
        if section != last {
            (position, last) = (0, section);
        }
        rows.push(Row {
            section,
            position,
            id: text(&mut packed, id)?,
            tag: text(&mut packed, tag)?,
            body: cut(&mut packed, body)?,
        });
        position += 1;
    }
    Some(rows)
}

/// The ids of packed items that do not tell themselves which response they belong
/// to, each once.
pub(crate) fn listed_ids<'r>(response: &str, rows: &'r [Row]) -> Vec<&'r str> {
    let rows = rows.iter().filter(|row| row.section.is_packed() && !row.id.is_empty());
    let is_listed = |id: &&str| !tells_response(id, response);
    let mut ids: Vec<_> = rows.map(|row| row.id.as_str()).filter(is_listed).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The last item with an id.
pub(crate) fn find(rows: Vec<Row>, id: &str) -> Option<Row> {
    rows.into_iter().rfind(|row| row.id == id)
}

fn text(packed: &mut Bytes, length: usize) -> Option<String> {
    let text = packed.get(..length)?;
    let text = str::from_utf8(text).ok()?.to_owned();
    packed.advance(length);
    Some(text)
}

fn cut(packed: &mut Bytes, length: usize) -> Option<Bytes> {
    (length <= packed.len()).then(|| packed.split_to(length))
}

fn section_byte(section: Section) -> u8 {
    u8::try_from(section.number()).unwrap_or(u8::MAX)
}

/// A section and three lengths.
const HEADER: usize = 1 + 3 * 8;

#[cfg(test)]
mod tests;
