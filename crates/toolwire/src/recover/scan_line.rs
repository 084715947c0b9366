//! What may begin with a line: calls without markers, and code blocks.

use super::ahead::begins_call;
use super::block::BlockKind;
use super::examples::introduces_example;
use super::fences::is_call_fence;
use super::harmony::{channel, is_rest_of_header};
use super::markers::{Tag, tag};
use super::scan::{Fence, Found, QUOTED_MARKED, Scanner, run_length};
use super::text::{beginning, from, may_become, upto};
use super::tools::Tools;

/// What the beginning of a line is.
pub(super) enum Line {
    /// Ordinary, as far as so many bytes.
    Goes(usize),
    Found(usize, Found),
    /// Not to be told yet, from so many bytes on.
    More(usize),
}

impl Scanner {
    /// Looks at the beginning of a line.
    pub(super) fn line(&mut self, text: &str, at: usize, end: bool, tools: &Tools) -> Line {
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
            // What a tool has said, or the model thinks it has.
            'O' if rest.starts_with(OBSERVATION) => {
                self.is_quote = true;
                false
            }
            'O' if !end && may_become(rest, OBSERVATION) => return self.wait(indent),
            _ => false,
        };
        if !begins_bare {
            return Line::Goes(indent);
        }
        if let Some(header) = rest.strip_prefix("function call<|role_sep|>") {
            return match begins_call(header, end, tools) {
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
        match begins_call(rest, end, tools) {
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
            match begins_call(from(rest, length), end, tools) {
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
}

const OBSERVATION: &str = "Observation:";
const LONGEST_INFO: usize = 32;
const LONGEST_NAME: usize = 64;
