//! Finds where calls may begin in ordinary text.
//!
//! Text is passed on at once, but for the few bytes at its end that may be the
//! beginning of a marker. Code, quotations and examples are text, whatever is in
//! them.

use memchr::{memchr2, memchr3};

use super::ahead::begins;
use super::block::BlockKind;
use super::examples::introduces_example;
use super::fences::is_call_fence;
use super::harmony::{channel, is_rest_of_header};
use super::markers::{Tag, dialect, is_closing, tag};
use super::text::{beginning, from, may_become, upto};
use super::tools::Tools;

/// Where in Markdown the text is.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    /// Whether only white space has come on this line.
    line_start: bool,
    /// How many backticks opened the code on this line.
    code: usize,
    /// What opened the code block around the text.
    fence: Option<Fence>,
    /// Whether the line is a quotation.
    is_quote: bool,
    /// Whether nothing but white space has come.
    is_first: bool,
    /// Whether a call came before.
    has_calls: bool,
    /// The end of what was passed on.
    recent: String,
}

/// The backticks or tildes that open a code block, or the tag that closes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fence {
    Line(char, usize),
    Html(&'static str),
}

/// What the scanner found.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing. More text is needed.
    More,
    /// A block that may hold calls, behind so many bytes of its own.
    Block { skip: usize, kind: BlockKind, dialect: &'static str },
    /// The same, but the text around it says that it is only quoted.
    Quotation { kind: BlockKind },
    /// A call whose name was in a header of so many bytes.
    Call { skip: usize, name: String, dialect: &'static str, is_quoted: bool },
    /// Reasoning up to a marker, behind an opening marker of so many bytes.
    Reasoning { skip: usize, close: &'static str },
    /// A marker around ordinary text.
    Frame { skip: usize },
}

impl Default for Scanner {
    fn default() -> Self {
        Self {
            line_start: true,
            code: 0,
            fence: None,
            is_quote: false,
            is_first: true,
            has_calls: false,
            recent: String::new(),
        }
    }
}

impl Scanner {
    /// How many bytes of the text are ordinary, and what follows them.
    pub(super) fn scan(&mut self, text: &str, end: bool, tools: &Tools) -> (usize, Found) {
        let mut at = 0;
        let mut special = Special::default();
        loop {
            if self.line_start {
                match self.line(text, at, end, tools) {
                    Line::Goes(length) => {
                        at += length;
                        // A fence takes its whole line.
                        if self.line_start {
                            continue;
                        }
                    }
                    Line::Found(length, found) => return self.stop(text, at + length, found),
                    Line::More(length) => return self.stop(text, at + length, Found::More),
                }
            }
            at = special.next(text, at);
            if at == text.len() {
                return self.stop(text, at, Found::More);
            }
            let rest = from(text, at);
            match rest.as_bytes().first() {
                Some(b'\n') => {
                    at += 1;
                    self.line_start = true;
                    self.code = 0;
                    self.is_quote = false;
                }
                Some(b'`') => {
                    let run = run_length(rest, '`');
                    if run == rest.len() && run < LONGEST_RUN && !end {
                        return self.stop(text, at, Found::More);
                    }
                    at += run;
                    if self.fence.is_none() {
                        self.code = match self.code {
                            0 => run,
                            open if open == run => 0,
                            open => open,
                        };
                    }
                }
                Some(b'<') if self.code == 0 && self.html(rest) => at += 1,
                Some(b'<') if !end && self.code == 0 && may_be_html(rest) => {
                    return self.stop(text, at, Found::More);
                }
                _ if self.is_code() => at += 1,
                _ => match self.marker(text, at, end, tools) {
                    None => at += 1,
                    Some(found) => return self.stop(text, at, found),
                },
            }
        }
    }

    /// Whether all of the text is ordinary, which can be told at once in the
    /// middle of a line.
    pub(super) fn passes(&mut self, text: &str) -> bool {
        let passes = !self.line_start && Special::default().next(text, 0) == text.len();
        if passes {
            self.remember(text);
        }
        passes
    }

    /// Tells the scanner of text that was held back and is ordinary after all.
    pub(super) fn passed(&mut self, text: &str) {
        self.remember(text);
        if text.contains('\n') {
            self.code = 0;
            self.is_quote = false;
        }
        let line = text.rsplit('\n').next().unwrap_or_default();
        self.line_start = text.contains('\n') && line.trim().is_empty();
    }

    /// A block has ended, and its calls were taken out.
    pub(super) fn behind_block(&mut self) {
        self.line_start = false;
        self.code = 0;
        self.has_calls = true;
        self.recent.clear();
    }

    /// What is behind a frame begins like a line.
    pub(super) fn behind_frame(&mut self) {
        self.line_start = true;
    }

    /// Reasoning has ended, and the answer begins.
    pub(super) fn behind_reasoning(&mut self) {
        *self = Self { has_calls: self.has_calls, is_first: false, ..Self::default() };
    }

    /// A fence that looked like a block is code.
    pub(super) fn open_fence(&mut self, ticks: usize) {
        self.fence = Some(Fence::Line('`', ticks));
    }

    fn is_code(&self) -> bool {
        self.code > 0 || self.fence.is_some() || self.is_quote
    }

    fn stop(&mut self, text: &str, at: usize, found: Found) -> (usize, Found) {
        self.remember(upto(text, at));
        (at, found)
    }

    fn remember(&mut self, text: &str) {
        if text.len() >= REMEMBERED {
            self.recent.clear();
        } else if self.recent.len() + text.len() > 8 * REMEMBERED {
            let cut = self.recent.len() - tail(&self.recent).len();
            self.recent.drain(..cut);
        }
        self.recent.push_str(tail(text));
    }

    /// Looks at the beginning of a line.
    fn line(&mut self, text: &str, at: usize, end: bool, tools: &Tools) -> Line {
        let line = from(text, at);
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let rest = from(line, indent);
        let Some(first) = rest.chars().next() else { return Line::More(indent) };
        if matches!(first, '`' | '~') {
            self.is_first = false;
            return self.fence_line(text, at + indent, indent, end, tools);
        }
        if self.is_first && first == 't' {
            match is_rest_of_header(rest, end) {
                None => return Line::More(indent),
                Some(true) => match channel(rest, end, tools) {
                    Some(Found::More) => return Line::More(indent),
                    Some(found) => return Line::Found(indent, found),
                    None => {}
                },
                Some(false) => {}
            }
        }
        self.is_first &= first.is_whitespace();
        self.line_start = false;
        if self.fence.is_some() {
            return Line::Goes(indent);
        }
        let begins_bare = match first {
            '{' | '[' => true,
            'A' => rest.starts_with("Action:") || (!end && may_become(rest, "Action:")),
            'f' => ["functools[", "function call<|role_sep|>"]
                .iter()
                .any(|word| rest.starts_with(word) || (!end && may_become(rest, word))),
            '>' if rest.starts_with(">>>") || (!end && may_become(rest, ">>>")) => {
                return self.functionary(text, at + indent, indent, end, tools);
            }
            '>' => {
                self.is_quote = true;
                false
            }
            _ => false,
        };
        if !begins_bare {
            return Line::Goes(indent);
        }
        if let Some(header) = rest.strip_prefix("function call<|role_sep|>") {
            return match begins(header, end, tools) {
                None => self.wait(indent),
                Some(false) => Line::Goes(indent),
                Some(true) if introduces_example(&self.recent(upto(text, at))) => {
                    Line::Found(indent + rest.len() - header.len(), QUOTED_MARKED)
                }
                Some(true) => {
                    let skip = rest.len() - header.len();
                    let found =
                        Found::Block { skip, kind: BlockKind::Marked, dialect: "gigachat3" };
                    Line::Found(indent, found)
                }
            };
        }
        if first == 'f' && !rest.starts_with("functools[") {
            return self.wait(indent);
        }
        // Markers that begin with a bracket are not bare.
        if first == '[' {
            match tag(rest, end) {
                Tag::Other => {}
                Tag::More => return self.wait(indent),
                Tag::Marker(_)
                | Tag::Edge(_)
                | Tag::Call
                | Tag::Think(..)
                | Tag::Channel
                | Tag::Frame(_) => return Line::Goes(indent),
            }
        }
        match begins(rest, end, tools) {
            None => self.wait(indent),
            Some(true) => {
                let (kind, dialect) = match first {
                    'A' => (BlockKind::Action, "react"),
                    'f' => (BlockKind::Marked, "phi4_mini"),
                    '{' => (BlockKind::Bare, "json"),
                    _ if from(rest, 1).trim_start().starts_with('{') => {
                        (BlockKind::Bare, "json_array")
                    }
                    _ => (BlockKind::Bare, "pythonic"),
                };
                let found = match introduces_example(&self.recent(upto(text, at))) {
                    true => Found::Quotation { kind },
                    false => Found::Block { skip: 0, kind, dialect },
                };
                Line::Found(indent, found)
            }
            Some(false) => Line::Goes(indent),
        }
    }

    /// The beginning of the line is needed again when more text is there.
    fn wait(&mut self, indent: usize) -> Line {
        self.line_start = true;
        Line::More(indent)
    }

    /// A line that begins with backticks.
    fn fence_line(
        &mut self,
        text: &str,
        at: usize,
        indent: usize,
        end: bool,
        tools: &Tools,
    ) -> Line {
        let rest = from(text, at);
        let mark = rest.chars().next().unwrap_or('`');
        let ticks = run_length(rest, mark);
        if ticks < 3 && (ticks < rest.len() || end) {
            self.line_start = false;
            return Line::Goes(indent);
        }
        let after = from(rest, ticks);
        let window = beginning(after, LONGEST_INFO);
        let Some(stop) = window.find('\n') else {
            if !end && after.len() < LONGEST_INFO {
                return Line::More(indent);
            }
            self.line_start = false;
            self.close_or_open(mark, ticks, window);
            return Line::Goes(indent + ticks);
        };
        let info = upto(after, stop);
        let length = ticks + stop + 1;
        let may_hold_calls = self.fence.is_none() && mark == '`' && is_call_fence(info);
        if may_hold_calls && !introduces_example(&self.recent(upto(text, at))) {
            match begins(from(rest, length), end, tools) {
                None => return Line::More(indent),
                Some(true) => {
                    self.line_start = false;
                    let dialect = if info.trim() == "tool_code" {
                        "gemma_tool_code"
                    } else {
                        "md_json_fence"
                    };
                    let kind = BlockKind::Fence(ticks);
                    return Line::Found(indent, Found::Block { skip: length, kind, dialect });
                }
                Some(false) => {}
            }
        }
        self.close_or_open(mark, ticks, info);
        // The next line begins behind this one.
        Line::Goes(indent + length)
    }

    fn close_or_open(&mut self, mark: char, ticks: usize, info: &str) {
        match self.fence {
            Some(Fence::Line(opened, least)) if opened == mark => {
                if ticks >= least && info.trim().is_empty() {
                    self.fence = None;
                }
            }
            Some(_) => {}
            None if mark == '`' && info.contains('`') => self.code = 0,
            None => self.fence = Some(Fence::Line(mark, ticks)),
        }
    }

    /// Whether the text begins with a tag that begins or ends code.
    fn html(&mut self, text: &str) -> bool {
        match self.fence {
            None => {
                let opened = HTML_CODE.iter().find(|(open, _)| text.starts_with(open));
                self.fence = opened.map(|(_, close)| Fence::Html(close));
                opened.is_some()
            }
            Some(Fence::Html(close)) if text.starts_with(close) => {
                self.fence = None;
                true
            }
            Some(Fence::Html(_) | Fence::Line(..)) => false,
        }
    }

    /// `>>>NAME` and a line break, or `>>>all` before ordinary text.
    fn functionary(
        &mut self,
        text: &str,
        at: usize,
        indent: usize,
        end: bool,
        tools: &Tools,
    ) -> Line {
        let rest = from(text, at);
        let Some(header) = rest.strip_prefix(">>>") else { return self.wait(indent) };
        let length =
            header.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(header.len());
        if length >= LONGEST_NAME {
            return Line::Goes(indent);
        }
        if length == header.len() && !end {
            return self.wait(indent);
        }
        let name = upto(header, length);
        if name == "all" && from(header, length).starts_with('\n') {
            self.line_start = true;
            return Line::Found(indent, Found::Frame { skip: 3 + length + 1 });
        }
        if tools.find(name).is_none() {
            return Line::Goes(indent);
        }
        let body = from(header, length);
        match body.trim_start().chars().next() {
            None if !end => self.wait(indent),
            Some('{') => {
                let (name, skip) = (name.to_owned(), 3 + length);
                let is_quoted = introduces_example(&self.recent(upto(text, at)));
                let found = Found::Call { skip, name, dialect: "functionary", is_quoted };
                Line::Found(indent, found)
            }
            _ => Line::Goes(indent),
        }
    }

    /// A marker in the middle of text. `None` if it is none.
    fn marker(&mut self, text: &str, at: usize, end: bool, tools: &Tools) -> Option<Found> {
        let rest = from(text, at);
        let tag = tag(rest, end);
        match tag {
            Tag::Other => None,
            Tag::More => Some(Found::More),
            Tag::Think(skip, close) => Some(Found::Reasoning { skip, close }),
            Tag::Frame(skip) => Some(Found::Frame { skip }),
            Tag::Channel => {
                let mut found = channel(rest, end, tools);
                if let Some(Found::Call { is_quoted, .. }) = &mut found {
                    *is_quoted = self.is_quoted(upto(text, at));
                }
                found
            }
            // No block begins with what ends one.
            Tag::Marker(length) | Tag::Edge(length) if is_closing(upto(rest, length)) => {
                self.stray(tag, rest)
            }
            Tag::Marker(_) | Tag::Edge(_) | Tag::Call => match begins(rest, end, tools) {
                None => Some(Found::More),
                Some(true) if self.is_quoted(upto(text, at)) => Some(QUOTED_MARKED),
                Some(true) => {
                    let kind = BlockKind::Marked;
                    Some(Found::Block { skip: 0, kind, dialect: dialect(rest) })
                }
                Some(false) => self.stray(tag, rest),
            },
        }
    }

    /// A marker without a call. Behind a call it may be the end of one that could
    /// not be read.
    fn stray(&self, tag: Tag, text: &str) -> Option<Found> {
        match tag {
            Tag::Edge(skip) => Some(Found::Frame { skip }),
            Tag::Marker(skip) if self.has_calls && is_closing(upto(text, skip)) => {
                Some(Found::Frame { skip })
            }
            Tag::Marker(_)
            | Tag::Call
            | Tag::Think(..)
            | Tag::Channel
            | Tag::Frame(_)
            | Tag::Other
            | Tag::More => None,
        }
    }

    /// Whether the text before a block says that the block is only quoted.
    fn is_quoted(&self, before: &str) -> bool {
        let recent = self.recent(before);
        // GigaChat writes two words before its marker.
        let recent = recent.strip_suffix("function call").unwrap_or(&recent);
        recent.ends_with(QUOTES) || introduces_example(recent)
    }

    /// The end of the text up to here, of the same length however it arrived.
    fn recent(&self, before: &str) -> String {
        let mut recent = self.recent.clone();
        recent.push_str(tail(before));
        tail(&recent).to_owned()
    }
}

/// Where the next byte is that may begin something. Two searches with vectors
/// are faster than one for all of the bytes, and each goes over the text once.
#[derive(Default)]
struct Special {
    /// The next `<`, `[` or line break, if it is not behind.
    first: usize,
    /// The next `]` or backtick, if it is not behind.
    second: usize,
}

impl Special {
    /// The next place from `at` on, or the end of the text.
    fn next(&mut self, text: &str, at: usize) -> usize {
        let rest = from(text, at).as_bytes();
        if self.first <= at {
            self.first = at + memchr3(b'<', b'[', b'\n', rest).unwrap_or(rest.len());
        }
        if self.second <= at {
            self.second = at + memchr2(b']', b'`', rest).unwrap_or(rest.len());
        }
        self.first.min(self.second)
    }
}

/// What the beginning of a line is.
enum Line {
    /// Ordinary, as far as so many bytes.
    Goes(usize),
    Found(usize, Found),
    /// Not to be told yet, from so many bytes on.
    More(usize),
}

/// As much of the end of a text as is remembered.
fn tail(text: &str) -> &str {
    let mut start = text.len().saturating_sub(REMEMBERED);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    from(text, start)
}

/// How often the text begins with a mark. A long run is several short ones, so
/// that none is waited for without end.
fn run_length(text: &str, mark: char) -> usize {
    text.chars().take(LONGEST_RUN).take_while(|c| *c == mark).count()
}

/// Whether the text may become a tag around code.
fn may_be_html(text: &str) -> bool {
    HTML_CODE.iter().any(|(open, close)| may_become(text, open) || may_become(text, close))
}

/// Tags around code, and what closes them.
const HTML_CODE: [(&str, &str); 2] = [("<pre>", "</pre>"), ("<code>", "</code>")];

const QUOTED_MARKED: Found = Found::Quotation { kind: BlockKind::Marked };

/// Marks before which a quotation begins.
const QUOTES: [char; 6] = ['"', '\'', '“', '‘', '«', '`'];

const REMEMBERED: usize = 240;
const LONGEST_INFO: usize = 32;
const LONGEST_RUN: usize = 32;
const LONGEST_NAME: usize = 64;
