//! The raw text between the tags of a parameter.

use super::raw_end::ESCAPED_BREAK;
use super::text::{from, may_become, upto};

/// A value that is being read.
#[derive(Clone, Debug)]
pub(super) struct RawValue {
    /// The tag that closes it.
    pub(super) closing: String,
    /// Whether the text goes on as it comes. Else it is kept.
    pub(super) streams: bool,
    pub(super) is_text: Option<bool>,
    pub(super) kept: String,
    start: Start,
    /// Whether it is XML's raw text, which ends with `]]>`.
    pub(super) is_cdata: bool,
    /// Whether what was read of it ends with a line break.
    pub(super) ends_line: bool,
    /// Line breaks that end the text so far. The last may belong to the tag.
    line_break: &'static str,
    strips: Strips,
}

/// Which line breaks belong to the tags around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strips {
    Nothing,
    /// One on each side.
    Both,
    /// One on each side, if the first is there.
    Pairs,
}

/// What was read of the beginning of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Nothing,
    /// The line break of the opening tag.
    LineBreak,
    All,
}

impl RawValue {
    pub(super) fn new(
        closing: String,
        streams: bool,
        is_text: Option<bool>,
        strips: Strips,
    ) -> Self {
        Self {
            closing,
            streams,
            is_text,
            kept: String::new(),
            start: Start::Nothing,
            is_cdata: false,
            ends_line: false,
            line_break: "",
            strips,
        }
    }

    /// Whether the next bytes can be passed on.
    #[inline]
    pub(super) fn passes(&self) -> bool {
        self.streams && self.start == Start::All && !self.is_cdata
    }

    /// Whether the beginning was read.
    pub(super) fn has_begun(&self) -> bool {
        self.start == Start::All
    }

    /// Skips the line break behind the opening tag, and what opens raw text of
    /// XML. `None` if more text is needed to tell.
    pub(super) fn skip_start(&mut self, text: &str, end: bool) -> Option<usize> {
        if self.start == Start::All {
            return Some(0);
        }
        if text.is_empty() && !end {
            return None;
        }
        let mut skipped = 0;
        if self.start == Start::Nothing && self.strips != Strips::Nothing {
            if text == "\r" && !end {
                return None;
            }
            skipped =
                if text.starts_with("\r\n") { 2 } else { usize::from(text.starts_with('\n')) };
            if skipped == 0 && self.strips == Strips::Pairs {
                self.strips = Strips::Nothing;
            }
        }
        let rest = from(text, skipped);
        if !end && (may_become(rest, CDATA) || rest.is_empty()) {
            // The line break is taken, so that no more than the mark is waited for.
            self.start = if skipped > 0 { Start::LineBreak } else { self.start };
            return if skipped > 0 { Some(skipped) } else { None };
        }
        self.start = Start::All;
        self.is_cdata = rest.starts_with(CDATA);
        Some(skipped + if self.is_cdata { CDATA.len() } else { 0 })
    }

    /// Passes on the line break that was held back, in case more of the text has come.
    #[inline]
    pub(super) fn push_held(&self, out: &mut String) {
        match self.line_break {
            "" => {}
            "\n" => out.push_str("\\n"),
            _ => out.push_str("\\r\\n"),
        }
    }

    /// More of the text has come and was passed on. The line break at its end is taken
    /// back, because it may belong to the closing tag.
    #[inline]
    pub(super) fn hold_back(&mut self, text: &str, out: &mut String) {
        self.ends_line = text.ends_with('\n');
        self.line_break = match self.ends_line && self.strips != Strips::Nothing {
            true if text.ends_with("\r\n") => "\r\n",
            true => "\n",
            false => "",
        };
        out.truncate(out.len() - ESCAPED_BREAK * self.line_break.len());
    }

    /// What of a piece belongs to the value. One line break at the end is kept
    /// back, since it may belong to the closing tag.
    pub(super) fn piece<'p>(&mut self, piece: &'p str, is_last: bool) -> [&'p str; 2] {
        if self.strips == Strips::Nothing || self.is_cdata {
            return ["", piece];
        }
        if piece.is_empty() {
            if is_last {
                self.line_break = "";
            }
            return ["", ""];
        }
        let before = std::mem::take(&mut self.line_break);
        let (body, line_break) = match piece {
            piece if piece.ends_with("\r\n") => (upto(piece, piece.len() - 2), "\r\n"),
            piece if piece.ends_with('\n') => (upto(piece, piece.len() - 1), "\n"),
            piece => (piece, ""),
        };
        if !is_last {
            self.line_break = line_break;
        }
        [before, body]
    }

    /// Where XML's raw text ends, and the length of what closes it and the value.
    /// `Err` is the place from which on more text is needed.
    pub(super) fn cdata_end(&self, text: &str, end: bool) -> Result<(usize, usize), usize> {
        for at in memchr::memchr_iter(b']', text.as_bytes()) {
            let rest = from(text, at);
            let Some(after) = rest.strip_prefix(CDATA_END) else {
                if !end && may_become(rest, CDATA_END) {
                    return Err(at);
                }
                continue;
            };
            let tag = after.trim_start();
            if tag.starts_with(&self.closing) {
                return Ok((at, rest.len() - tag.len() + self.closing.len()));
            }
            let near = after.len() - tag.len() < LONGEST_GAP;
            if !end && near && (tag.is_empty() || may_become(tag, &self.closing)) {
                return Err(at);
            }
        }
        Err(text.len())
    }
}

const CDATA: &str = "<![CDATA[";
const CDATA_END: &str = "]]>";
const LONGEST_GAP: usize = 64;
