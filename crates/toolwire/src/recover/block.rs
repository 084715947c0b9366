//! A stretch of text that holds calls: markers and calls in any order, up to the
//! first thing that is neither.

use super::ahead::{Ahead, ahead, fence};
use super::broken_item::BrokenItem;
use super::call::{Output, Verdict};
use super::json_item::JsonItem;
use super::lexer::white;
use super::line_item::LineItem;
use super::markers::{dialect_with, is_closing};
use super::named_item::NamedItem;
use super::tagged_item::TaggedItem;
use super::text::{from, upto};
use super::{Event, Sink, Step};

/// What holds the calls together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Markers that mean nothing else.
    Marked,
    /// Nothing. The calls stand on lines of their own.
    Bare,
    /// A fence of this many backticks.
    Fence(usize),
    /// The lines `Action:` and `Action Input:`.
    Action,
}

impl BlockKind {
    /// Whether a call counts only when it has ended and stands by itself.
    pub(super) fn is_soft(self) -> bool {
        self != Self::Marked
    }
}

/// A block that is being read.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    pub(super) dialect: &'static str,
    item: Option<Item>,
    /// Whether it is only quoted, so that nothing in it is a call.
    pub(super) is_quoted: bool,
    /// Whether a fence inside the block is open.
    in_fence: bool,
    /// Whether a marker was read that begins something.
    is_opened: bool,
    /// Whether a call in it was announced.
    pub(super) has_calls: bool,
    /// How many calls it had.
    pub(super) found: usize,
    /// Whether it ended as such a block ends.
    pub(super) is_closed: bool,
    /// Whether the text ended before the name of a call that had begun.
    pub(super) is_cut: bool,
}

/// What was read of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// More text is needed.
    More,
    /// A part: the block goes on.
    Part,
    /// A marker behind a call.
    Closing,
    /// A call, to its end.
    Call,
    /// The block has ended.
    Done,
}

#[derive(Clone, Debug)]
enum Item {
    Json(Box<JsonItem>),
    Named(Box<NamedItem>),
    Tagged(Box<TaggedItem>),
    Line(LineItem),
    Broken(BrokenItem),
}

impl Block {
    pub(super) fn new(kind: BlockKind, dialect: &'static str) -> Self {
        Self {
            kind,
            dialect,
            item: None,
            is_quoted: false,
            in_fence: false,
            is_opened: false,
            has_calls: false,
            found: 0,
            is_closed: false,
            is_cut: false,
        }
    }

    /// A block that is only quoted.
    pub(super) fn quoted(kind: BlockKind) -> Self {
        Self { is_quoted: true, ..Self::new(kind, "") }
    }

    /// A block that begins with the arguments of a call.
    pub(super) fn of_call(name: &str, dialect: &'static str, out: &mut Output<'_>) -> Self {
        let item = Some(Item::Named(Box::new(NamedItem::json(name, out))));
        Self { item, ..Self::new(BlockKind::Marked, dialect) }
    }

    /// Hands on the bytes that the text begins with, if they are the middle of an
    /// argument. How many there are.
    pub(super) fn pass_on(&mut self, text: &str, sink: &mut dyn Sink) -> usize {
        let strict = match &mut self.item {
            Some(Item::Json(item)) => item.strict_run(text),
            Some(Item::Named(item)) => item.strict_run(text),
            Some(Item::Tagged(item)) => return item.pass_on(text, sink),
            Some(Item::Line(_) | Item::Broken(_)) | None => 0,
        };
        if strict > 0 {
            sink.event(Event::Arguments(upto(text, strict)));
        }
        strict
    }

    /// Reads one thing: a marker, or as much of a call as is there. How many bytes
    /// were taken, and what was read.
    pub(super) fn step(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Unit) {
        if let Some(item) = &mut self.item {
            let (length, step) = item.step(text, end, out);
            if item.has_given_up() && *out.verdict == Verdict::Open {
                *out.verdict = Verdict::Text;
            }
            if step == Step::More && !end {
                return (length, Unit::More);
            }
            let is_cut = end && !matches!(item, Item::Broken(_)) && !out.soft;
            let is_unnamed = self.has_calls && !item.has_given_up();
            let (found, verdict) = (self.found, *out.verdict);
            let unit = self.end_item(out);
            return match verdict {
                // What a call was waiting for when the text ended is a part of it.
                Verdict::Calls if is_cut && !from(text, length).trim().is_empty() => {
                    (text.len(), unit)
                }
                // Another call has begun, and not even its name is known.
                Verdict::Open if is_cut && is_unnamed && self.found == found => {
                    *out.verdict = Verdict::Open;
                    self.is_cut = true;
                    (text.len(), Unit::Done)
                }
                Verdict::Calls | Verdict::Open | Verdict::Text => (length, unit),
            };
        }
        let skip = white(text);
        let rest = from(text, skip);
        if end && self.breaks_off(rest, out) {
            self.is_cut = self.is_opened;
            return (text.len(), Unit::Done);
        }
        match self.next(rest, end, out) {
            Ahead::More => (0, Unit::More),
            Ahead::Nothing => match self.stands_alone(text, end) {
                Some(alone) => {
                    self.is_closed |= alone;
                    (0, Unit::Done)
                }
                None => (0, Unit::More),
            },
            Ahead::Skip(length) => {
                let marker = upto(rest, length);
                self.pass(marker);
                self.is_opened = !is_closing(marker);
                let unit = match (self.is_closed, is_closing(marker)) {
                    (true, _) => Unit::Done,
                    (false, true) => Unit::Closing,
                    (false, false) => Unit::Part,
                };
                (skip + length, unit)
            }
            Ahead::Unnamed { skip: more } => {
                self.begin(skip + more, Item::Json(Box::new(JsonItem::unnamed())))
            }
            Ahead::Json => self.begin(skip, Item::Json(Box::new(JsonItem::new()))),
            Ahead::Named { skip: more, name, python } => {
                self.pass(upto(rest, more));
                let item = match python {
                    true => NamedItem::python(&name, out),
                    false => NamedItem::json(&name, out),
                };
                self.begin(skip + more, Item::Named(Box::new(item)))
            }
            Ahead::Tagged { style, tag, skip: more } => {
                out.dialect = dialect_with(out.dialect, &tag.word);
                let item = TaggedItem::new(style, &tag, out);
                self.begin(skip + more, Item::Tagged(Box::new(item)))
            }
            Ahead::Bare { skip: more, name } => {
                out.dialect = dialect_with(out.dialect, "");
                let item = TaggedItem::bare(&name, out);
                self.begin(skip + more, Item::Tagged(Box::new(item)))
            }
            Ahead::Line { skip: more, name } => {
                self.begin(skip + more, Item::Line(LineItem::new(&name, out)))
            }
        }
    }

