//! The problems of a configuration, shown with their places.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::source_mask::MaskedSource;

/// One problem, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, as a sentence without its full stop.
    pub message: String,
    /// Its place in the file, in bytes.
    pub span: Range<usize>,
    /// The label at that place.
    pub label: String,
    /// What to do about it.
    pub help: String,
}

/// The problems of one configuration. They hold none of its secrets, wherever
/// in the file it has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    name: String,
    source: String,
    list: Vec<Problem>,
    /// How many more there are.
    more: usize,
}

impl Problems {
    /// The problems of the file `name`, sorted by place. Beyond the first fifty
    /// they are only counted.
    pub fn new(name: &str, source: &str, mut list: Vec<Problem>) -> Self {
        list.sort_by_key(|problem| problem.span.start);
        let more = list.len().saturating_sub(MOST_SHOWN);
        list.truncate(MOST_SHOWN);
        let masked = MaskedSource::new(source);
        for Problem { message, span, label, help } in &mut list {
            if source.get(span.clone()).is_none() {
                *span = 0..0;
            }
            for text in [message, label, help] {
                *text = masked.mask_message(text, span);
            }
        }
        Self { name: name.to_owned(), source: masked.text, list, more }
    }

    /// The problems one by one.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// The problems with their source lines, as a compiler shows them.
    pub fn render(&self, style: Style) -> String {
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Coloured => Renderer::styled(),
        };
        let mut text = String::new();
        for Problem { message, span, label, help } in &self.list {
            let Lines { text: lines, number, offset } = self.lines(span);
            let span = span.start - offset..span.end - offset;
            let place = AnnotationKind::Primary.span(span).label(label.as_str());
            let snippet = Snippet::source(lines)
                .line_start(number)
                .path(self.name.as_str())
                .annotation(place);
            let mut group = Level::ERROR.primary_title(message.as_str()).element(snippet);
            if !help.is_empty() {
                group = group.element(Level::HELP.message(help.as_str()));
            }
            text.push_str(&renderer.render(&[group]));
            text.push_str("\n\n");
        }
        let count = self.list.len() + self.more;
        let noun = if count == 1 { "problem" } else { "problems" };
        text.push_str(&format!("{} has {count} {noun}.", self.name));
        if self.more > 0 {
            text.push_str(&format!(" These are the first {MOST_SHOWN}."));
        }
        text
    }

    /// The lines of a place. A renderer that got the whole file would read it
    /// for every problem.
    fn lines(&self, span: &Range<usize>) -> Lines<'_> {
        let before = self.source.get(..span.start).unwrap_or_default();
        let after = self.source.get(span.end..).unwrap_or_default();
        let offset = before.rfind('\n').map_or(0, |end| end + 1);
        let end = span.end + after.find('\n').unwrap_or(after.len());
        let text = self.source.get(offset..end).unwrap_or_default();
        let number = 1 + memchr::memchr_iter(b'\n', before.as_bytes()).count();
        Lines { text, number, offset }
    }
}

/// Some lines of a file.
struct Lines<'s> {
    text: &'s str,
    /// The number of the first, counted from one.
    number: usize,
    /// Where it begins.
    offset: usize,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}

impl std::error::Error for Problems {}

/// Whether the output has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// With the colours of a terminal.
    Coloured,
}

/// How many problems are shown. Whoever has more has one cause for most of them.
const MOST_SHOWN: usize = 50;
