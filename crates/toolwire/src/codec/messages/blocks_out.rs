//! A list of content blocks, which becomes a string if it is one bare text.

/// What was written for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenBlock {
    /// Nothing: the item cannot cross or is empty.
    Nothing,
    /// A text block with nothing attached.
    BareText,
    /// Any other block.
    Block,
}

/// Blocks in a buffer of their own.
#[derive(Default)]
pub(super) struct BlockWriter {
    bytes: Vec<u8>,
    state: BlockWriterState,
}

/// How many blocks have been written, and whether they are one bare text.
#[derive(Clone, Copy, Default)]
pub(super) struct BlockWriterState {
    pub(super) count: usize,
    is_bare_text: bool,
}

impl BlockWriter {
    /// An empty list in a buffer that was used before.
    pub(super) fn reusing(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Self { bytes, state: BlockWriterState::default() }
    }

    /// Returns the buffer.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state.count == 0
    }

    pub(super) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> WrittenBlock) {
        self.state.add(&mut self.bytes, write);
    }

    /// Appends the blocks to others.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) -> WrittenBlock {
        out.extend_from_slice(&self.bytes);
        if self.state.is_bare_text { WrittenBlock::BareText } else { WrittenBlock::Block }
    }

    /// Writes the blocks as a string if they are one bare text, otherwise as a
    /// list.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self.state.lone_text(&self.bytes) {
            Some(literal) => out.extend_from_slice(literal),
            None => self.write_list(out),
        }
    }

    /// Writes the blocks as a list, whatever they are.
    pub(super) fn write_list(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        out.extend_from_slice(&self.bytes);
        out.push(b']');
    }
}

impl BlockWriterState {
    /// Adds the block that `write` writes, if any, with its comma.
    pub(super) fn add(
        &mut self,
        bytes: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>) -> WrittenBlock,
    ) {
        let start = bytes.len();
        if self.count > 0 {
            bytes.push(b',');
        }
        match write(bytes) {
            WrittenBlock::Nothing => bytes.truncate(start),
            written @ (WrittenBlock::BareText | WrittenBlock::Block) => {
                self.is_bare_text = self.count == 0 && written == WrittenBlock::BareText;
                self.count += 1;
            }
        }
    }

    /// The literal of the only block, if it is a text with nothing attached.
    /// `bytes` are the blocks.
    pub(super) fn lone_text(self, bytes: &[u8]) -> Option<&[u8]> {
        if !self.is_bare_text {
            return None;
        }
        bytes.strip_prefix(BARE_TEXT)?.strip_suffix(b"}")
    }
}

/// How a bare text block begins.
pub(super) const BARE_TEXT: &[u8] = b"{\"type\":\"text\",\"text\":";
