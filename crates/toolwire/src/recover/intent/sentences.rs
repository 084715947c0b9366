//! The sentences of an answer that are the model's own words to its reader.

use super::lexicon::{INTRODUCES_SPEECH, PHRASES_OF_EXAMPLES};
use super::tokens::{Kind, Token, tokenize};

/// A run of prose without code blocks, quotations, tables and headings.
#[derive(Debug)]
pub(super) struct Paragraph<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token<'t>>,
    /// Whether the text before it says that this is an example or somebody's words.
    pub(super) is_quoted: bool,
    /// Whether it is part of a list.
    pub(super) is_item: bool,
    /// Whether nothing follows it.
    pub(super) is_last: bool,
}

impl<'t> Paragraph<'t> {
    /// Its sentences, each with the mark that ends it.
    pub(super) fn sentences(&self) -> impl Iterator<Item = &[Token<'t>]> {
        self.tokens
            .split_inclusive(|token| matches!(token.kind, Kind::Mark('.' | '!' | '?' | '\u{2026}')))
    }
}

/// The paragraphs of an answer, one at a time. Only those near its end are read:
/// what a model is about to do, it says last.
#[derive(Debug)]
pub(super) struct Paragraphs<'t> {
    text: &'t str,
    at: usize,
    /// What closes the code block that is open.
    fence: Option<&'static str>,
    /// Whether the last paragraph says that the next one is an example.
    is_quoted: bool,
}

impl<'t> Paragraphs<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text: text.trim_end(), at: 0, fence: None, is_quoted: false }
    }

    /// The next run of lines that are prose.
    fn run(&mut self) -> Option<(usize, usize)> {
        let mut open: Option<(usize, usize)> = None;
        while self.at < self.text.len() {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
            let line = rest.get(..length).unwrap_or(rest);
            let (start, end) = (self.at, self.at + line.len());
            let trimmed = line.trim();
            if let Some(close) = self.fence {
                if trimmed.starts_with(close) {
                    self.fence = None;
                }
                self.at = end;
                continue;
            }
            let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
            let is_prose = marker.is_none() && !trimmed.is_empty() && !is_layout(line);
            if open.is_some() && (!is_prose || is_item(trimmed)) {
                return open;
            }
            self.at = end;
            self.fence = marker;
            if is_prose {
                open = Some((open.map_or(start, |(start, _)| start), end));
            }
        }
        open
    }
}

impl<'t> Iterator for Paragraphs<'t> {
    type Item = Paragraph<'t>;

    fn next(&mut self) -> Option<Paragraph<'t>> {
        loop {
            let (start, end) = self.run()?;
            let is_near = end + FARTHEST >= self.text.len();
            if !is_near || end - start > LONGEST_PARAGRAPH {
                self.is_quoted = false;
                continue;
            }
            let text = self.text.get(start..end).unwrap_or_default();
            let is_item = is_item(text.trim_start());
            let text = text.trim_start_matches(LIST_MARKS);
            let paragraph = Paragraph {
                text,
                tokens: tokenize(text),
                is_quoted: self.is_quoted,
                is_item,
                is_last: end == self.text.len(),
            };
            self.is_quoted = introduces(&paragraph);
            return Some(paragraph);
        }
    }
}

/// Whether a paragraph announces somebody's words or an example: "He said:".
/// What follows it in a list is announced, too.
fn introduces(before: &Paragraph<'_>) -> bool {
    let ends = before.tokens.last().is_some_and(|token| token.kind == Kind::Mark(':'));
    let start = before
        .tokens
        .iter()
        .rposition(|token| matches!(token.kind, Kind::Mark('.' | '!' | '?')))
        .map_or(0, |at| at + 1);
    let last = before.tokens.get(start..).unwrap_or_default();
    (ends && speaks_for_others(last)) || (before.is_quoted && !ends)
}

/// Whether words tell of an example, or of what somebody else says.
pub(super) fn speaks_for_others(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|token| token.any(INTRODUCES_SPEECH))
        || has_phrase(tokens, PHRASES_OF_EXAMPLES)
}

/// Whether one of the phrases occurs, word by word.
pub(super) fn has_phrase(tokens: &[Token<'_>], phrases: &[&[&str]]) -> bool {
    (0..tokens.len()).any(|at| {
        let rest = tokens.get(at..).unwrap_or_default();
        phrases.iter().any(|phrase| starts_with(rest, phrase))
    })
}

/// Whether the tokens begin with these words.
pub(super) fn starts_with(tokens: &[Token<'_>], words: &[&str]) -> bool {
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.is(word))
}

/// Headings, tables, block quotes, and code that is set off by white space.
fn is_layout(line: &str) -> bool {
    let trimmed = line.trim_start();
    trimmed.starts_with(['#', '|', '>', '<'])
        || ((line.starts_with("    ") || line.starts_with('\t')) && !is_item(trimmed))
}

fn is_item(trimmed: &str) -> bool {
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let after = trimmed.get(digits..).unwrap_or_default();
    (digits > 0 && (after.starts_with(". ") || after.starts_with(") ")))
        || ["- ", "* ", "+ ", "\u{2022} "].iter().any(|mark| trimmed.starts_with(mark))
}

const LIST_MARKS: [char; 18] = [
    '-', '*', '+', ' ', '\u{2022}', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', ')',
    '\t',
];

/// How much of the end of an answer is read, in bytes.
const FARTHEST: usize = 64 * 1024;

/// A longer run of lines is data and no prose.
const LONGEST_PARAGRAPH: usize = 16 * 1024;
