//! Prose as words, quotations, paths, numbers and marks.

use std::collections::HashMap;

use super::lexicon::PREPOSITIONS;
use super::shape;
use super::stem::stem;

/// A piece of a sentence.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// What it says: a quotation without its quotes.
    pub(super) text: &'t str,
    /// The word in lower case, with straight apostrophes. Empty unless it is a word.
    pub(super) lower: String,
    /// What its forms have in common. Empty unless it is a word.
    pub(super) stem: String,
    /// Where it starts in the paragraph.
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Quoted,
    Code,
    Url,
    Email,
    Path,
    /// A name that no dictionary has: `ORD-17`, `NVDA`, `idx_email`, `2.8.1`.
    Identifier,
    Number,
    /// Year, month and day.
    Date,
    /// Hours and minutes.
    Time,
    Phone,
    /// Punctuation.
    Mark(char),
}

impl Token<'_> {
    /// A comma of our own.
    pub(super) fn comma() -> Self {
        Self {
            kind: Kind::Mark(','),
            text: ",",
            lower: String::new(),
            stem: String::new(),
            start: 0,
            end: 0,
        }
    }

    pub(super) fn is_mark(&self) -> bool {
        matches!(self.kind, Kind::Mark(_))
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.lower == word
    }

    pub(super) fn any(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }

    pub(super) fn is_preposition(&self) -> bool {
        PREPOSITIONS.iter().any(|(preposition, _)| self.is(preposition))
    }

    pub(super) fn is_capitalized(&self) -> bool {
        self.kind == Kind::Word && self.text.chars().next().is_some_and(char::is_uppercase)
    }
}

/// Questions about one token of a sentence. None is asked of a token that is not
/// there.
pub(super) trait TokenSlice {
    /// Whether the token is the word.
    fn is_at(&self, at: usize, word: &str) -> bool;

    /// Whether the token is one of the words.
    fn any_at(&self, at: usize, words: &[&str]) -> bool;
}

impl TokenSlice for [Token<'_>] {
    fn is_at(&self, at: usize, word: &str) -> bool {
        self.get(at).is_some_and(|token| token.is(word))
    }

    fn any_at(&self, at: usize, words: &[&str]) -> bool {
        self.get(at).is_some_and(|token| token.any(words))
    }
}

/// Cuts a paragraph into tokens.
pub(super) fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut tokenizer = Tokenizer { text, at: 0, tokens: Vec::new(), barren: HashMap::new() };
    while tokenizer.step() {}
    tokenizer.tokens
}

struct Tokenizer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token<'t>>,
    /// Up to where there is no such closing quote. It keeps a text of nothing but
    /// opening quotes from being searched again and again.
    barren: HashMap<&'t str, usize>,
}

