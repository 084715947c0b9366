//! The events of a stream as bytes.

use crate::wire::{Object, Write};

/// An event about the message, up to its members.
pub(super) const MESSAGE_START: &[u8] = b"event: message_start\ndata: {\"type\":\"message_start\"";
pub(super) const MESSAGE_DELTA: &[u8] = b"event: message_delta\ndata: {\"type\":\"message_delta\"";
pub(super) const MESSAGE_STOP: &[u8] = b"event: message_stop\ndata: {\"type\":\"message_stop\"";
/// An event about a block, up to the index of the block.
const BLOCK_START: &[u8] =
    b"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":";
const BLOCK_DELTA: &[u8] =
    b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":";
const BLOCK_STOP: &[u8] =
    b"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":";

/// Writes an event about the message.
pub(super) fn write_message_event(
    head: &[u8],
    out: &mut Vec<u8>,
    members: impl FnOnce(&mut Object<'_>),
) {
    out.extend_from_slice(head);
    let start = out.len();
    members(&mut Object::more_members(out));
    join_lines(out, start);
    out.extend_from_slice(b"}\n\n");
}

/// Which deltas a block mostly has.
#[derive(Clone, Copy, Debug)]
pub(super) enum BlockDeltas {
    Text,
    Thinking,
    Input,
}

/// Writes the events of one block after the other, with indexes from 0.
#[derive(Debug, Default)]
pub(super) struct BlockEvents {
    index: u64,
    is_open: bool,
    /// A delta of the open block, up to where its text begins.
    delta_prefix: Vec<u8>,
}

impl BlockEvents {
    /// Whether a block is open.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Opens a block. `block` writes the object that it begins as.
    pub(super) fn open(
        &mut self,
        deltas: BlockDeltas,
        out: &mut Vec<u8>,
        block: impl FnOnce(&mut Vec<u8>),
    ) {
        self.is_open = true;
        out.extend_from_slice(BLOCK_START);
        self.index.write(out);
        out.extend_from_slice(b",\"content_block\":");
        let start = out.len();
        block(out);
        join_lines(out, start);
        out.extend_from_slice(b"}\n\n");
        let delta: &[u8] = match deltas {
            BlockDeltas::Text => b",\"delta\":{\"type\":\"text_delta\",\"text\":\"",
            BlockDeltas::Thinking => b",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"",
            BlockDeltas::Input => b",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"",
        };
        self.delta_prefix.clear();
        self.delta_prefix.extend_from_slice(BLOCK_DELTA);
        self.index.write(&mut self.delta_prefix);
        self.delta_prefix.extend_from_slice(delta);
    }

    /// Writes a delta. `inside` writes the inside of its literal.
    pub(super) fn delta(&self, out: &mut Vec<u8>, inside: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.delta_prefix);
        inside(out);
        out.extend_from_slice(b"\"}}\n\n");
    }

    /// Writes a delta of a kind that is rare.
    pub(super) fn other_delta(&self, kind: &str, key: &str, value: &dyn Write, out: &mut Vec<u8>) {
        out.extend_from_slice(BLOCK_DELTA);
        self.index.write(out);
        out.extend_from_slice(b",\"delta\":");
        let start = out.len();
        let mut delta = Object::new(out);
        delta.put("type", kind);
        delta.put(key, value);
        drop(delta);
        join_lines(out, start);
        out.extend_from_slice(b"}\n\n");
    }

    /// Closes the open block.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        self.is_open = false;
        out.extend_from_slice(BLOCK_STOP);
        self.index.write(out);
        out.extend_from_slice(b"}\n\n");
        self.index += 1;
    }
}

/// Puts what was written since `start` on one line, as the data of an event
/// must be. Values are copied as they were spelled, possibly over several lines,
/// and between JSON tokens a line end is only space.
fn join_lines(out: &mut [u8], start: usize) {
    for byte in out.get_mut(start..).unwrap_or_default() {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}
