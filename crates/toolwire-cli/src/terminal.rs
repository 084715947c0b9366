//! Where text for people goes: how wide it may be and whether it has colours.

use std::env;
use std::io::IsTerminal;

/// How to lay out text for people.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Columns of a line.
    pub(crate) width: usize,
    /// Whether colours are understood.
    pub(crate) styled: bool,
}

impl Screen {
    /// What is known about a stream. Anything but a terminal is taken for a
    /// file that people read in a terminal of the usual width.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        if !stream.is_terminal() {
            return Self { width: 80, styled: false };
        }
        let columns = terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
        let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|term| term == "dumb");
        // Lines that go on for the width of a large window are hard to read.
        Self { width: columns.unwrap_or(80).clamp(40, 120), styled: !plain }
    }

    /// Text in a style, where styles are understood.
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

/// How text can stand out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    Bold,
    Faint,
    Red,
    Green,
    Yellow,
}

/// Makes text safe to show: a document's own field names must not move the
/// cursor or change colours.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
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
