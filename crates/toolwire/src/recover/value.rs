//! One JSON value, written strictly while it is read leniently.

use super::escape::{push_escaped, push_escaped_str};
use super::lexer::Token;

/// Writes the tokens of one value as strict, compact JSON.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueWriter {
    open: Vec<Container>,
    string: bool,
    /// Whether anything but JSON was read.
    pub(super) repaired: bool,
}

/// An array or object that has not ended.
#[derive(Clone, Copy, Debug)]
struct Container {
    close: u8,
    expects: Expects,
    empty: bool,
    /// Where it begins in the output.
    start: usize,
    /// Whether it may be a set of Python, or is one.
    set: Set,
}

/// Whether a container is a set of Python, which looks like an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Possible,
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expects {
    KeyOrEnd,
    Colon,
    Value,
    ValueOrEnd,
    CommaOrEnd,
}

/// How far a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    More,
    Done,
    /// The tokens are not a value, whatever is repaired.
    Bad,
}

impl ValueWriter {
    /// Takes the next token.
    pub(super) fn token(&mut self, token: Token<'_>, out: &mut String) -> Progress {
        match token {
            Token::StringStart => {
                self.string = true;
                if !self.begin(true, out) {
                    return Progress::Bad;
                }
                out.push('"');
                Progress::More
            }
            Token::StringPart(part) => {
                out.push_str(part);
                Progress::More
            }
            Token::StringChar(c) => {
                push_escaped(c, out);
                Progress::More
            }
            Token::StringEnd => {
                self.string = false;
                out.push('"');
                self.ended()
            }
            Token::Word(word) => self.word(word, out),
            Token::Open(open) => self.open(open, out),
            Token::Close(close) => self.close(close, out),
            Token::Comma => self.comma(out),
            Token::Colon => self.colon(out),
        }
    }

    /// Writes the brackets that are missing at the end of the text, if it ends
    /// behind a complete value. Behind a comma or an opening bracket something
    /// else is missing.
    pub(super) fn complete(&mut self, out: &mut String) -> bool {
        if self.string || self.open.last().is_none_or(|c| c.expects != Expects::CommaOrEnd) {
            return false;
        }
        self.repaired = true;
        while let Some(container) = self.open.pop() {
            out.push(char::from(container.close));
        }
        true
    }

    /// Whether the innermost container expects a key here.
    fn expects_key(&self) -> bool {
        self.open.last().is_some_and(|container| {
            container.close == b'}' && container.expects == Expects::KeyOrEnd
        })
    }

    /// Prepares for a value or key at this place: a comma before it if it is not
    /// the first.
    fn begin(&mut self, is_string: bool, out: &mut String) -> bool {
        let Some(container) = self.open.last_mut() else { return true };
        if container.expects == Expects::CommaOrEnd {
            // A comma that was forgotten.
            self.repaired = true;
            container.expects =
                if container.close == b'}' { Expects::KeyOrEnd } else { Expects::ValueOrEnd };
        }
        match container.expects {
            Expects::KeyOrEnd if !is_string => return false,
            Expects::Colon | Expects::CommaOrEnd => return false,
            Expects::KeyOrEnd | Expects::ValueOrEnd => {
                if !container.empty {
                    out.push(',');
                }
                container.empty = false;
            }
            Expects::Value => {}
        }
        true
    }

    /// A key or a value has ended.
    fn ended(&mut self) -> Progress {
        let Some(container) = self.open.last_mut() else { return Progress::Done };
        container.expects = match container.expects {
            Expects::KeyOrEnd => Expects::Colon,
            Expects::Colon | Expects::Value | Expects::ValueOrEnd | Expects::CommaOrEnd => {
                Expects::CommaOrEnd
            }
        };
        Progress::More
    }

    fn word(&mut self, word: &str, out: &mut String) -> Progress {
        let key = self.expects_key();
        if !self.begin(key, out) {
            return Progress::Bad;
        }
        if key {
            self.repaired = true;
            if let Some(container) = self.open.last_mut() {
                container.set = Set::No;
            }
            out.push('"');
            push_escaped_str(word, out);
            out.push('"');
            return self.ended();
        }
        let Some((literal, repaired)) = literal(word) else { return Progress::Bad };
        self.repaired |= repaired;
        out.push_str(&literal);
        self.ended()
    }

