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
}

impl<'t> Paragraph<'t> {
    /// Its sentences, each with the mark that ends it.
    pub(super) fn sentences(&self) -> impl Iterator<Item = &[Token<'t>]> {
        self.tokens
            .split_inclusive(|token| matches!(token.kind, Kind::Mark('.' | '!' | '?' | '\u{2026}')))
    }
}

/// Cuts an answer into paragraphs.
pub(super) fn paragraphs(text: &str) -> Vec<Paragraph<'_>> {
    let mut found: Vec<Paragraph<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let trimmed = line.trim();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        if let Some(close) = fence {
            if trimmed.starts_with(close) {
                fence = None;
            }
            continue;
        }
        let is_prose = marker.is_none() && !trimmed.is_empty() && !is_layout(line);
        if !is_prose || is_item(trimmed) {
            flush(text, open.take(), &mut found);
        }
        if is_prose {
            open = Some((open.map_or(start, |(start, _)| start), end));
        }
        fence = marker;
    }
    flush(text, open.take(), &mut found);
    found
}

fn flush<'t>(text: &'t str, open: Option<(usize, usize)>, found: &mut Vec<Paragraph<'t>>) {
    let Some((start, end)) = open else { return };
    let text = text.get(start..end).unwrap_or_default().trim_start_matches(LIST_MARKS);
    let tokens = tokenize(text);
    let is_quoted = found.last().is_some_and(introduces);
    found.push(Paragraph { text, tokens, is_quoted });
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
