//! Just enough of Rust's lexical rules to tell code from comments and strings.

/// A word, a literal or a punctuation mark. `..`, `..=`, `...` and `=>` are one token each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) line: usize,
}

/// The tokens of a source file, without white space and comments.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (text, tail) = rest.split_at(length(rest, first));
        let comment = text.starts_with("//") || text.starts_with("/*");
        if !comment && !first.is_whitespace() {
            tokens.push(Token { text, line });
        }
        line += text.matches('\n').count();
        rest = tail;
    }
    tokens
}

fn length(rest: &str, first: char) -> usize {
    if first.is_whitespace() {
        return run(rest, char::is_whitespace);
    }
    if rest.starts_with("//") {
        return run(rest, |c| c != '\n');
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if let Some(length) = string(rest) {
        return length;
    }
    if first == '\'' {
        return character_or_lifetime(rest);
    }
    if first.is_ascii_digit() {
        return number(rest);
    }
    if is_word(first) {
        return run(rest, is_word);
    }
    let long = ["..=", "...", "..", "=>"].into_iter().find(|mark| rest.starts_with(mark));
    long.map_or(first.len_utf8(), str::len)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Block comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of a string literal of any kind, if there is one here.
fn string(text: &str) -> Option<usize> {
    let body = text.strip_prefix(['b', 'c']).unwrap_or(text);
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = run(raw, |c| c == '#');
        let body = raw.get(hashes..)?.strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let close = body.find(&end).map_or(body.len(), |at| at + end.len());
        return Some(text.len() - body.len() + close);
    }
    let body = body.strip_prefix('"')?;
    Some(text.len() - body.len() + until(body, '"'))
}

/// `'a'` and `'\n'` are characters, `'a` is a lifetime.
fn character_or_lifetime(text: &str) -> usize {
    let body = text.get(1..).unwrap_or_default();
    let first = body.chars().next().map_or(0, char::len_utf8);
    let closed = body.get(first..).is_some_and(|rest| rest.starts_with('\''));
    if body.starts_with('\\') || closed { 1 + until(body, '\'') } else { 1 + run(body, is_word) }
}

/// Digits, letters of a base or a suffix, and a fraction; but not the dots of `1..3`.
fn number(text: &str) -> usize {
    let whole = run(text, is_word);
    let fraction = text.get(whole..).and_then(|rest| rest.strip_prefix('.'));
    match fraction {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            whole + 1 + run(rest, is_word)
        }
        Some(_) | None => whole,
    }
}

/// The length up to and including the closing quote, which a backslash hides.
fn until(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    body.len()
}
