//! Blocks being written, which become a string if they are one bare text.

use super::content_out::Wrote;

/// Blocks that may turn out to be one bare text.
#[derive(Default)]
pub(super) struct Blocks {
    bytes: Vec<u8>,
    pub(super) count: usize,
    bare: bool,
}

impl Blocks {
    /// No blocks yet, in a buffer that was used before.
    pub(super) fn reusing(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Self { bytes, count: 0, bare: false }
    }

    /// Gives the buffer back.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote) {
        let (count, bare) = (&mut self.count, &mut self.bare);
        add_block(&mut self.bytes, count, bare, write);
    }

    /// Puts the blocks behind others.
    pub(super) fn append(&self, out: &mut Vec<u8>) -> Wrote {
        out.extend_from_slice(&self.bytes);
        if self.count == 1 && self.bare { Wrote::BareText } else { Wrote::Block }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if let Some(literal) = lone_text(&self.bytes, self.count, self.bare) {
            out.extend_from_slice(literal);
            return;
        }
        self.write_list(out);
    }

    /// Writes the blocks as a list, whatever they are.
    pub(super) fn write_list(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        out.extend_from_slice(&self.bytes);
        out.push(b']');
    }
}

pub(super) fn add_block(
    bytes: &mut Vec<u8>,
    count: &mut usize,
    bare: &mut bool,
    write: impl FnOnce(&mut Vec<u8>) -> Wrote,
) {
    let mark = bytes.len();
    if *count > 0 {
        bytes.push(b',');
    }
    match write(bytes) {
        Wrote::Nothing => bytes.truncate(mark),
        wrote @ (Wrote::BareText | Wrote::Block) => {
            *bare = *count == 0 && wrote == Wrote::BareText;
            *count += 1;
        }
    }
}

/// The literal of the only block, if it is a text with nothing attached.
pub(super) fn lone_text(bytes: &[u8], count: usize, bare: bool) -> Option<&[u8]> {
    if count != 1 || !bare {
        return None;
    }
    bytes.strip_prefix(BARE_TEXT)?.strip_suffix(b"}")
}

pub(super) const BARE_TEXT: &[u8] = b"{\"type\":\"text\",\"text\":";
