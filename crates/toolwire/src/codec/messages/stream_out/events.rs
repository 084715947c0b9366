//! The events of a stream as bytes.

use crate::wire::{Object, Write};

/// Everything of an event in front of its members.
pub(super) const MESSAGE_START: &[u8] = b"event: message_start\ndata: {\"type\":\"message_start\"";
pub(super) const MESSAGE_DELTA: &[u8] = b"event: message_delta\ndata: {\"type\":\"message_delta\"";
pub(super) const MESSAGE_STOP: &[u8] = b"event: message_stop\ndata: {\"type\":\"message_stop\"";
const BLOCK_START: &[u8] =
    b"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":";
const BLOCK_DELTA: &[u8] =
    b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":";
const BLOCK_STOP: &[u8] =
    b"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":";

/// Writes an event about the message.
pub(super) fn write(head: &[u8], out: &mut Vec<u8>, members: impl FnOnce(&mut Object<'_>)) {
    let start = out.len();
    out.extend_from_slice(head);
    let mut inside = Vec::new();
    members(&mut Object::members_only(&mut inside));
    if !inside.is_empty() {
        out.push(b',');
        out.extend_from_slice(&inside);
    }
    one_line(out, start + head.len());
    out.extend_from_slice(b"}\n\n");
}

/// What the deltas of a block are called and hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grows {
    Text,
    Thinking,
    Input,
}

/// Writes the events of one block after the other, with indexes from 0.
#[derive(Debug, Default)]
pub(super) struct Tap {
    index: u64,
    begun: bool,
    /// A delta of the block that is open, up to where its text begins.
    prefix: Vec<u8>,
}

impl Tap {
    /// Whether a block is open.
    pub(super) fn begun(&self) -> bool {
        self.begun
    }

    /// Opens a block. `block` writes it as the object it begins as.
    pub(super) fn begin(
        &mut self,
        grows: Grows,
        out: &mut Vec<u8>,
        block: impl FnOnce(&mut Vec<u8>),
    ) {
        self.begun = true;
        out.extend_from_slice(BLOCK_START);
        self.index.write(out);
        out.extend_from_slice(b",\"content_block\":");
        let start = out.len();
        block(out);
        one_line(out, start);
        out.extend_from_slice(b"}\n\n");
        let field: &[u8] = match grows {
            Grows::Text => b",\"delta\":{\"type\":\"text_delta\",\"text\":\"",
            Grows::Thinking => b",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"",
            Grows::Input => b",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"",
        };
        self.prefix.clear();
        self.prefix.extend_from_slice(BLOCK_DELTA);
        self.index.write(&mut self.prefix);
        self.prefix.extend_from_slice(field);
    }

    /// Writes a delta. `inside` writes the inside of its literal.
    pub(super) fn delta(&self, out: &mut Vec<u8>, inside: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.prefix);
        inside(out);
        out.extend_from_slice(b"\"}}\n\n");
    }

    /// Writes a delta of a kind that comes seldom.
    pub(super) fn other(&self, kind: &str, key: &str, value: &dyn Write, out: &mut Vec<u8>) {
        out.extend_from_slice(BLOCK_DELTA);
        self.index.write(out);
        out.extend_from_slice(b",\"delta\":");
        let start = out.len();
        let mut delta = Object::new(out);
        delta.put("type", kind);
        delta.put(key, value);
        drop(delta);
        one_line(out, start);
        out.extend_from_slice(b"}\n\n");
    }

    /// Closes the block that is open.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        self.begun = false;
        out.extend_from_slice(BLOCK_STOP);
        self.index.write(out);
        out.extend_from_slice(b"}\n\n");
        self.index += 1;
    }
}

/// Values are copied as they were spelled, which may be over several lines. An
/// event's data is one line, and line ends in JSON are but space.
fn one_line(out: &mut [u8], start: usize) {
    for byte in out.get_mut(start..).unwrap_or_default() {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}
