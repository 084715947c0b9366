//! Reasoning while it is being written.

use super::super::content_out::Pen;
use super::super::reasoning_out;
use super::blocks::Live;
use super::events::{Grows, Tap};
use crate::model::{Issuer, Piece, Reasoning, Sealed};
use crate::wire::{Object, Pos, Str, TextBuffer};

/// Reasoning. A block shows one text: that of the kind that comes first, since
/// what has been shown cannot be taken back. The other kind stays in the
/// envelope, or is reported.
///
/// The block opens with its first word or at its end, because only its end says
/// whether the vendor withheld the text.
#[derive(Debug, Default)]
pub(super) struct ThinkingLive {
    /// All texts, for the envelope.
    summary: Texts,
    content: Texts,
    shows: Option<Shows>,
    /// What is to be shown and has not been written.
    held: TextBuffer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    Summary,
    Content,
}

/// Texts with numbers that do not fall.
#[derive(Debug, Default)]
struct Texts {
    list: Vec<TextBuffer>,
    last: usize,
}

impl Texts {
    /// Adds to a text and says whether it is one after the first.
    fn push(&mut self, part: usize, text: &Str<'_>) -> bool {
        let first = self.list.is_empty();
        let another = first || part > self.last;
        if another {
            self.list.push(TextBuffer::default());
            self.last = part;
        }
        if let Some(last) = self.list.last_mut() {
            last.push(text);
        }
        another && !first
    }

    fn all(&self) -> Vec<Str<'_>> {
        self.list.iter().map(TextBuffer::text).collect()
    }
}

impl ThinkingLive {
    pub(super) fn grow(&mut self, piece: &Piece<'_>, live: Live<'_>) {
        let (shows, texts, part, text) = match piece {
            Piece::Summary { part, text } => (Shows::Summary, &mut self.summary, part, text),
            Piece::Reasoning { part, text } => (Shows::Content, &mut self.content, part, text),
            Piece::Text { text: _, logprobs: _ } | Piece::Citation(_) | Piece::Arguments(_) => {
                return;
            }
        };
        let another = texts.push(*part, text);
        if *self.shows.get_or_insert(shows) != shows {
            return;
        }
        let Some((tap, out)) = live else {
            if another {
                self.held.push(&Str::plain(BETWEEN));
            }
            self.held.push(text);
            return;
        };
        if text.is_empty() && !another {
            return;
        }
        if !tap.begun() {
            begin(tap, out);
        }
        tap.delta(out, |out| {
            if another {
                Str::plain(BETWEEN).write_inside(out);
            }
            text.write_inside(out);
        });
    }

    pub(super) fn enter(&mut self, tap: &mut Tap, out: &mut Vec<u8>) {
        if !self.held.is_empty() {
            begin(tap, out);
            tap.delta(out, |out| self.held.text().write_inside(out));
            self.held.clear();
        }
    }

    pub(super) fn leave(
        &mut self,
        sealed: Option<Sealed<'static>>,
        tap: &mut Tap,
        out: &mut Vec<u8>,
        pen: &mut Pen<'_>,
    ) {
        let withheld = !tap.begun();
        match &sealed {
            Some(Sealed {
                issuer: Issuer::Anthropic,
                item_id: _,
                blob: Some(blob),
                redacted: true,
            }) if withheld => {
                tap.begin(Grows::Thinking, out, |out| {
                    let mut block = Object::new(out);
                    block.put("type", "redacted_thinking");
                    block.put("data", blob);
                });
                return;
            }
            Some(Sealed { issuer: _, item_id: _, blob: _, redacted: _ }) | None => {}
        }
        if withheld {
            begin(tap, out);
        }
        match &sealed {
            Some(Sealed {
                issuer: Issuer::Anthropic,
                item_id: _,
                blob: Some(blob),
                redacted: false,
            }) => tap.other("signature_delta", "signature", blob, out),
            Some(Sealed { issuer: _, item_id: _, blob: _, redacted: _ }) | None => {
                let reasoning = Reasoning {
                    at: Pos::START,
                    summary: self.summary.all(),
                    content: self.content.all(),
                    sealed,
                    place: None,
                    extra: Vec::new(),
                };
                let signature = reasoning_out::envelope(&reasoning, pen);
                tap.other("signature_delta", "signature", &signature, out);
            }
        }
    }
}

fn begin(tap: &mut Tap, out: &mut Vec<u8>) {
    tap.begin(Grows::Thinking, out, |out| {
        let mut block = Object::new(out);
        block.put("type", "thinking");
        block.put("thinking", "");
        block.put("signature", "");
    });
}

const BETWEEN: &str = "\n\n";
