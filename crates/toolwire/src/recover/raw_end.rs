//! Where a raw text ends. Nothing in it is escaped, so its closing tag is told apart
//! from the same characters in the text by what follows.

use super::arguments::Arguments;
use super::escape::push_escaped_until;
use super::lexer::white;
use super::markers::LEAD;
use super::raw_value::RawValue;
use super::tags::{OpenTag, Style, open_tag};
use super::text::{beginning, from, length_without, may_become, upto};

/// Finds where a value ends.
pub(super) struct EndFinder<'i> {
    pub(super) style: &'i Style,
    /// What closes the call.
    pub(super) closing: &'i str,
    pub(super) arguments: &'i Arguments,
}

impl EndFinder<'_> {
    /// Whether a text is passed on as it is.
    #[inline]
    pub(super) fn is_plain(&self, value: &RawValue, text: &str) -> bool {
        let others = [b'"', b'\\', self.style.first()];
        !value.ends_line && length_without(others, text.as_bytes()) == text.len()
    }

    /// Passes a text on, up to its end.
    #[inline]
    pub(super) fn pass_on(
        &self,
        value: &mut RawValue,
        text: &str,
        end: bool,
        pending: &mut String,
    ) -> Found {
        let before = pending.len();
        value.push_held(pending);
        let mut found = None;
        let ends = |at: usize| {
            found = match self.check_at(value, text, at, end) {
                Check::End(closing) => Some(Found::End(at, closing)),
                Check::More => Some(Found::More(at)),
                Check::Text => None,
            };
            found.is_some()
        };
        let mut length = push_escaped_until(text, self.style.first(), pending, ends);
        // The line break before a closing tag may not be whole.
        if found.is_none() && !end && text.ends_with('\r') {
            length -= 1;
            pending.truncate(pending.len() - ESCAPED_BREAK);
        }
        match length {
            0 => pending.truncate(before),
            _ => value.hold_back(upto(text, length), pending),
        }
        found.unwrap_or(Found::More(length))
    }

    /// Passes raw text of XML on or keeps a value, up to its end. One that came before
    /// is left out.
    pub(super) fn keep(
        &self,
        value: &mut RawValue,
        text: &str,
        end: bool,
        pending: &mut String,
    ) -> Found {
        let found = self.find(value, text, end);
        let (length, is_last) = match found {
            Found::End(at, _) => (at, true),
            Found::More(at) => (at, false),
        };
        let text = upto(text, length);
        if !text.is_empty() {
            value.ends_line = text.ends_with('\n');
        }
        for part in value.piece(text, is_last) {
            match value.streams {
                true => self.arguments.raw_piece(part, pending),
                false => value.kept.push_str(part),
            }
        }
        found
    }

    /// Where the value ends in the text.
    fn find(&self, value: &RawValue, text: &str, end: bool) -> Found {
        if value.is_cdata {
            return match value.cdata_end(text, end) {
                Ok((at, closing)) => Found::End(at, closing),
                Err(at) => Found::More(at),
            };
        }
        for at in memchr::memchr_iter(self.style.first(), text.as_bytes()) {
            match self.check_at(value, text, at, end) {
                Check::End(closing) => return Found::End(at, closing),
                Check::More => return Found::More(at),
                Check::Text => {}
            }
        }
        // The line break before a closing tag may not be whole.
        let half = !end && text.ends_with('\r');
        Found::More(text.len() - usize::from(half))
    }

    /// Whether the value ends at a byte of the text.
    #[inline]
    fn check_at(&self, value: &RawValue, text: &str, at: usize, end: bool) -> Check {
        let bytes = text.as_bytes();
        let line = match at.checked_sub(1) {
            Some(before) => bytes.get(before) == Some(&b'\n'),
            None => value.ends_line,
        };
        let second = bytes.get(at + 1);
        if !line && second.is_some() && second != self.style.close.as_bytes().get(1) {
            return Check::Text;
        }
        self.check(value, from(text, at), line, end)
    }

    /// Whether the value ends where the text begins. `line` says that a line begins
    /// there.
    fn check(&self, value: &RawValue, text: &str, line: bool, end: bool) -> Check {
        let closings = [(value.closing.as_str(), value.closing.len()), (self.closing, 0)];
        for (closing, length) in closings {
            if !closing.is_empty() && text.starts_with(closing) {
                return match self.goes_on(from(text, closing.len()), end) {
                    Some(true) => Check::End(length),
                    Some(false) => Check::Text,
                    None => Check::More,
                };
            }
        }
        if line && text.starts_with(&self.style.open) {
            match open_tag(self.style, beginning(text, LONGEST_KEY)) {
                Ok(Some(tag)) if self.is_next_member(&tag) => return Check::End(0),
                Err(()) if !end && text.len() < LONGEST_KEY => return Check::More,
                Ok(_) | Err(()) => return Check::Text,
            }
        }
        let more = !end
            && (may_become(text, &value.closing)
                || may_become(text, self.closing)
                || (line && may_become(text, &self.style.open)));
        if more { Check::More } else { Check::Text }
    }

    /// Whether a member that has not been given begins with the tag.
    fn is_next_member(&self, tag: &OpenTag) -> bool {
        matches!(&*tag.word, "parameter" | "param")
            && tag.name.as_deref().is_some_and(|name| self.arguments.lacks(name))
    }

    /// Whether the text behind a closing tag is what may follow it: another tag or
    /// the end.
    fn goes_on(&self, text: &str, end: bool) -> Option<bool> {
        let rest = from(text, gap(text));
        if text.len() - rest.len() >= LONGEST_GAP {
            return Some(true);
        }
        if rest.is_empty() || (rest == "\\" && !end) {
            return end.then_some(true);
        }
        let follows = ["<", LEAD, "```"];
        if follows.iter().any(|mark| rest.starts_with(mark)) {
            return Some(true);
        }
        (end || !follows.iter().any(|mark| may_become(rest, mark))).then_some(false)
    }
}

/// Where a value ends.
pub(super) enum Found {
    /// At this byte; the closing tag is this long.
    End(usize, usize),
    /// Not before this byte, from which on more text is needed.
    More(usize),
}

/// Whether a value ends.
enum Check {
    /// It does; the closing tag is this long.
    End(usize),
    Text,
    More,
}

/// How much white space the text begins with. Some templates escape their line
/// breaks.
pub(super) fn gap(text: &str) -> usize {
    let mut at = white(text);
    while from(text, at).starts_with("\\n") {
        at += 2;
        at += white(from(text, at));
    }
    at
}

/// The length of one byte of a line break in a JSON string.
pub(super) const ESCAPED_BREAK: usize = 2;
pub(super) const LONGEST_KEY: usize = 512;
pub(super) const LONGEST_GAP: usize = 256;
