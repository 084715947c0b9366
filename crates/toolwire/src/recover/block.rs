//! A stretch of text that holds calls: markers and calls in any order, up to the
//! first thing that is neither.

use super::Step;
use super::ahead::{Ahead, ahead, fence};
use super::call::{Output, Verdict};
use super::json_item::JsonItem;
use super::lexer::white;
use super::line_item::LineItem;
use super::markers;
use super::named_item::NamedItem;
use super::tagged_item::TaggedItem;
use super::text::{from, upto};

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
    /// How many calls it had.
    pub(super) found: usize,
    /// Whether it ended as such a block ends.
    pub(super) is_closed: bool,
}

#[derive(Clone, Debug)]
enum Item {
    Json(Box<JsonItem>),
    Named(Box<NamedItem>),
    Tagged(Box<TaggedItem>),
    Line(LineItem),
}

impl Block {
    pub(super) fn new(kind: BlockKind, dialect: &'static str) -> Self {
        Self {
            kind,
            dialect,
            item: None,
            is_quoted: false,
            in_fence: false,
            found: 0,
            is_closed: false,
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

    /// How many bytes the text begins with that are arguments as they are.
    pub(super) fn strict_run(&self, text: &str) -> usize {
        match &self.item {
            Some(Item::Json(item)) => item.strict_run(text),
            Some(Item::Named(item)) => item.strict_run(text),
            Some(Item::Tagged(item)) => item.strict_run(text),
            Some(Item::Line(_)) | None => 0,
        }
    }

    /// Reads on. How many bytes were taken, and whether the block has ended.
    pub(super) fn step(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Step) {
        let mut at = 0;
        loop {
            let rest = from(text, at);
            if let Some(item) = &mut self.item {
                let (length, step) = item.step(rest, end, out);
                at += length;
                if item.has_given_up() && *out.verdict == Verdict::Open {
                    *out.verdict = Verdict::Text;
                }
                if step == Step::More && !end {
                    return (at, Step::More);
                }
                let Some(item) = self.item.take() else { continue };
                let has_given_up = item.has_given_up();
                self.found += usize::from(item.finish(out));
                // What follows other JSON is looked at anew.
                if has_given_up && self.found == 0 {
                    return (at, Step::Done);
                }
                continue;
            }
            let skip = white(rest);
            match self.next(from(rest, skip), end, out) {
                Ahead::More => return (at, Step::More),
                Ahead::Nothing => {
                    let Some(alone) = self.stands_alone(rest, end) else { return (at, Step::More) };
                    self.is_closed |= alone;
                    return (at, Step::Done);
                }
                Ahead::Skip(length) => {
                    self.pass(upto(from(rest, skip), length));
                    at += skip + length;
                    if self.is_closed {
                        return (at, Step::Done);
                    }
                }
                Ahead::Json => {
                    at += skip;
                    self.item = Some(Item::Json(Box::new(JsonItem::new())));
                }
                Ahead::Named { skip: more, name, python } => {
                    self.pass(upto(from(rest, skip), more));
                    at += skip + more;
                    let item = match python {
                        true => NamedItem::python(&name, out),
                        false => NamedItem::json(&name, out),
                    };
                    self.item = Some(Item::Named(Box::new(item)));
                }
                Ahead::Tagged { style, tag, skip: more } => {
                    at += skip + more;
                    out.dialect = markers::dialect_with(out.dialect, &tag.word);
                    self.item = Some(Item::Tagged(Box::new(TaggedItem::new(style, &tag, out))));
                }
                Ahead::Bare { skip: more, name } => {
                    at += skip + more;
                    out.dialect = markers::dialect_with(out.dialect, "");
                    self.item = Some(Item::Tagged(Box::new(TaggedItem::bare(&name, out))));
                }
                Ahead::Line { skip: more, name } => {
                    at += skip + more;
                    self.item = Some(Item::Line(LineItem::new(&name, out)));
                }
            }
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
        }
    }

    fn finish(self, out: &mut Output<'_>) -> bool {
        match self {
            Self::Json(item) => item.finish(out),
            Self::Named(item) => item.finish(out),
            Self::Tagged(item) => item.finish(out),
            Self::Line(item) => item.finish(out),
        }
    }

    fn has_given_up(&self) -> bool {
        matches!(self, Self::Json(item) if item.has_given_up())
    }
}
