//! A stretch of text that holds calls: markers and calls in any order, up to the
//! first thing that is neither.

use super::Step;
use super::call::{Output, Verdict};
use super::json_item::JsonItem;
use super::lexer::white;
use super::line_item::LineItem;
use super::markers::{Tag, tag};
use super::named_item::NamedItem;
use super::tagged_item::{OpenTag, Style, TaggedItem, call_tag};
use super::text::{from, may_become, upto};
use super::tools::Tools;

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
    Json(JsonItem),
    Named(NamedItem),
    Tagged(TaggedItem),
    Line(LineItem),
}

/// What comes next in a block.
pub(super) enum Ahead {
    More,
    Nothing,
    /// A marker or a separator.
    Skip(usize),
    Json,
    /// A call by name with an object, or in Python's syntax, behind so many bytes.
    Named {
        skip: usize,
        name: String,
        python: bool,
    },
    /// A call whose arguments are in tags.
    Tagged {
        style: Style,
        tag: OpenTag,
        skip: usize,
    },
    /// The same, with a bare name before them.
    Bare {
        skip: usize,
        name: String,
    },
    /// A call by name with one line of text.
    Line {
        skip: usize,
        name: String,
    },
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
        let item = Some(Item::Named(NamedItem::json(name, out)));
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
                if let Some(item) = self.item.take() {
                    self.found += usize::from(item.finish(out));
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
                    self.item = Some(Item::Json(JsonItem::new()));
                }
                Ahead::Named { skip: more, name, python } => {
                    self.pass(upto(from(rest, skip), more));
                    at += skip + more;
                    self.item = Some(Item::Named(match python {
                        true => NamedItem::python(&name, out),
                        false => NamedItem::json(&name, out),
                    }));
                }
                Ahead::Tagged { style, tag, skip: more } => {
                    at += skip + more;
                    self.item = Some(Item::Tagged(TaggedItem::new(style, &tag, out)));
                }
                Ahead::Bare { skip: more, name } => {
                    at += skip + more;
                    self.item = Some(Item::Tagged(TaggedItem::bare(&name, out)));
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

/// Whether a block with a call in it begins here. `None` if more text is needed.
pub(super) fn begins(text: &str, end: bool, tools: &Tools) -> Option<bool> {
    let mut at = 0;
    for _ in 0..MOST_MARKERS {
        at += white(from(text, at));
        match ahead(from(text, at), end, false, tools) {
            Ahead::More => return if end || at > FARTHEST { Some(false) } else { None },
            Ahead::Nothing => return Some(false),
            Ahead::Skip(length) => at += length,
            Ahead::Json
            | Ahead::Named { .. }
            | Ahead::Tagged { .. }
            | Ahead::Bare { .. }
            | Ahead::Line { .. } => return Some(true),
        }
    }
    Some(false)
}

/// What the text begins with. `inside` says that a call came before it.
pub(super) fn ahead(text: &str, end: bool, inside: bool, tools: &Tools) -> Ahead {
    let Some(first) = text.chars().next() else {
        return if end { Ahead::Nothing } else { Ahead::More };
    };
    match first {
        '{' => Ahead::Json,
        '[' => match tag(text, end) {
            Tag::Marker(length) => Ahead::Skip(length),
            Tag::More => Ahead::More,
            Tag::Call | Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other => {
                list(text, end, tools)
            }
        },
        ']' if text.starts_with("]<") || (text.len() == 1 && !end) => match tag(text, end) {
            Tag::Marker(length) => Ahead::Skip(length),
            Tag::Call => tagged(text, end, tools),
            Tag::More => Ahead::More,
            Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other if inside => Ahead::Skip(1),
            Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other => Ahead::Nothing,
        },
        ']' if inside => Ahead::Skip(1),
        ',' | ';' if inside => {
            let rest = from(text, 1);
            let next = rest.trim_start();
            match ahead(next, end, false, tools) {
                Ahead::More => Ahead::More,
                Ahead::Nothing => Ahead::Nothing,
                _ => Ahead::Skip(text.len() - next.len()),
            }
        }
        '`' => fence(text, end),
        '<' => match tag(text, end) {
            Tag::Marker(length) => Ahead::Skip(length),
            Tag::Call => tagged(text, end, tools),
            Tag::More => Ahead::More,
            Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other => Ahead::Nothing,
        },
        c if c.is_alphabetic() || c == '_' => named(text, end, tools),
        _ => Ahead::Nothing,
    }
}

/// A list of objects, or of calls in Python's syntax.
fn list(text: &str, end: bool, tools: &Tools) -> Ahead {
    let rest = from(text, 1).trim_start();
    match rest.chars().next() {
        None if !end => Ahead::More,
        Some('{') => Ahead::Json,
        Some(c) if c.is_alphabetic() || c == '_' => match named(rest, end, tools) {
            Ahead::Named { python: true, .. } => Ahead::Skip(text.len() - rest.len()),
            Ahead::More => Ahead::More,
            _ => Ahead::Nothing,
        },
        _ => Ahead::Nothing,
    }
}

/// A fence inside a block, with the word behind it.
fn fence(text: &str, end: bool) -> Ahead {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let rest = from(text, ticks);
    let word =
        rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    if ticks + word == text.len() && word < FARTHEST && !end {
        return if ticks > 0 || text.is_empty() { Ahead::More } else { Ahead::Nothing };
    }
    if ticks < 3 { Ahead::Nothing } else { Ahead::Skip(ticks + word) }
}

fn tagged(text: &str, end: bool, tools: &Tools) -> Ahead {
    match call_tag(text) {
        Ok(Some((style, tag))) => {
            if tag.name().is_some_and(|name| tools.find(name).is_some()) {
                let skip = tag.length();
                return Ahead::Tagged { style, tag, skip };
            }
            Ahead::Nothing
        }
        Ok(None) => Ahead::Nothing,
        Err(()) if end => Ahead::Nothing,
        Err(()) => Ahead::More,
    }
}

/// A call that begins with its name.
fn named(text: &str, end: bool, tools: &Tools) -> Ahead {
    let length = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
    let short = text.len() < FARTHEST && !end;
    if length == text.len() && short {
        return Ahead::More;
    }
    let name = upto(text, length);
    if let Some(rest) = from(text, 0).strip_prefix("Action:") {
        return action(text, rest, end, tools);
    }
    // DeepSeek says what kind of call it is.
    if name == "function" {
        return match tag(from(text, length), end) {
            Tag::Marker(more) => Ahead::Skip(length + more),
            Tag::More => Ahead::More,
            _ => Ahead::Nothing,
        };
    }
    if name == "functools" {
        return Ahead::Skip(length);
    }
    if tools.find(name).is_none() {
        return Ahead::Nothing;
    }
    let name = name.to_owned();
    if from(text, length).starts_with('(') {
        return Ahead::Named { skip: length + 1, name, python: true };
    }
    let mut at = length;
    loop {
        at += white(from(text, at));
        let rest = from(text, at);
        match rest.as_bytes().first() {
            None if short => return Ahead::More,
            Some(b'{') => return Ahead::Named { skip: at, name, python: false },
            Some(b'<') if rest.starts_with("<arg_key") => return Ahead::Bare { skip: at, name },
            Some(b'<') if short && may_become(rest, "<arg_key") => return Ahead::More,
            Some(b'<') => match tag(rest, end) {
                Tag::Marker(_) if rest.starts_with("</") => return Ahead::Bare { skip: at, name },
                Tag::Marker(more) => {
                    at += more;
                    // What follows is a call object that repeats the name.
                    if rest.starts_with("<|content_invoke_tool_json|>") {
                        return Ahead::Skip(at);
                    }
                }
                Tag::More => return Ahead::More,
                _ => return Ahead::Nothing,
            },
            Some(b'[') => match argument_marker(rest) {
                Ok(Some(more)) => at += more,
                Ok(None) => return Ahead::Nothing,
                Err(()) if short => return Ahead::More,
                Err(()) => return Ahead::Nothing,
            },
            Some(b'`') => match fence(rest, end) {
                Ahead::Skip(more) => at += more,
                other => return other,
            },
            _ => return Ahead::Nothing,
        }
    }
}

/// Mistral's `[ARGS]`, with `[CALL_ID]ID` before it. `Err` if more is needed.
fn argument_marker(text: &str) -> Result<Option<usize>, ()> {
    if text.starts_with("[ARGS]") {
        return Ok(Some("[ARGS]".len()));
    }
    if let Some(rest) = text.strip_prefix("[CALL_ID]") {
        return match rest.find('[') {
            Some(length) => Ok(Some("[CALL_ID]".len() + length)),
            None => Err(()),
        };
    }
    if may_become(text, "[ARGS]") || may_become(text, "[CALL_ID]") { Err(()) } else { Ok(None) }
}

/// `Action: NAME` and `Action Input: …`, or `Action:` and a list of calls.
fn action(text: &str, rest: &str, end: bool, tools: &Tools) -> Ahead {
    let short = text.len() < FARTHEST && !end;
    let rest = rest.trim_start();
    if rest.is_empty() {
        return if short { Ahead::More } else { Ahead::Nothing };
    }
    if rest.starts_with(['`', '[', '{']) {
        return Ahead::Skip(text.len() - rest.len());
    }
    let length = rest.find('\n').unwrap_or(rest.len());
    let name = upto(rest, length).trim().trim_matches(['`', '"', '*']);
    let after = from(rest, length).trim_start();
    if after.is_empty() || may_become(after, INPUT) {
        return if short { Ahead::More } else { Ahead::Nothing };
    }
    let Some(input) = after.strip_prefix(INPUT) else { return Ahead::Nothing };
    if tools.find(name).is_none() {
        return Ahead::Nothing;
    }
    let input = input.trim_start_matches([' ', '\t']);
    let json = input.trim_start();
    let skip = text.len() - json.len();
    let name = name.to_owned();
    match json.chars().next() {
        None if short => Ahead::More,
        Some('{') => Ahead::Named { skip, name, python: false },
        Some('`') => match fence(json, end) {
            Ahead::Skip(more) => {
                let inner = from(json, more).trim_start();
                match inner.chars().next() {
                    None if short => Ahead::More,
                    Some('{') => {
                        Ahead::Named { skip: text.len() - inner.len(), name, python: false }
                    }
                    _ => Ahead::Nothing,
                }
            }
            other => other,
        },
        _ => Ahead::Line { skip: text.len() - input.len(), name },
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/')
}

const INPUT: &str = "Action Input:";
/// How many markers may come before the first call.
const MOST_MARKERS: usize = 8;
/// How far a block looks ahead before it decides.
const FARTHEST: usize = 512;
