//! JSON as models write it, cut into tokens while it arrives.
//!
//! Besides JSON the lexer takes what models confuse with it: Python's quotes
//! and literals, bare keys, comments, raw line breaks in strings, and the quote
//! marks of the Gemma family. What it hands on of a string is always valid
//! inside a JSON string, so that a value can be passed on before it has ended.

use memchr::memchr3;

use super::Step;
use super::text::{beginning, from, plain_length, upto};
use super::value::Progress;

/// Cuts text into tokens. It keeps only what a string needs, so it can stop
/// after any byte and go on with the next piece.
#[derive(Clone, Debug, Default)]
pub(super) struct Lexer {
    string: Option<Quote>,
    /// Whether the text ended inside a word, which may not be whole.
    word_is_cut: bool,
    /// Whether something was read that is not JSON.
    pub(super) repaired: bool,
}

/// What ends a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    Double,
    Single,
    /// Python's long strings.
    Triple(&'static str),
    /// A mark of a dialect, between which text is raw.
    Mark(&'static str),
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// `{`, `[` or `(`.
    Open(u8),
    /// `}`, `]` or `)`.
    Close(u8),
    Comma,
    /// `:`, or `=` where Python writes an argument.
    Colon,
    StringStart,
    /// Part of a string, escaped as in JSON.
    StringPart(&'t str),
    /// A character of a string that was escaped in a way that JSON does not have.
    StringChar(char),
    StringEnd,
    /// A number, a literal or a bare word.
    Word(&'t str),
}

/// What the lexer found at the beginning of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexed<'t> {
    Token(Token<'t>),
    /// The text ends before the token does.
    More,
    /// The text goes on with something that is not a token.
    Stop,
}

impl Lexer {
    /// Whether the text has ended inside a string, a number or another word.
    pub(super) fn is_cut(&self) -> bool {
        self.string.is_some() || self.word_is_cut
    }

    /// How many bytes the text begins with that are inside a string and as JSON
    /// writes them, so that they can be passed on as they are.
    pub(super) fn strict_run(&self, text: &str) -> usize {
        if self.string != Some(Quote::Double) {
            return 0;
        }
        let mut at = 0;
        loop {
            at += plain_length(from(text, at));
            match text.as_bytes().get(at..) {
                Some([b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..]) => {
                    at += 2
                }
                Some(_) | None => return at,
            }
        }
    }

    /// Hands tokens on until the text or what takes them has ended, each with
    /// whether something was repaired so far. How many bytes were taken.
    pub(super) fn feed(
        &mut self,
        text: &str,
        end: bool,
        mut take: impl FnMut(Token<'_>, bool) -> Progress,
    ) -> (usize, Step) {
        let mut at = 0;
        loop {
            let (length, lexed) = self.next(from(text, at), end);
            let progress = match lexed {
                Lexed::Token(token) => take(token, self.repaired),
                Lexed::More => return (at + length, Step::More),
                Lexed::Stop => return (at + length, Step::Stop),
            };
            match progress {
                Progress::More => at += length,
                Progress::Done => return (at + length, Step::Done),
                // White space before a token may have been taken before.
                Progress::Bad => return (at + white(from(text, at)), Step::Stop),
            }
        }
    }

    /// The next token and how many bytes it takes, white space before it
    /// included. `end` says that no more text will come.
    pub(super) fn next<'t>(&mut self, text: &'t str, end: bool) -> (usize, Lexed<'t>) {
        match self.string {
            Some(quote) => self.in_quotes(quote, text, end),
            None => self.between(text, end),
        }
    }

    fn between<'t>(&mut self, text: &'t str, end: bool) -> (usize, Lexed<'t>) {
        let mut at = 0;
        loop {
            at += white(from(text, at));
            let rest = from(text, at);
            let comment = match rest.as_bytes() {
                [] => return (at, Lexed::More),
                [b'/'] if !end => return (at, Lexed::More),
                [b'/', b'/', ..] | [b'#', ..] => end_of_line(comment_of(rest), end),
                [b'/', b'*', ..] => comment_of(rest).find("*/").map(|length| length + 2),
                _ => break,
            };
            // A comment that has not ended is read again from its beginning, so
            // it must be short.
            let Some(length) = comment else {
                let long = rest.len() >= LONGEST_COMMENT || end;
                return (at, if long { Lexed::Stop } else { Lexed::More });
            };
            self.repaired = true;
            at += length;
        }
        let rest = from(text, at);
        let (length, lexed) = self.token(rest, end);
        (at + length, lexed)
    }

    fn token<'t>(&mut self, rest: &'t str, end: bool) -> (usize, Lexed<'t>) {
        let bytes = rest.as_bytes();
        let punctuation = match bytes {
            [open @ (b'{' | b'[' | b'('), ..] => Token::Open(*open),
            [close @ (b'}' | b']' | b')'), ..] => Token::Close(*close),
            [b',', ..] => Token::Comma,
            [b':', ..] => Token::Colon,
            [b'=', ..] => Token::Colon,
            [b'"' | b'\'', ..] => return self.opening(rest, end),
            [b'<', ..] => return self.mark(rest, end),
            _ => return self.word(rest, end),
        };
        (1, Lexed::Token(punctuation))
    }

    fn opening<'t>(&mut self, rest: &'t str, end: bool) -> (usize, Lexed<'t>) {
        for triple in ["\"\"\"", "'''"] {
            if rest.starts_with(triple) {
                self.repaired = true;
                self.string = Some(Quote::Triple(triple));
                return (3, Lexed::Token(Token::StringStart));
            }
            // One quote or two may be the beginning of three.
            if rest.len() < 3 && triple.starts_with(rest) && !end {
                return (0, Lexed::More);
            }
        }
        let double = rest.starts_with('"');
        self.repaired |= !double;
        self.string = Some(if double { Quote::Double } else { Quote::Single });
        (1, Lexed::Token(Token::StringStart))
    }

    fn mark<'t>(&mut self, rest: &'t str, end: bool) -> (usize, Lexed<'t>) {
        for mark in MARKS {
            if rest.starts_with(mark) {
                self.string = Some(Quote::Mark(mark));
                return (mark.len(), Lexed::Token(Token::StringStart));
            }
        }
        let more = !end && MARKS.iter().any(|mark| mark.starts_with(rest));
        (0, if more { Lexed::More } else { Lexed::Stop })
    }

    fn word<'t>(&mut self, rest: &'t str, end: bool) -> (usize, Lexed<'t>) {
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if length == 0 || length > LONGEST_WORD {
            return (0, Lexed::Stop);
        }
        if length == rest.len() {
            // At the end nobody knows whether all of the word is there.
            self.word_is_cut = end;
            return (if end { length } else { 0 }, Lexed::More);
        }
        (length, Lexed::Token(Token::Word(upto(rest, length))))
    }

    fn in_quotes<'t>(&mut self, quote: Quote, text: &'t str, end: bool) -> (usize, Lexed<'t>) {
        let strict = self.strict_run(text);
        if strict > 0 {
            return (strict, Lexed::Token(Token::StringPart(upto(text, strict))));
        }
        let needle = match quote {
            Quote::Double => b'"',
            Quote::Single => b'\'',
            Quote::Triple(mark) | Quote::Mark(mark) => {
                mark.as_bytes().first().copied().unwrap_or(b'"')
            }
        };
        // A window, because what is found behind an odd character would be searched
        // for again.
        let window = beginning(text, WINDOW);
        let found = memchr3(needle, b'\\', b'\n', window.as_bytes()).unwrap_or(window.len());
        let plain = upto(window, found);
        if has_odd(plain) {
            let place = plain.bytes().position(is_odd).unwrap_or_default();
            if place > 0 {
                return (place, Lexed::Token(Token::StringPart(upto(plain, place))));
            }
            return self.odd(plain);
        }
        if found > 0 {
            return (found, Lexed::Token(Token::StringPart(plain)));
        }
        if text.is_empty() {
            return (0, Lexed::More);
        }
        if text.starts_with('\n') {
            return self.odd(text);
        }
        if text.starts_with('\\') {
            return match quote {
                Quote::Mark(_) => (1, Lexed::Token(Token::StringChar('\\'))),
                Quote::Double | Quote::Single | Quote::Triple(_) => self.escape(text, end),
            };
        }
        self.quote(quote, text, end)
    }

    /// The text begins with a character that JSON escapes.
    fn odd<'t>(&mut self, text: &'t str) -> (usize, Lexed<'t>) {
        let odd = text.chars().next().unwrap_or(' ');
        self.repaired |= odd != '"';
        (odd.len_utf8(), Lexed::Token(Token::StringChar(odd)))
    }

    /// The text begins with what may end the string.
    fn quote<'t>(&mut self, quote: Quote, text: &'t str, end: bool) -> (usize, Lexed<'t>) {
        let ends = match quote {
            Quote::Double => Some(1),
            // An apostrophe is not the end of a string.
            Quote::Single => match after_white(beginning(from(text, 1), WINDOW)) {
                None if !end && text.len() <= WINDOW => return (0, Lexed::More),
                None => Some(1),
                Some(next) => matches!(next, ',' | ':' | '}' | ']' | ')' | '=').then_some(1),
            },
            Quote::Triple(mark) | Quote::Mark(mark) => match text.starts_with(mark) {
                true => Some(mark.len()),
                false if !end && mark.starts_with(text) => return (0, Lexed::More),
                false => None,
            },
        };
        match ends {
            Some(length) => {
                self.string = None;
                (length, Lexed::Token(Token::StringEnd))
            }
            None => {
                let next = text.chars().next().unwrap_or(' ');
                (next.len_utf8(), Lexed::Token(Token::StringChar(next)))
            }
        }
    }

    /// The text begins with a backslash.
    fn escape<'t>(&mut self, text: &'t str, end: bool) -> (usize, Lexed<'t>) {
        let mut chars = text.chars();
        chars.next();
        let Some(escaped) = chars.next() else { return (0, Lexed::More) };
        let taken = 1 + escaped.len_utf8();
        let as_is = (taken, Lexed::Token(Token::StringPart(upto(text, taken))));
        match escaped {
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => as_is,
            'u' => self.unicode(text, end),
            'x' => {
                let digits = text.get(2..4);
                if digits.is_none() && !end && text.len() < 4 {
                    return (0, Lexed::More);
                }
                self.repaired = true;
                let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                match code {
                    Some(code) => (4, Lexed::Token(Token::StringChar(char::from(code)))),
                    None => (1, Lexed::Token(Token::StringChar('\\'))),
                }
            }
            '\'' => {
                self.repaired = true;
                (taken, Lexed::Token(Token::StringChar('\'')))
            }
            // Python continues a line, and keeps the backslash of an escape that
            // it does not know.
            '\n' => {
                self.repaired = true;
                (taken, Lexed::Token(Token::StringPart("")))
            }
            _ => {
                self.repaired = true;
                (1, Lexed::Token(Token::StringChar('\\')))
            }
        }
    }

    fn unicode<'t>(&mut self, text: &'t str, end: bool) -> (usize, Lexed<'t>) {
        let unit = |at: usize| {
            let digits = text.get(at + 2..at + 6)?;
            let escaped = text.get(at..at + 2)? == "\\u";
            let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            (escaped && hex).then(|| u16::from_str_radix(digits, 16).ok()).flatten()
        };
        let Some(first) = unit(0) else {
            if !end && text.len() < 6 {
                return (0, Lexed::More);
            }
            self.repaired = true;
            return (1, Lexed::Token(Token::StringChar('\\')));
        };
        let length = match first {
            0xD800..=0xDBFF => match unit(6) {
                Some(0xDC00..=0xDFFF) => 12,
                None if !end && text.len() < 12 => return (0, Lexed::More),
                _ => 0,
            },
            0xDC00..=0xDFFF => 0,
            _ => 6,
        };
        if length == 0 {
            // Half a character. No text can hold it.
            self.repaired = true;
            return (6, Lexed::Token(Token::StringChar(char::REPLACEMENT_CHARACTER)));
        }
        (length, Lexed::Token(Token::StringPart(upto(text, length))))
    }
}

/// How much white space the text begins with.
pub(super) fn white(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The first character that is not white space.
fn after_white(text: &str) -> Option<char> {
    text.trim_start().chars().next()
}

/// As much of a text as a comment may take.
fn comment_of(text: &str) -> &str {
    beginning(text, LONGEST_COMMENT)
}

fn end_of_line(text: &str, end: bool) -> Option<usize> {
    text.find('\n').or_else(|| end.then_some(text.len()))
}

/// Whether a byte must be escaped in a JSON string, backslashes aside.
fn is_odd(byte: u8) -> bool {
    byte < b' ' || byte == b'"'
}

/// Whether any byte is odd. Without an early exit the compiler uses vectors.
fn has_odd(text: &str) -> bool {
    text.bytes().fold(false, |found, byte| found | is_odd(byte))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | '$')
}

/// Quote marks of the Gemma family.
const MARKS: [&str; 2] = ["<escape>", "<|\"|>"];
const WINDOW: usize = 512;
const LONGEST_WORD: usize = 512;
const LONGEST_COMMENT: usize = 4096;