impl<'t> Tokenizer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self) -> bool {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        let Some(first) = trimmed.chars().next() else { return false };
        if !self.span(first) {
            self.chunk();
        }
        true
    }

    /// A quotation or a piece of code.
    fn span(&mut self, first: char) -> bool {
        let rest = self.rest();
        let (kind, open, close): (Kind, usize, &str) = match first {
            '`' => {
                let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
                (Kind::Code, ticks, rest.get(..ticks).unwrap_or("`"))
            }
            '"' => (Kind::Quoted, 1, "\""),
            '\u{201c}' => (Kind::Quoted, 3, "\u{201d}"),
            '\u{2018}' => (Kind::Quoted, 3, "\u{2019}"),
            '\u{ab}' => (Kind::Quoted, 2, "\u{bb}"),
            '\'' => (Kind::Quoted, 1, "'"),
            _ => return false,
        };
        let inner = rest.get(open..).unwrap_or_default();
        let window = shape::prefix(inner, LONGEST_SPAN);
        let single = matches!(first, '\'' | '\u{2018}');
        let begin = self.at + open;
        let known =
            self.barren.get(close).map_or(0, |upto| upto.saturating_sub(begin)).min(window.len());
        let unknown = window.get(known..).unwrap_or_default();
        let found = if single { closing_apostrophe(unknown, close) } else { unknown.find(close) };
        let Some(length) = found.map(|at| at + known) else {
            self.barren.insert(close, begin + (window.len() + 1).saturating_sub(close.len()));
            self.push(Kind::Mark(first), 0, open);
            self.at += open;
            return true;
        };
        let value = inner.get(..length).unwrap_or_default();
        let value = if kind == Kind::Code { value.trim() } else { value };
        self.tokens.push(Token {
            kind,
            text: value,
            lower: String::new(),
            stem: String::new(),
            start: self.at,
            end: begin + length + close.len(),
        });
        self.at = begin + length + close.len();
        true
    }

    /// What stands between white space and quotes.
    fn chunk(&mut self) {
        let rest = self.rest();
        let length = rest
            .char_indices()
            .find(|(at, c)| {
                c.is_whitespace()
                    || (*at > 0 && matches!(c, '"' | '`' | '\u{201c}' | '\u{201d}' | '\u{2014}'))
            })
            .map_or(rest.len(), |(at, _)| at);
        let chunk = rest.get(..length.max(1)).or_else(|| rest.get(..rest.len())).unwrap_or(rest);
        let (mut from, mut to) = (0, chunk.len());
        while let Some(c) = chunk.get(from..to).and_then(|core| core.chars().next()) {
            if !matches!(c, '(' | '[' | '{' | '*' | '\u{2014}' | '\u{2013}' | ')' | ']' | ',' | ';')
            {
                break;
            }
            self.push(Kind::Mark(c), from, from + c.len_utf8());
            from += c.len_utf8();
        }
        let mut marks = Vec::new();
        while let Some(c) = chunk.get(from..to).and_then(|core| core.chars().next_back()) {
            if !is_closing(c) {
                break;
            }
            to -= c.len_utf8();
            marks.push((c, to));
        }
        let core = chunk.get(from..to).unwrap_or_default();
        if !core.is_empty() {
            self.core(core, from, to);
        }
        let ellipsis = marks.iter().filter(|(c, _)| *c == '.').count() > 1;
        for (c, at) in marks.iter().rev() {
            let abbreviated = *c == '.' && is_abbreviation(core);
            let c = if *c == '.' && ellipsis { '\u{2026}' } else { *c };
            if !abbreviated {
                self.push(Kind::Mark(c), *at, at + c.len_utf8());
            }
        }
        self.at += chunk.len();
    }

    fn core(&mut self, core: &'t str, from: usize, to: usize) {
        // 1200x628 is two numbers.
        if let Some((left, right)) = core.split_once(['x', '\u{d7}'])
            && shape::is_digits(left)
            && shape::is_digits(right)
        {
            self.push(Kind::Number, from, from + left.len());
            self.push(Kind::Number, to - right.len(), to);
            return;
        }
        // A 3-day forecast is one of 3 days.
        if let Some((count, unit)) = core.split_once('-')
            && shape::is_digits(count)
            && COUNTED.contains(&unit)
        {
            self.push(Kind::Number, from, from + count.len());
            self.push(Kind::Word, to - unit.len(), to);
            return;
        }
        let says_something = core.chars().any(|c| c.is_alphanumeric() || c.is_ascii());
        match core.chars().next().filter(|_| !says_something) {
            Some(symbol) => self.push(Kind::Mark(symbol), from, to),
            None => self.push(shape::kind_of(core), from, to),
        }
    }

    fn push(&mut self, kind: Kind, from: usize, to: usize) {
        let (start, end) = (self.at + from, self.at + to);
        let text = self.text.get(start..end).unwrap_or_default();
        let (mut lower, mut stemmed) = (String::new(), String::new());
        if matches!(kind, Kind::Word | Kind::Identifier | Kind::Path) {
            lower = text.to_lowercase().replace('\u{2019}', "'");
            stemmed = stem(&lower);
        }
        self.tokens.push(Token { kind, text, lower, stem: stemmed, start, end });
    }
}

/// Where a quotation in single quotes ends: an apostrophe inside a word is no
/// end.
fn closing_apostrophe(text: &str, close: &str) -> Option<usize> {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_close = close.starts_with(c);
        let after = text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        if is_close && !before.is_whitespace() && !after.is_some_and(char::is_alphanumeric) {
            return Some(at);
        }
        before = c;
    }
    None
}

fn is_closing(c: char) -> bool {
    ".,;:!?)]}*'\"\u{2026}\u{201d}\u{2019}".contains(c)
}

fn is_abbreviation(word: &str) -> bool {
    ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

const ABBREVIATIONS: &[&str] =
    &["e.g", "i.e", "mr", "mrs", "ms", "dr", "st", "vs", "prof", "approx", "a.m", "p.m"];

/// A quotation that does not end within this many bytes is none.
const LONGEST_SPAN: usize = 4096;

/// What a number with a hyphen counts.
const COUNTED: &[&str] = &[
    "second", "sec", "minute", "min", "hour", "day", "night", "week", "month", "year", "character",
    "char", "digit", "line", "page", "word", "sentence", "row", "column", "person", "item", "star",
    "percent", "degree", "mile", "km", "meter", "metre", "pixel", "bit", "step",
];
