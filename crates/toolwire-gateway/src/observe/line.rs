//! Log lines that a client cannot forge or flood.
//!
//! A client chooses the name of a model, the keys of its request and the names
//! of its features. In a line they are short, and they hold nothing that a
//! terminal or a log viewer acts on.

use std::borrow::Cow;
use std::fmt::Write;

use toolwire::{Code, Entry};

/// The longest line, in bytes, its line end included.
pub(super) const LINE_LIMIT: usize = 4096;

/// Writes a text of a client's making into a line of text. Spaces are escaped
/// too, because they separate the fields of a line.
pub(super) fn write_escaped(text: &str, line: &mut String) {
    if text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        line.push_str(text);
        return;
    }
    for c in text.chars() {
        if is_unsafe(c) || c.is_whitespace() || c == '\\' {
            let _ = write!(line, "{}", c.escape_unicode());
        } else {
            line.push(c);
        }
    }
}

/// Writes a sentence into a line of text, whose last field it is.
pub(super) fn write_sentence(text: &str, line: &mut String) {
    for c in text.chars() {
        if is_unsafe(c) {
            let _ = write!(line, "{}", c.escape_unicode());
        } else {
            line.push(c);
        }
    }
}

/// Ends a line of text.
pub(super) fn end_text(mut line: String) -> Vec<u8> {
    if line.len() >= LINE_LIMIT {
        let room = LINE_LIMIT - ELLIPSIS.len() - 1;
        let end = (0..=room).rev().find(|end| line.is_char_boundary(*end));
        line.truncate(end.unwrap_or(0));
        line.push_str(ELLIPSIS);
    }
    line.push('\n');
    line.into_bytes()
}

/// JSON in which no character is left that a terminal acts on. Outside of
/// strings JSON has none, so each can be written as an escape.
pub(super) fn escape_json(json: Vec<u8>) -> String {
    // JSON that toolwire writes is UTF-8.
    let json = String::from_utf8(json).unwrap_or_default();
    let is_plain = json.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if is_plain || !json.chars().any(is_unsafe) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// The beginning of a text of a client's making.
pub(super) fn clip(text: &str, chars: usize) -> String {
    if text.len() <= chars {
        return text.to_owned();
    }
    let mut clipped: String = text.chars().take(chars).collect();
    if clipped.len() < text.len() {
        clipped.push_str(ELLIPSIS);
    }
    clipped
}

/// A loss as it is logged.
pub(super) fn clip_entry(entry: &Entry) -> Entry {
    let code = if let Code::Only(field) = &entry.code {
        Code::Only(clip(field, CODE_LIMIT))
    } else {
        entry.code.clone()
    };
    let detail = match &entry.detail {
        Cow::Borrowed(detail) => Cow::Borrowed(*detail),
        // A sentence about this request may quote it.
        Cow::Owned(_) => Cow::Borrowed(code.meaning()),
    };
    let path = clip(&entry.path, PATH_LIMIT);
    Entry::new(path, code, entry.action).level(entry.level).detail(detail)
}

/// Whether a terminal or a log viewer acts on a character, or shows nothing:
/// controls, line separators, and what changes the direction of text.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

const ELLIPSIS: &str = "…";

/// The longest path and code of a loss, in characters.
const PATH_LIMIT: usize = 200;
const CODE_LIMIT: usize = 60;

#[cfg(test)]
mod tests;
