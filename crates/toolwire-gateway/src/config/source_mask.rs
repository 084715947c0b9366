//! Hides the secrets in a configuration file before its lines are shown.
//!
//! A key belongs in the environment or in a file of its own, but people paste it
//! into the configuration, in the right place or in a wrong one. The file may be
//! malformed, so this reads it as loosely as possible and rather hides too much.

use std::ops::Range;

/// A file without its secrets.
pub(super) struct MaskedSource<'s> {
    source: &'s str,
    /// The file, with a star for each byte of a secret. Every place in it is
    /// the same as in the original.
    pub(super) text: String,
    /// Where the secrets are, in order and apart from each other.
    hidden: Vec<Range<usize>>,
}

impl<'s> MaskedSource<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        let mut scanner = Scanner::new(source);
        scanner.scan();
        let hidden = merged(scanner.hidden);
        let mut text = String::with_capacity(source.len());
        let mut shown = 0;
        for range in &hidden {
            text.push_str(source.get(shown..range.start).unwrap_or_default());
            for c in source.get(range.clone()).unwrap_or_default().chars() {
                // A place must stay on its line.
                let (mark, count) = if c == '\n' { ('\n', 1) } else { ('*', c.len_utf8()) };
                text.extend(std::iter::repeat_n(mark, count));
            }
            shown = range.end;
        }
        text.push_str(source.get(shown..).unwrap_or_default());
        Self { source, text, hidden }
    }

    /// A sentence about a place in the file, without the secrets of its lines
    /// and whatever else looks like one.
    pub(super) fn mask_message(&self, message: &str, place: &Range<usize>) -> String {
        let before = self.source.get(..place.start).unwrap_or_default();
        let start = before.rfind('\n').unwrap_or(0);
        let after = self.source.get(place.end..).unwrap_or_default();
        let end = place.end + after.find('\n').unwrap_or(after.len());
        let first = self.hidden.partition_point(|range| range.end <= start);
        let mut message = message.to_owned();
        for range in self.hidden.iter().skip(first).take_while(|range| range.start < end) {
            let secret = self.source.get(range.clone()).unwrap_or_default();
            if secret.len() >= MIN_QUOTED {
                message = message.replace(secret, "***");
            }
        }
        let mut scanner = Scanner::new(&message);
        scanner.hide_words(0..message.len());
        let mut masked = String::with_capacity(message.len());
        let mut shown = 0;
        for range in merged(scanner.hidden) {
            masked.push_str(message.get(shown..range.start).unwrap_or_default());
            masked.push_str("***");
            shown = range.end;
        }
        masked.push_str(message.get(shown..).unwrap_or_default());
        masked
    }
}

/// The same ranges in order, with those that overlap made one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            Some(_) | None => merged.push(range),
        }
    }
    merged
}

/// Reads a file and collects what must not be shown.
struct Scanner<'s> {
    source: &'s str,
    at: usize,
    /// Whether everything in the current `[section]` is a secret.
    section: KeyKind,
    /// The key of the value that is read, for each open bracket.
    keys: Vec<(Bracket, KeyKind)>,
    /// Whether this is the text of a comment.
    in_comment: bool,
    /// Whether brackets are nested deeper than in any real file. Which key a
    /// value belongs to is not followed from there on, and every value is hidden.
    is_too_deep: bool,
    hidden: Vec<Range<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    None,
    List,
    Table,
}

/// What a key says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    /// Nothing.
    Plain,
    /// It is a secret.
    Secret,
    /// It names the place of a secret.
    Reference,
}

impl<'s> Scanner<'s> {
    fn new(source: &'s str) -> Self {
        let keys = vec![(Bracket::None, KeyKind::Plain)];
        Self {
            source,
            at: 0,
            section: KeyKind::Plain,
            keys,
            in_comment: false,
            is_too_deep: false,
            hidden: Vec::new(),
        }
    }

