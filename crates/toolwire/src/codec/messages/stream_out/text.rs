//! A text block of a stream.

use super::super::content_out::report_blank;
use super::block::Destination;
use super::events::{BlockDeltas, BlockEvents};
use crate::ledger::{Code, Ledger};
use crate::model::Part;
use crate::wire::{Object, Pos, Str, TextBuffer};

/// A text block while it is written. The API takes no text of nothing but
/// spaces, so the block opens with the first other character.
#[derive(Debug, Default)]
pub(super) struct StreamedText {
    /// Text that has not been written.
    waiting: TextBuffer,
    /// Whether the waiting text is more than spaces.
    has_words: bool,
}

impl StreamedText {
    pub(super) fn new(part: &Part<'_>, ledger: &mut Ledger) -> Self {
        let Part { message: _, phase, extra } = part;
        ledger.lost_info(phase, Code::Phase);
        ledger.only(extra);
        Self::default()
    }

    /// A text that came in one piece.
    pub(super) fn whole(text: &Str<'_>) -> Self {
        let mut whole = Self::default();
        whole.wait(text);
        whole
    }

    pub(super) fn push(&mut self, text: &Str<'_>, destination: Destination<'_>) {
        match destination {
            Some((events, out)) if events.is_open() => {
                if !text.is_empty() {
                    events.delta(out, |out| text.write_inside(out));
                }
            }
            Some((events, out)) => {
                self.wait(text);
                self.start(events, out);
            }
            None => self.wait(text),
        }
    }

    /// The block's turn has come: writes what is waiting, unless it is blank.
    pub(super) fn start(&mut self, events: &mut BlockEvents, out: &mut Vec<u8>) {
        if !self.has_words {
            return;
        }
        events.open(BlockDeltas::Text, out, |out| {
            let mut block = Object::new(out);
            block.put("type", "text");
            block.put("text", "");
        });
        events.delta(out, |out| self.waiting.text().write_inside(out));
        self.waiting.clear();
    }

    pub(super) fn finish(&mut self, events: &BlockEvents, ledger: &mut Ledger) {
        if !events.is_open() && !self.waiting.is_empty() {
            report_blank(Pos::START, ledger);
        }
    }

    fn wait(&mut self, text: &Str<'_>) {
        self.waiting.push(text);
        self.has_words |= !text.is_blank();
    }
}
