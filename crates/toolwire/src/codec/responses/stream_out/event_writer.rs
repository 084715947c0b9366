//! How an event of a stream is written: its name, and an object that begins with
//! its type and its number.

use crate::wire::{Object, Str, Write};

/// Writes the events of a stream and numbers them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventWriter {
    next: u64,
}

impl EventWriter {
    /// Continues after that many events.
    pub(super) fn after(events: u64) -> Self {
        Self { next: events }
    }

    /// Gives the next event the number of the last one.
    pub(super) fn retract(&mut self) {
        self.next = self.next.saturating_sub(1);
    }

    /// Begins an event, up to and including its number. Members follow, each with
    /// a comma before it.
    pub(super) fn begin(&mut self, kind: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\ndata: {\"type\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\",\"sequence_number\":");
        self.number(out);
    }

    /// Writes an event: where it belongs, and its members.
    pub(super) fn write(
        &mut self,
        kind: &str,
        place: &[u8],
        out: &mut Vec<u8>,
        members: impl FnOnce(&mut Object<'_>),
    ) {
        self.begin(kind, out);
        out.extend_from_slice(place);
        members(&mut Object::more_members(out));
        Self::end(out);
    }

    /// Writes a delta with nothing but text, unless there is no text.
    pub(super) fn text_delta(
        &mut self,
        head: &str,
        place: &[u8],
        text: &Str<'_>,
        out: &mut Vec<u8>,
    ) {
        if !text.is_empty() {
            self.delta(head, place, out);
            text.write_inside(out);
            out.extend_from_slice(b"\"}\n\n");
        }
    }

    /// Begins a delta of a kind whose beginning is a constant.
    pub(super) fn delta(&mut self, head: &str, place: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(head.as_bytes());
        self.number(out);
        out.extend_from_slice(place);
        out.extend_from_slice(b",\"delta\":\"");
    }

    /// Ends an event.
    pub(super) fn end(out: &mut Vec<u8>) {
        out.extend_from_slice(b"}\n\n");
    }

    /// Reserves memory for a long text and no more than that: a buffer that
    /// doubles would take twice the memory of what it holds.
    pub(super) fn make_room(size: usize, out: &mut Vec<u8>) {
        if size >= LONG {
            out.reserve_exact(size + LONG);
        }
    }

    fn number(&mut self, out: &mut Vec<u8>) {
        self.next.write(out);
        self.next += 1;
    }
}

/// Where in the output an event belongs, as members.
pub(super) fn place(id: &str, output: u64) -> Vec<u8> {
    let mut place = Vec::with_capacity(96);
    place.extend_from_slice(b",\"item_id\":");
    id.write(&mut place);
    place.extend_from_slice(b",\"output_index\":");
    output.write(&mut place);
    place
}

/// The same with the number of a part.
pub(super) fn part_place(id: &str, output: u64, key: &str, part: u64) -> Vec<u8> {
    let mut place = place(id, output);
    place.extend_from_slice(b",\"");
    place.extend_from_slice(key.as_bytes());
    place.extend_from_slice(b"\":");
    part.write(&mut place);
    place
}

/// The length from which on memory is reserved for a text.
pub(super) const LONG: usize = 16 * 1024;

/// How a delta of a kind begins.
macro_rules! delta {
    ($kind:literal) => {
        concat!("event: ", $kind, "\ndata: {\"type\":\"", $kind, "\",\"sequence_number\":")
    };
}

pub(super) const TEXT: &str = delta!("response.output_text.delta");
pub(super) const REFUSAL: &str = delta!("response.refusal.delta");
pub(super) const ARGUMENTS: &str = delta!("response.function_call_arguments.delta");
pub(super) const INPUT: &str = delta!("response.custom_tool_call_input.delta");
pub(super) const SUMMARY: &str = delta!("response.reasoning_summary_text.delta");
pub(super) const REASONING: &str = delta!("response.reasoning_text.delta");