    fn scan(&mut self) {
        let mut is_line_start = true;
        while let Some(c) = self.rest().chars().next() {
            let was_line_start = std::mem::replace(&mut is_line_start, false);
            match c {
                '\n' => {
                    self.end_line();
                    is_line_start = true;
                    self.at += 1;
                }
                '[' if was_line_start && self.keys.len() == 1 => self.section(),
                '[' => self.open(Bracket::List),
                '{' => self.open(Bracket::Table),
                ']' | '}' => {
                    if self.keys.len() > 1 {
                        self.keys.pop();
                    }
                    self.at += 1;
                }
                ',' => {
                    if let Some((Bracket::Table, key)) = self.keys.last_mut() {
                        *key = KeyKind::Plain;
                    }
                    self.at += 1;
                }
                // A comment in a comment begins another text. It is read in
                // turn, because there may be as many as the line has bytes.
                '#' if self.in_comment => {
                    let (at, hidden) = (self.at + 1, std::mem::take(&mut self.hidden));
                    *self = Self { at, hidden, in_comment: true, ..Self::new(self.source) };
                    is_line_start = true;
                }
                '#' => self.comment(),
                '"' | '\'' => self.quoted(c),
                '=' => self.at += 1,
                c if c.is_whitespace() => {
                    is_line_start = was_line_start;
                    self.at += c.len_utf8();
                }
                _word => self.bare(),
            }
        }
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// An inline table ends with its line at the latest.
    fn end_line(&mut self) {
        self.keys.retain(|(bracket, _)| *bracket != Bracket::Table);
        if let [(Bracket::None, key)] = self.keys.as_mut_slice() {
            *key = KeyKind::Plain;
        }
    }

    fn open(&mut self, bracket: Bracket) {
        if self.keys.len() < MAX_DEPTH {
            self.keys.push((bracket, KeyKind::Plain));
        } else {
            self.is_too_deep = true;
        }
        self.at += 1;
    }

    /// `[section]` or `[[section]]`.
    fn section(&mut self) {
        let line = self.rest().split('\n').next().unwrap_or_default();
        let name = line.trim_start_matches('[');
        let name = name.split([']', '#']).next().unwrap_or_default();
        self.section = KeyKind::of(name.rsplit('.').next().unwrap_or_default());
        let start = self.at + (line.len() - line.trim_start_matches('[').len());
        self.hide_words(start..start + name.len());
        self.at = start + name.len();
        self.at += self.rest().find([']', '\n', '#']).unwrap_or(self.rest().len());
        while self.rest().starts_with(']') {
            self.at += 1;
        }
    }

    /// A comment may hold a setting that was commented out.
    fn comment(&mut self) {
        let start = self.at + 1;
        let line = self.rest().split('\n').next().unwrap_or_default();
        let text = line.get(1..).unwrap_or_default();
        let mut inner = Scanner { in_comment: true, ..Scanner::new(text) };
        inner.scan();
        let moved = inner.hidden.into_iter().map(|range| range.start + start..range.end + start);
        self.hidden.extend(moved);
        self.at += line.len();
    }

    fn quoted(&mut self, quote: char) {
        let triple: String = [quote; 3].iter().collect();
        let (mark, is_long) = match self.rest().starts_with(&triple) {
            true => (triple.as_str(), true),
            false => (triple.get(..1).unwrap_or_default(), false),
        };
        let start = self.at + mark.len();
        let mut end = start;
        let mut closed = false;
        while let Some(rest) = self.source.get(end..).filter(|rest| !rest.is_empty()) {
            if rest.starts_with(mark) {
                closed = true;
                break;
            }
            if rest.starts_with('\n') && !is_long {
                break;
            }
            let escape =
                usize::from(quote == '"' && rest.starts_with('\\') && !rest.starts_with("\\\n"));
            end += rest.chars().take(1 + escape).map(char::len_utf8).sum::<usize>();
        }
        self.at = if closed { end + mark.len() } else { end };
        self.word(start..end);
    }

    fn bare(&mut self) {
        let is_end = |c: char| c.is_whitespace() || "=,{}[]#\"'".contains(c);
        let length = self.rest().find(is_end).unwrap_or(self.rest().len());
        let range = self.at..self.at + length;
        self.at += length;
        self.word(range);
    }

    /// A key or a value.
    fn word(&mut self, range: Range<usize>) {
        let text = self.source.get(range.clone()).unwrap_or_default();
        if self.rest().trim_start_matches([' ', '\t']).starts_with('=') {
            self.hide_words(range);
            if let Some((_, key)) = self.keys.last_mut() {
                *key = KeyKind::of(text.rsplit('.').next().unwrap_or_default());
            }
            return;
        }
        let innermost = self.keys.last().map_or(KeyKind::Plain, |(_, key)| *key);
        let outer = self.keys.iter().map(|(_, key)| *key).chain([self.section]);
        let is_secret = self.is_too_deep || outer.into_iter().any(|key| key == KeyKind::Secret);
        if innermost == KeyKind::Reference {
            if !is_reference(text) {
                self.hidden.push(range);
            }
        } else if is_secret && !is_plain_word(text) {
            self.hidden.push(range);
        } else {
            self.hide_words(range);
        }
    }

    /// Hides whatever looks like a secret, wherever it is.
    fn hide_words(&mut self, range: Range<usize>) {
        let text = self.source.get(range.clone()).unwrap_or_default();
        let mut start = 0;
        for word in text.split_inclusive(|c: char| c.is_whitespace() || "\"'`,;".contains(c)) {
            let bare = word.trim_end_matches(|c: char| c.is_whitespace() || "\"'`,;".contains(c));
            let place = range.start + start;
            start += word.len();
            if let Some((scheme, rest)) = bare.split_once("://") {
                self.hide_in_url(place + scheme.len() + 3, rest);
            } else if looks_like_a_secret(bare) {
                self.hidden.push(place..place + bare.len());
            } else if let Some((user, _)) = bare.rsplit_once('@') {
                self.hidden.push(place..place + user.len());
            }
        }
    }

    /// Hides the user name and the password, the query, and secret parts of the
    /// path.
    fn hide_in_url(&mut self, start: usize, rest: &str) {
        let path = rest.find('/').unwrap_or(rest.len());
        let query = rest.find(['?', '#']).unwrap_or(rest.len());
        // A password may hold a slash, so the last `@` counts.
        let host = rest.rfind('@').map_or(0, |at| at + 1);
        if host > 0 {
            self.hidden.push(start..start + host - 1);
        }
        if query < rest.len() {
            self.hidden.push(start + query + 1..start + rest.len());
        }
        let mut at = path.max(host);
        for part in rest.get(at..query).unwrap_or_default().split('/') {
            if looks_like_a_secret(part) {
                self.hidden.push(start + at..start + at + part.len());
            }
            at += part.len() + 1;
        }
    }
}

impl KeyKind {
    fn of(key: &str) -> Self {
        let key = key.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
        match key.as_str() {
            "env" | "file" => Self::Reference,
            "headers" => Self::Secret,
            // Token counts.
            key if key.ends_with("tokens") => Self::Plain,
            key if SECRET_NAMES.iter().any(|name| key.contains(name)) => Self::Secret,
            _other => Self::Plain,
        }
    }
}

/// Whether a text is the name of a variable or a file. Names of variables are
/// usually in capitals.
fn is_reference(text: &str) -> bool {
    let is_variable = |letter: fn(&char) -> bool| {
        text.contains('_') && text.chars().all(|c| c == '_' || letter(&c))
    };
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let is_path = text.contains(['/', '.', '\\']) && !looks_like_a_secret(text);
    text.chars().all(is_capital) || is_variable(char::is_ascii_lowercase) || is_path
}

/// Whether a text is a word of the configuration, such as `client` or `true`.
fn is_plain_word(text: &str) -> bool {
    text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a word looks like a key: it begins like one, or it is long and a
/// jumble of letters and digits.
fn looks_like_a_secret(word: &str) -> bool {
    if PREFIXES.iter().any(|prefix| word.len() > prefix.len() && word.starts_with(prefix)) {
        return true;
    }
    if word.len() < MIN_SECRET {
        return false;
    }
    let is_jumble = |part: &str| {
        part.bytes().any(|byte| byte.is_ascii_digit())
            && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let parts = || word.split(|c: char| !c.is_ascii_alphanumeric());
    let jumbles = parts().filter(|part| part.len() >= 4 && is_jumble(part)).count();
    jumbles >= 3 || parts().any(|part| part.len() >= 28 || (part.len() >= 12 && is_jumble(part)))
}

/// Parts of the names of settings and headers that hold secrets.
const SECRET_NAMES: [&str; 7] =
    ["key", "token", "secret", "password", "passwd", "auth", "credential"];

/// How the keys of known vendors begin.
const PREFIXES: [&str; 14] = [
    "sk-", "sk_", "pk-", "pk_", "rk_", "xai-", "gsk_", "AIza", "ghp_", "github_pat_", "glpat-",
    "hf_", "eyJ", "xox",
];

/// How deep brackets are followed. The parser refuses deeper ones.
const MAX_DEPTH: usize = 128;

/// The shortest word that is judged by its letters.
const MIN_SECRET: usize = 16;

/// The shortest secret that is looked for in messages. A shorter one would hide
/// ordinary words.
const MIN_QUOTED: usize = 4;

#[cfg(test)]
mod tests;
