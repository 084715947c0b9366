//! Text while it is being written.

use super::super::content_out::Pen;
use super::blocks::Live;
use super::events::{Grows, Tap};
use crate::ledger::Code;
use crate::model::Part;
use crate::wire::{Object, Pos, Str, TextBuffer};

/// Text. The API takes no text of nothing but spaces, so a block opens with the
/// first other character.
#[derive(Debug, Default)]
pub(super) struct TextLive {
    held: TextBuffer,
    /// Whether what is held is more than spaces.
    solid: bool,
}

impl TextLive {
    pub(super) fn new(part: &Part<'_>, pen: &mut Pen<'_>) -> Self {
        let Part { message: _, phase, extra } = part;
        if let Some(phase) = phase {
            pen.ledger.dropped(phase.pos(), Code::Phase).info();
        }
        pen.ledger.only(extra);
        Self::default()
    }

    pub(super) fn whole(text: &Str<'_>) -> Self {
        let mut whole = Self::default();
        whole.say(text, None);
        whole
    }

    pub(super) fn say(&mut self, text: &Str<'_>, live: Live<'_>) {
        if let Some((tap, out)) = live {
            if tap.begun() {
                if !text.is_empty() {
                    tap.delta(out, |out| text.write_inside(out));
                }
                return;
            }
            self.held.push(text);
            self.solid |= !text.is_blank();
            if self.solid {
                self.begin(tap, out);
            }
            return;
        }
        self.held.push(text);
        self.solid |= !text.is_blank();
    }

    pub(super) fn enter(&mut self, tap: &mut Tap, out: &mut Vec<u8>) {
        if self.solid {
            self.begin(tap, out);
        }
    }

    pub(super) fn leave(&mut self, tap: &mut Tap, pen: &mut Pen<'_>) {
        if !tap.begun() && !self.held.is_empty() {
            let note = pen.ledger.dropped(Pos::START, Code::Placeholder);
            note.detail("The target refuses text of nothing but spaces; it is left out.").info();
        }
    }

    fn begin(&mut self, tap: &mut Tap, out: &mut Vec<u8>) {
        tap.begin(Grows::Text, out, |out| {
            let mut block = Object::new(out);
            block.put("type", "text");
            block.put("text", "");
        });
        if !self.held.is_empty() {
            tap.delta(out, |out| self.held.text().write_inside(out));
            self.held.clear();
        }
    }
}