    fn open(&mut self, open: u8, out: &mut String) -> Progress {
        if self.open.len() >= DEEPEST || !self.begin(false, out) {
            return Progress::Bad;
        }
        // A tuple of Python is a list.
        let (open, close, expects) = match open {
            b'{' => ('{', b'}', Expects::KeyOrEnd),
            _ => ('[', b']', Expects::ValueOrEnd),
        };
        let start = out.len();
        out.push(open);
        let set = if close == b'}' { Set::Possible } else { Set::No };
        self.open.push(Container { close, expects, empty: true, start, set });
        Progress::More
    }

    fn close(&mut self, close: u8, out: &mut String) -> Progress {
        let close = if close == b')' { b']' } else { close };
        let close = if close == b'}' && self.is_set(out) { b']' } else { close };
        let Some(container) = self.open.last().copied() else { return Progress::Bad };
        let complete = matches!(
            container.expects,
            Expects::KeyOrEnd | Expects::ValueOrEnd | Expects::CommaOrEnd
        );
        if container.close != close || !complete {
            return Progress::Bad;
        }
        // A comma before the bracket.
        self.repaired |= container.expects != Expects::CommaOrEnd && !container.empty;
        self.open.pop();
        out.push(char::from(close));
        self.ended()
    }

    /// Whether the innermost container is a set of Python, which becomes a list: what
    /// looked like the first key of an object has no value.
    fn is_set(&mut self, out: &mut String) -> bool {
        let Some(container) = self.open.last_mut() else { return false };
        if container.set == Set::Possible && container.expects == Expects::Colon {
            let start = container.start;
            // The output is not kept of a value that nobody wants.
            if out.as_bytes().get(start) == Some(&b'{') {
                out.replace_range(start..=start, "[");
            }
            (container.close, container.expects) = (b']', Expects::CommaOrEnd);
            container.set = Set::Yes;
            self.repaired = true;
        }
        container.set == Set::Yes
    }

    fn comma(&mut self, out: &mut String) -> Progress {
        self.is_set(out);
        let Some(container) = self.open.last_mut() else { return Progress::Bad };
        if container.expects != Expects::CommaOrEnd {
            return Progress::Bad;
        }
        container.expects =
            if container.close == b'}' { Expects::KeyOrEnd } else { Expects::ValueOrEnd };
        Progress::More
    }

    fn colon(&mut self, out: &mut String) -> Progress {
        match self.open.last_mut() {
            Some(container) if container.expects == Expects::Colon => {
                container.expects = Expects::Value;
                container.set = Set::No;
                out.push(':');
                Progress::More
            }
            _ => Progress::Bad,
        }
    }
}

/// A word as a JSON literal, and whether it had to be repaired.
pub(super) fn literal(word: &str) -> Option<(String, bool)> {
    let plain = match word {
        "true" | "false" | "null" => return Some((word.to_owned(), false)),
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        "None" | "NULL" | "Null" | "nil" | "undefined" | "NaN" => "null",
        _ => return number(word),
    };
    Some((plain.to_owned(), true))
}

/// A number as JSON spells it.
pub(super) fn number(word: &str) -> Option<(String, bool)> {
    if is_number(word) {
        return Some((word.to_owned(), false));
    }
    // Only the schema says whether the zeros count.
    if word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some((format!("\"{word}\""), true));
    }
    let mut text = word.strip_prefix('+').unwrap_or(word).replace('_', "");
    let negative = text.starts_with('-');
    let digits = text.trim_start_matches('-');
    if digits.starts_with('.') {
        text = format!("{}0{digits}", if negative { "-" } else { "" });
    } else if digits.ends_with('.') {
        text.push('0');
    }
    is_number(&text).then_some((text, true))
}

/// Whether a word is a number of JSON.
pub(super) fn is_number(word: &str) -> bool {
    let bytes = word.strip_prefix('-').unwrap_or(word).as_bytes();
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(bytes);
    if whole == 0 || (whole > 1 && bytes.first() == Some(&b'0')) {
        return false;
    }
    let mut rest = bytes.get(whole..).unwrap_or_default();
    if let [b'.', fraction @ ..] = rest {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = fraction.get(count..).unwrap_or_default();
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            exponent => exponent,
        };
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

const DEEPEST: usize = 64;
