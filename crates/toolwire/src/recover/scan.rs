//! Finds where calls may begin in ordinary text.
//!
//! Text is passed on at once, but for the few bytes at its end that may be the
//! beginning of a marker. Code, quotations and examples are text, whatever is in
//! them.

use super::ahead::{Begins, Chain, begins};
use super::block::BlockKind;
use super::examples::introduces_example;
use super::harmony::channel;
use super::markers::{Tag, dialect, is_closing, tag};
use super::scan_line::Line;
use super::special::{has_special, may_begin, next_special};
use super::text::{from, may_become, upto};
use super::tools::Tools;

/// Where in Markdown the text is.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    /// Whether only white space has come on this line.
    pub(super) line_start: bool,
    /// How many backticks opened the code on this line.
    pub(super) code: usize,
    /// What opened the code block around the text.
    pub(super) fence: Option<Fence>,
    /// Whether the line is a quotation.
    pub(super) is_quote: bool,
    /// Whether nothing but white space has come.
    pub(super) is_first: bool,
    /// Whether a call came before.
    has_calls: bool,
    /// How many of the next bytes are markers before which no call begins.
    clear: usize,
    /// The markers behind the place where more text was needed.
    chain: Chain,
    /// The end of what was passed on.
    recent: String,
}

/// The backticks or tildes that open a code block, or the tag that closes a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fence {
    Line(char, usize),
    Region(&'static str),
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
            clear: 0,
            chain: Chain::default(),
            recent: String::new(),
        }
    }
}

impl Scanner {
    /// How many bytes of the text are ordinary, and what follows them.
    pub(super) fn scan(&mut self, text: &str, end: bool, tools: &Tools) -> (usize, Found) {
        let mut at = 0;
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
            at = next_special(text, at);
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
                _ if !may_begin(rest.as_bytes()) => at += 1,
                Some(b'<' | b'[') if self.code == 0 && self.is_region_edge(rest) => {
                    // Special tokens are no text of the model's.
                    let token = rest.starts_with("<｜").then(|| rest.find('>')).flatten();
                    if let Some(length) = token {
                        let skip = length + 1;
                        return self.stop(text, at, Found::Frame { skip });
                    }
                    at += 1;
                }
                Some(b'<' | b'[') if !end && self.code == 0 && may_be_region_edge(rest) => {
                    return self.stop(text, at, Found::More);
                }
                _ if self.is_code() || at < self.clear => at += 1,
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
        let passes = !self.line_start && !has_special(text);
        if passes {
            self.remember(text);
            self.clear = self.clear.saturating_sub(text.len());
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
        self.clear = self.clear.saturating_sub(at);
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

    /// Whether the text begins with what begins or ends code, or a tool's result.
    fn is_region_edge(&mut self, text: &str) -> bool {
        if text.as_bytes().get(1).is_some_and(|byte| !b"/pctfT\xEF".contains(byte)) {
            return false;
        }
        match self.fence {
            None => {
                let opened = REGIONS.iter().find(|(open, _)| text.starts_with(open));
                self.fence = opened.map(|(_, close)| Fence::Region(close));
                opened.is_some()
            }
            Some(Fence::Region(close)) if text.starts_with(close) => {
                self.fence = None;
                true
            }
            Some(Fence::Region(_) | Fence::Line(..)) => false,
        }
    }

    /// A marker in the middle of text. `None` if it is none.
    fn marker(&mut self, text: &str, at: usize, end: bool, tools: &Tools) -> Option<Found> {
        let rest = from(text, at);
        // What was waited for is at the beginning of the text.
        let chain = std::mem::take(&mut self.chain);
        let chain = if at == 0 { chain } else { Chain::default() };
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
            Tag::Marker(_) | Tag::Edge(_) | Tag::Call => match begins(rest, chain, end, tools) {
                Begins::More(chain) => {
                    self.chain = chain;
                    Some(Found::More)
                }
                Begins::Call if self.is_quoted(upto(text, at)) => Some(QUOTED_MARKED),
                Begins::Call => {
                    let kind = BlockKind::Marked;
                    Some(Found::Block { skip: 0, kind, dialect: dialect(rest) })
                }
                Begins::Nothing(length) => {
                    self.clear = at + length;
                    self.stray(tag, rest)
                }
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
    pub(super) fn recent(&self, before: &str) -> String {
        let mut recent = self.recent.clone();
        recent.push_str(tail(before));
        tail(&recent).to_owned()
    }
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
pub(super) fn run_length(text: &str, mark: char) -> usize {
    text.chars().take(LONGEST_RUN).take_while(|c| *c == mark).count()
}

/// Whether the text may become an edge of a region.
fn may_be_region_edge(text: &str) -> bool {
    REGIONS.iter().any(|(open, close)| may_become(text, open) || may_become(text, close))
}

/// What encloses code, or what a tool has said, and what closes it. Nothing in it
/// is a call of the model's.
const REGIONS: [(&str, &str); 9] = [
    ("<pre>", "</pre>"),
    ("<code>", "</code>"),
    ("<tool_response>", "</tool_response>"),
    ("<tool_result>", "</tool_result>"),
    ("<tool_results>", "</tool_results>"),
    ("<function_results>", "</function_results>"),
    ("<function_response>", "</function_response>"),
    ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    ("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
];

pub(super) const QUOTED_MARKED: Found = Found::Quotation { kind: BlockKind::Marked };

/// Marks before which a quotation begins.
const QUOTES: [char; 6] = ['"', '\'', '“', '‘', '«', '`'];

const REMEMBERED: usize = 240;
const LONGEST_RUN: usize = 32;
