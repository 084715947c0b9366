//! A `thinking` block of a stream.

use super::super::reasoning_out::{PART_SEPARATOR, envelope, own_seal};
use super::block::Destination;
use super::events::{BlockDeltas, BlockEvents};
use crate::ledger::Ledger;
use crate::model::{Piece, Reasoning, Sealed};
use crate::wire::{Object, Pos, Str, TextBuffer};

/// Reasoning while it is written. A block shows one text: that of the kind that
/// comes first, since what has been shown cannot be taken back. The other kind
/// stays in the envelope, or is reported.
///
/// The block opens with its first word or at its end, because only its end says
/// whether the vendor withheld the text.
#[derive(Debug, Default)]
pub(super) struct StreamedThinking {
    /// All texts, for the envelope.
    summary: ReasoningParts,
    content: ReasoningParts,
    shown: Option<ShownText>,
    /// Text to be shown that has not been written.
    waiting: TextBuffer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownText {
    Summary,
    Content,
}

/// The parts of one kind of text, whose numbers never decrease.
#[derive(Debug, Default)]
struct ReasoningParts {
    parts: Vec<TextBuffer>,
    last_number: usize,
}

impl ReasoningParts {
    /// Adds to a part, and says whether that part is new and not the first.
    fn push(&mut self, number: usize, text: &Str<'_>) -> bool {
        let is_first = self.parts.is_empty();
        let is_new = is_first || number > self.last_number;
        if is_new {
            self.parts.push(TextBuffer::default());
            self.last_number = number;
        }
        if let Some(last) = self.parts.last_mut() {
            last.push(text);
        }
        is_new && !is_first
    }

    fn texts(&self) -> Vec<Str<'_>> {
        self.parts.iter().map(TextBuffer::text).collect()
    }
}

impl StreamedThinking {
    pub(super) fn push(&mut self, piece: &Piece<'_>, destination: Destination<'_>) {
        let (kind, parts, number, text) = match piece {
            Piece::Summary { part, text } => (ShownText::Summary, &mut self.summary, part, text),
            Piece::Reasoning { part, text } => (ShownText::Content, &mut self.content, part, text),
            Piece::Text { text: _, logprobs: _ } | Piece::Citation(_) | Piece::Arguments(_) => {
                return;
            }
        };
        let is_next_part = parts.push(*number, text);
        if *self.shown.get_or_insert(kind) != kind {
            return;
        }
        let Some((events, out)) = destination else {
            if is_next_part {
                self.waiting.push(&Str::plain(PART_SEPARATOR));
            }
            self.waiting.push(text);
            return;
        };
        if text.is_empty() && !is_next_part {
            return;
        }
        if !events.is_open() {
            open(events, out);
        }
        events.delta(out, |out| {
            if is_next_part {
                Str::plain(PART_SEPARATOR).write_inside(out);
            }
            text.write_inside(out);
        });
    }

    /// The block's turn has come: writes what is waiting.
    pub(super) fn start(&mut self, events: &mut BlockEvents, out: &mut Vec<u8>) {
        if !self.waiting.is_empty() {
            open(events, out);
            events.delta(out, |out| self.waiting.text().write_inside(out));
            self.waiting.clear();
        }
    }

    pub(super) fn finish(
        &mut self,
        sealed: Option<Sealed<'static>>,
        events: &mut BlockEvents,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let is_withheld = !events.is_open();
        let own_seal = own_seal(sealed.as_ref());
        if let Some((blob, true)) = own_seal
            && is_withheld
        {
            events.open(BlockDeltas::Thinking, out, |out| {
                let mut block = Object::new(out);
                block.put("type", "redacted_thinking");
                block.put("data", blob);
            });
            return;
        }
        if is_withheld {
            open(events, out);
        }
        match own_seal {
            Some((blob, false)) => events.other_delta("signature_delta", "signature", blob, out),
            Some((_, true)) | None => {
                let mut reasoning = Reasoning::new(Pos::START);
                reasoning.summary = self.summary.texts();
                reasoning.content = self.content.texts();
                reasoning.sealed = sealed;
                let signature = envelope(&reasoning, ledger);
                events.other_delta("signature_delta", "signature", &signature, out);
            }
        }
    }
}

fn open(events: &mut BlockEvents, out: &mut Vec<u8>) {
    events.open(BlockDeltas::Thinking, out, |out| {
        let mut block = Object::new(out);
        block.put("type", "thinking");
        block.put("thinking", "");
        block.put("signature", "");
    });
}
