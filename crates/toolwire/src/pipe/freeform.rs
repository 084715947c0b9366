//! The text inside `{"input": "…"}`, while it is being written.
//!
//! A freeform tool goes up as a function of one text where the upstream has no
//! freeform tools. The client wants the text as it grows.

use crate::wire::Str;

/// The input of one freeform call, unwrapped piece by piece.
#[derive(Debug, Default)]
pub(super) struct FreeformInput {
    state: FreeformPhase,
    /// Everything that came before the text began, or all of it if it does not
    /// begin as it should.
    held: String,
    /// An escape whose end has not come, without its backslash.
    escape: String,
    /// The first half of a surrogate pair.
    high: Option<u16>,
    /// What the last piece gave.
    text: String,
    /// Whether something other than the end came behind the text.
    odd: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FreeformPhase {
    /// Before the text, at this many characters of the opening.
    #[default]
    Opening,
    /// In the text.
    Inside,
    /// In an escape of the text.
    Escape,
    /// Behind the text.
    Behind,
    /// Not the shape that was asked for.
    Other,
}

/// What a piece of the call gave.
pub(super) enum FreeformStep<'s> {
    /// More text.
    Text(&'s str),
    /// Nothing yet.
    Nothing,
}

/// How a call ended.
pub(super) struct FreeformEnd {
    /// Text that was held back.
    pub(super) rest: Option<String>,
    /// Whether the model wrote more than the text.
    pub(super) odd: bool,
}

impl FreeformInput {
    /// Takes the next piece of the call's JSON.
    pub(super) fn push(&mut self, json: &Str<'_>) -> FreeformStep<'_> {
        self.text.clear();
        let json = json.decode();
        let mut rest = json.as_ref();
        if self.state == FreeformPhase::Opening {
            self.held.push_str(rest);
            // Blanks decide nothing, and there may be any number of them.
            let opening = if rest.trim().is_empty() { Opening::Open } else { opening(&self.held) };
            match opening {
                Opening::Begun(at) => {
                    self.state = FreeformPhase::Inside;
                    let held = std::mem::take(&mut self.held);
                    self.inside(held.get(at..).unwrap_or_default());
                }
                Opening::Open => {}
                Opening::Other => self.state = FreeformPhase::Other,
            }
            rest = "";
        }
        if self.state == FreeformPhase::Other {
            self.held.push_str(rest);
        } else {
            self.inside(rest);
        }
        if self.text.is_empty() { FreeformStep::Nothing } else { FreeformStep::Text(&self.text) }
    }

    /// The call is over.
    pub(super) fn finish(&mut self) -> FreeformEnd {
        let rest = match self.state {
            FreeformPhase::Opening | FreeformPhase::Other => {
                let held = std::mem::take(&mut self.held);
                Some(super::call_restorer::freeform_input(held))
            }
            FreeformPhase::Inside | FreeformPhase::Escape | FreeformPhase::Behind => None,
        };
        FreeformEnd { rest: rest.filter(|rest| !rest.is_empty()), odd: self.odd }
    }

    fn inside(&mut self, mut rest: &str) {
        while !rest.is_empty() {
            match self.state {
                FreeformPhase::Inside => {
                    let Some(stop) = memchr::memchr2(b'"', b'\\', rest.as_bytes()) else {
                        self.plain(rest);
                        return;
                    };
                    let (run, tail) = rest.split_at(stop);
                    self.plain(run);
                    self.state = if tail.starts_with('"') {
                        FreeformPhase::Behind
                    } else {
                        FreeformPhase::Escape
                    };
                    rest = tail.get(1..).unwrap_or_default();
                }
                FreeformPhase::Escape => {
                    let Some(next) = rest.chars().next() else { return };
                    self.escape.push(next);
                    rest = rest.get(next.len_utf8()..).unwrap_or_default();
                    if !self.escape.starts_with('u') || self.escape.len() >= 5 {
                        self.unescape();
                        self.state = FreeformPhase::Inside;
                    }
                }
                FreeformPhase::Behind => {
                    self.odd |= rest.trim().trim_start_matches('}').trim() != "";
                    return;
                }
                FreeformPhase::Opening | FreeformPhase::Other => return,
            }
        }
    }

    fn plain(&mut self, run: &str) {
        if !run.is_empty() {
            self.lone();
            self.text.push_str(run);
        }
    }

    fn unescape(&mut self) {
        let escape = std::mem::take(&mut self.escape);
        let decoded = match escape.as_str() {
            "b" => '\u{8}',
            "f" => '\u{c}',
            "n" => '\n',
            "r" => '\r',
            "t" => '\t',
            other => match other.strip_prefix('u') {
                Some(digits) => return self.unit(u16::from_str_radix(digits, 16).ok()),
                None => other.chars().next().unwrap_or('\\'),
            },
        };
        self.lone();
        self.text.push(decoded);
    }

    /// Half a pair, or a character of its own.
    fn unit(&mut self, unit: Option<u16>) {
        let unit = unit.unwrap_or(0xfffd);
        let first = self.high.take();
        if let Some(first) = first
            && let Some(Ok(pair)) = char::decode_utf16([first, unit]).next()
            && pair.len_utf16() == 2
        {
            return self.text.push(pair);
        }
        if first.is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        match char::from_u32(u32::from(unit)) {
            Some(single) => self.text.push(single),
            None if (0xd800..0xdc00).contains(&unit) => self.high = Some(unit),
            None => self.text.push(char::REPLACEMENT_CHARACTER),
        }
    }

    /// Half a pair that stays alone is no character.
    fn lone(&mut self) {
        if self.high.take().is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

enum Opening {
    /// The text begins at this byte.
    Begun(usize),
    /// It may still.
    Open,
    /// It does not.
    Other,
}

/// Looks for `{"input":"` with any spaces between.
fn opening(json: &str) -> Opening {
    let mut rest = json.trim_start();
    for (expected, spaces) in [("{", true), ("\"input\"", true), (":", true), ("\"", false)] {
        if rest.len() < expected.len() {
            return if expected.starts_with(rest) { Opening::Open } else { Opening::Other };
        }
        match rest.strip_prefix(expected) {
            Some(after) if spaces => rest = after.trim_start(),
            Some(after) => rest = after,
            None => return Opening::Other,
        }
    }
    Opening::Begun(json.len() - rest.len())
}
