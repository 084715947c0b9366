//! Finds where the JSON of a call's arguments ends, fragment by fragment.

use crate::wire::Str;

/// Counts the brackets and quotes of a call's JSON. It does not check whether
/// the JSON is valid; that is up to whoever runs the call.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::codec::chat) struct JsonBalance {
    depth: u32,
    in_string: bool,
    /// Whether the last character was a backslash inside a string.
    after_backslash: bool,
    /// Whether a container or string has been closed at the outermost level.
    closed: bool,
}

impl JsonBalance {
    /// Takes the next fragment, with its escapes. Each fragment is a string of its
    /// own, so its escapes are whole; those of the JSON inside may be split.
    pub(in crate::codec::chat) fn push(&mut self, text: &Str<'_>) {
        let spelled = text.spelled().as_bytes();
        if text.is_escaped() {
            self.push_escaped(spelled);
        } else {
            self.push_plain(spelled);
        }
    }

    /// Whether an object, list or string is complete. Numbers and words have no
    /// end of their own.
    pub(super) fn is_whole(&self) -> bool {
        self.closed && !self.is_cut()
    }

    /// Whether something is open.
    pub(in crate::codec::chat) fn is_cut(&self) -> bool {
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
                // In a string both quote and backslash are escaped with a
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

/// The character that is escaped after a backslash, as far as it matters here,
/// and how many bytes the escape takes.
fn escape(tail: &[u8]) -> (u8, usize) {
    match tail {
        [b'u', digits @ ..] => {
            let digits = digits.get(..4).unwrap_or_default();
            let code = digits.iter().try_fold(0, |code, &digit| {
                char::from(digit).to_digit(16).map(|value| code << 4 | value)
            });
            // Only ASCII characters open or close anything.
            (code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX), 5)
        }
        [byte @ (b'"' | b'\\' | b'/'), ..] => (*byte, 1),
        [_letter, ..] => (b' ', 1),
        [] => (b' ', 0),
    }
}

#[cfg(test)]
mod tests;
