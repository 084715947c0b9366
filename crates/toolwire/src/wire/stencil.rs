//! Events that are spelled like the one before them, but for a text.
//!
//! Nineteen of twenty events of a stream repeat the one before byte for byte,
//! except for the text that is new, a running number and random padding. Such
//! an event need not be read: its bytes between those places are compared, and
//! in each place a value of the same kind is scanned as it would be anywhere.
//! A document in which one literal is replaced by another is as valid as it
//! was and says the same of everything else, so an event that fits is known to
//! be JSON to its end, and what is new in it is its text.

use super::scan;
use super::sse::Frame;
use super::{Pos, Raw, Str};

/// The spelling of one event, with holes where the next may differ.
///
/// It applies to the event right after the one it was cut from, and to the ones
/// after that as long as they fit. A caller that reads an event which does not
/// fit must call [`Stencil::forget`], since that event may change what a
/// repeated member means.
#[derive(Debug)]
pub(crate) struct Stencil<T> {
    /// What the text is, if there is a stencil.
    text: Option<T>,
    /// The event's name.
    name: Option<String>,
    /// The text around the holes, in one piece.
    fixed: Vec<u8>,
    holes: Vec<Hole>,
    /// Whether an event has fitted.
    fitted: bool,
    /// How many stencils in a row never fitted.
    vain: u32,
}

/// A place where events differ.
#[derive(Clone, Copy, Debug)]
struct Hole {
    /// How many fixed bytes are before it. The quote that opens a literal is
    /// one of them.
    after: usize,
    kind: HoleKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HoleKind {
    /// The text.
    Text,
    /// A literal that says nothing.
    Padding,
    /// A number that says nothing.
    Number,
}

impl<T> Default for Stencil<T> {
    fn default() -> Self {
        let (fixed, holes) = (Vec::new(), Vec::new());
        Self { text: None, name: None, fixed, holes, fitted: false, vain: 0 }
    }
}

impl<T: Copy> Stencil<T> {
    /// What an event says that fits: its text, and what that is.
    pub(crate) fn fit<'f>(&mut self, frame: &Frame<'f>) -> Option<(T, Str<'f>)> {
        let what = self.text?;
        if frame.name != self.name.as_deref() {
            return None;
        }
        let bytes = frame.data.as_bytes();
        let (mut pos, mut fixed, mut text) = (0, self.fixed.as_slice(), None);
        for hole in &self.holes {
            let (before, rest) = fixed.split_at_checked(hole.after)?;
            let end = pos + hole.after;
            if bytes.get(pos..end)? != before {
                return None;
            }
            fixed = rest;
            pos = end;
            if hole.kind == HoleKind::Number {
                pos = scan::number(bytes, pos).ok()?;
                continue;
            }
            let quote = pos.checked_sub(1)?;
            let literal = scan::string(bytes, quote).ok()?;
            let end = literal.behind();
            if hole.kind == HoleKind::Text {
                let inside = frame.data.get(pos..end - 1)?;
                text = Some(Str::literal(inside, literal.is_escaped(), Pos::new(quote)));
            }
            // The quote that closes it is fixed.
            pos = end - 1;
        }
        if bytes.get(pos..)? != fixed {
            return None;
        }
        self.fitted = true;
        Some((what, text?))
    }

    /// Forgets the spelling: another event has come. Says whether it is worth
    /// while to cut a stencil from that one.
    pub(crate) fn forget(&mut self) -> bool {
        if self.text.take().is_some() {
            self.vain = if self.fitted { 0 } else { self.vain.saturating_add(1) };
        } else if self.vain >= PATIENCE {
            self.vain = (self.vain + 1) % REST;
        }
        self.vain < PATIENCE
    }

    /// Takes the spelling of an event that has been read and found to be
    /// valid. `find` looks for its holes and says what the text is; it gives
    /// nothing where there is no text, or where another event of the same
    /// spelling would say anything else than a text.
    pub(crate) fn cut(
        &mut self,
        frame: &Frame<'_>,
        find: impl FnOnce(&str, &mut Holes<'_>) -> Option<T>,
    ) {
        self.fixed.clear();
        self.holes.clear();
        let (fixed, list) = (&mut self.fixed, &mut self.holes);
        let mut holes = Holes { data: frame.data, used: 0, fixed, list };
        let Some(what) = find(frame.data, &mut holes) else { return };
        let rest = frame.data.get(holes.used..).unwrap_or_default();
        holes.fixed.extend_from_slice(rest.as_bytes());
        let texts = self.holes.iter().filter(|hole| hole.kind == HoleKind::Text);
        if texts.count() != 1 {
            return;
        }
        if frame.name != self.name.as_deref() {
            self.name = frame.name.map(str::to_owned);
        }
        self.text = Some(what);
        self.fitted = false;
    }
}

/// The holes of an event, as they are found from its beginning to its end.
pub(crate) struct Holes<'h> {
    data: &'h str,
    /// How far the event is known.
    used: usize,
    fixed: &'h mut Vec<u8>,
    list: &'h mut Vec<Hole>,
}

impl Holes<'_> {
    /// The text that is new in every event.
    pub(crate) fn text(&mut self, text: &Str<'_>) -> Option<()> {
        self.literal(text, HoleKind::Text)
    }

    /// A literal that is new in every event and says nothing.
    pub(crate) fn padding(&mut self, text: &Str<'_>) -> Option<()> {
        self.literal(text, HoleKind::Padding)
    }

    /// A number that is new in every event and says nothing.
    pub(crate) fn number(&mut self, number: &Raw<'_>) -> Option<()> {
        let start = number.pos().offset()?;
        self.hole(start, start + number.text().len(), HoleKind::Number)
    }

    fn literal(&mut self, text: &Str<'_>, kind: HoleKind) -> Option<()> {
        let span = text.span(self.data)?;
        self.hole(span.start + 1, span.end - 1, kind)
    }

    fn hole(&mut self, start: usize, end: usize, kind: HoleKind) -> Option<()> {
        let before = self.data.get(self.used..start)?.as_bytes();
        self.fixed.extend_from_slice(before);
        self.list.push(Hole { after: before.len(), kind });
        self.used = end;
        Some(())
    }
}

/// How many stencils are cut in vain before it is left alone for a while: some
/// vendors count tokens in every event, and none is like the one before.
const PATIENCE: u32 = 4;
/// When it is tried again, in events.
const REST: u32 = 64;