    fn begin(&mut self, taken: usize, item: Item) -> (usize, Unit) {
        self.item = Some(item);
        self.is_opened = false;
        (taken, Unit::Part)
    }

    /// The item has ended, or the text goes on with something else.
    fn end_item(&mut self, out: &mut Output<'_>) -> Unit {
        let Some(item) = self.item.take() else { return Unit::Done };
        let (has_given_up, was_broken) = (item.has_given_up(), matches!(item, Item::Broken(_)));
        let found = item.finish(out);
        self.found += usize::from(found);
        match *out.verdict {
            Verdict::Text => Unit::Done,
            // What follows other JSON is looked at anew.
            Verdict::Open if has_given_up && self.found == 0 => Unit::Done,
            Verdict::Open if !found && !out.soft => {
                *out.verdict = Verdict::Text;
                Unit::Done
            }
            Verdict::Calls if !found && !was_broken && !out.soft => {
                self.item = Some(Item::Broken(BrokenItem));
                Unit::Part
            }
            Verdict::Open | Verdict::Calls => Unit::Call,
        }
    }

    fn next(&mut self, text: &str, end: bool, out: &Output<'_>) -> Ahead {
        if let BlockKind::Fence(ticks) = self.kind {
            let run = text.len() - text.trim_start_matches('`').len();
            if run >= ticks {
                self.is_closed = true;
                return Ahead::Skip(run);
            }
            if run > 0 && run == text.len() && !end {
                return Ahead::More;
            }
        }
        if self.kind == BlockKind::Action && self.found > 0 {
            return if self.in_fence { fence(text, end) } else { Ahead::Nothing };
        }
        ahead(text, end, self.found > 0, out.tools)
    }

    /// Whether a text that ends here ends inside a marker of the block.
    fn breaks_off(&self, text: &str, out: &Output<'_>) -> bool {
        let waits = || matches!(ahead(text, false, true, out.tools), Ahead::More);
        self.kind == BlockKind::Marked
            && self.has_calls
            && (self.is_opened || text.starts_with(['<', '[', ']', '`']))
            && waits()
    }

    /// Notes whether a marker opens or closes a fence.
    fn pass(&mut self, marker: &str) {
        self.in_fence ^= marker.contains("```");
    }

    /// Whether nothing else is on the line where the block ends. `None` if more
    /// text is needed.
    fn stands_alone(&self, text: &str, end: bool) -> Option<bool> {
        match self.kind {
            BlockKind::Marked | BlockKind::Action => Some(true),
            // The fence was not closed, so it ends with the text or is text.
            BlockKind::Fence(_) => Some(end && text.trim().is_empty()),
            BlockKind::Bare => {
                let rest = text.trim_start_matches([' ', '\t', '\r']);
                match rest.chars().next() {
                    None if !end => None,
                    None | Some('\n') => Some(true),
                    Some(_) => Some(false),
                }
            }
        }
    }
}

impl Item {
    fn step(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Step) {
        match self {
            Self::Json(item) => item.step(text, end, out),
            Self::Named(item) => item.step(text, end, out),
            Self::Tagged(item) => item.step(text, end, out),
            Self::Line(item) => item.step(text, end),
            Self::Broken(item) => item.step(text, end),
        }
    }

    fn finish(self, out: &mut Output<'_>) -> bool {
        match self {
            Self::Json(item) => item.finish(out),
            Self::Named(item) => item.finish(out),
            Self::Tagged(item) => item.finish(out),
            Self::Line(item) => item.finish(out),
            Self::Broken(_) => false,
        }
    }

    fn has_given_up(&self) -> bool {
        matches!(self, Self::Json(item) if item.has_given_up())
    }
}
