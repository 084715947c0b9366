//! Where the JSON of a call's arguments ends, fragment by fragment.

use crate::wire::Str;

/// How far the JSON of a call has come.
///
/// It only counts brackets and quotes. Whether what stands between them is
/// valid is the business of whoever runs the call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonBalance {
    depth: u32,
    in_string: bool,
    /// Whether a backslash inside a string waits for what it escapes.
    after_backslash: bool,
    /// Whether a container or string has been closed on the outermost level.
    closed: bool,
}

impl JsonBalance {
    /// Takes the next fragment as it is spelled. A fragment is a literal of
    /// its own, so its escapes are whole; those of the JSON inside may be
    /// split.
    pub(super) fn push(&mut self, text: &Str<'_>) {
        let spelled = text.spelled().as_bytes();
        if text.is_escaped() {
            self.push_escaped(spelled);
        } else {
            self.push_plain(spelled);
        }
    }

    /// Whether a whole object, list or text has been written. Numbers and
    /// words have no end of their own.
    pub(super) fn is_whole(&self) -> bool {
        self.closed && !self.is_cut()
    }

    /// Whether something that was opened is not closed.
    pub(super) fn is_cut(&self) -> bool {
        self.depth > 0 || self.in_string
    }

    fn push_plain(&mut self, mut rest: &[u8]) {
        while let [byte, tail @ ..] = rest {
            if self.in_string && !self.after_backslash {
                let Some(at) = memchr::memchr2(b'"', b'\\', rest) else { return };
                self.byte(rest.get(at).copied().unwrap_or_default());
                rest = rest.get(at + 1..).unwrap_or_default();
            } else {
                self.byte(*byte);
                rest = tail;
            }
        }
    }

    fn push_escaped(&mut self, mut rest: &[u8]) {
        while let [byte, tail @ ..] = rest {
            if *byte == b'\\' {
                let (decoded, used) = escape(tail);
                self.byte(decoded);
                rest = tail.get(used..).unwrap_or_default();
            } else if self.in_string && !self.after_backslash {
                // In a literal both quote and backslash are spelled with a
                // backslash, so nothing before the next one matters.
                let Some(at) = memchr::memchr(b'\\', rest) else { return };
                rest = rest.get(at..).unwrap_or_default();
            } else {
                self.byte(*byte);
                rest = tail;
            }
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            if self.after_backslash {
                self.after_backslash = false;
            } else if byte == b'\\' {
                self.after_backslash = true;
            } else if byte == b'"' {
                self.in_string = false;
                self.closed |= self.depth == 0;
            }
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.closed |= self.depth == 0;
            }
            _other => {}
        }
    }
}

/// What the escape behind a backslash stands for, as far as it matters here,
/// and how many bytes it takes.
fn escape(tail: &[u8]) -> (u8, usize) {
    match tail {
        [b'u', digits @ ..] => {
            let digits = digits.get(..4).unwrap_or_default();
            let code = digits.iter().try_fold(0, |code, &digit| {
                char::from(digit).to_digit(16).map(|value| code << 4 | value)
            });
            // What is not ASCII neither opens nor closes anything.
            (code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX), 5)
        }
        [byte @ (b'"' | b'\\' | b'/'), ..] => (*byte, 1),
        [_letter, ..] => (b' ', 1),
        [] => (b' ', 0),
    }
}

#[cfg(test)]
mod tests;
