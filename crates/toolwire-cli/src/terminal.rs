//! Text for people: line width, colours and wrapping.

use std::env;
use std::io::IsTerminal;

/// What the terminal can show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// The width of a line, in columns.
    pub(crate) width: usize,
    /// Whether to use colours.
    pub(crate) styled: bool,
}

impl Terminal {
    /// The terminal behind a stream. Anything else is treated as a file that
    /// people read at the usual width.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        if !stream.is_terminal() {
            return Self { width: 80, styled: false };
        }
        let columns = terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
        let is_plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|term| term == "dumb");
        // Lines as wide as a large window are hard to read.
        Self { width: columns.unwrap_or(80).clamp(40, 120), styled: !is_plain }
    }

    /// Text in a style, if the terminal has styles.
    pub(crate) fn paint(self, text: &str, style: Style) -> String {
        if !self.styled || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            Style::Bold => 1,
            Style::Faint => 2,
            Style::Red => 31,
            Style::Green => 32,
            Style::Yellow => 33,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// A style for text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    Bold,
    Faint,
    Red,
    Green,
    Yellow,
}

/// Escapes control characters, so that a document's field names cannot move the
/// cursor or change colours.
pub(crate) fn escape_controls(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            escaped.extend(character.escape_unicode());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Breaks text into lines of at most `width` columns, between words where
/// possible.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        for character in (if used > 0 { " " } else { "" }).chars().chain(word.chars()) {
            if used == width {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(character);
            }
            used += 1;
        }
    }
    lines
}
