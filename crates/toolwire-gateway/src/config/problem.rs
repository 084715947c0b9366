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
}

impl Problems {
    /// The problems of the file `name`, sorted by place.
    pub fn new(name: &str, source: &str, mut list: Vec<Problem>) -> Self {
        list.sort_by_key(|problem| problem.span.start);
        let masked = MaskedSource::new(source);
        for Problem { message, span, label, help } in &mut list {
            for text in [message, label, help] {
                *text = masked.mask_message(text, span);
            }
        }
        Self { name: name.to_owned(), source: masked.text, list }
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
            let place = AnnotationKind::Primary.span(self.checked_span(span)).label(label.as_str());
            let snippet =
                Snippet::source(self.source.as_str()).path(self.name.as_str()).annotation(place);
            let mut group = Level::ERROR.primary_title(message.as_str()).element(snippet);
            if !help.is_empty() {
                group = group.element(Level::HELP.message(help.as_str()));
            }
            text.push_str(&renderer.render(&[group]));
            text.push_str("\n\n");
        }
        let count = self.list.len();
        let noun = if count == 1 { "problem" } else { "problems" };
        text.push_str(&format!("{} has {count} {noun}.", self.name));
        text
    }

    /// A span that the renderer accepts: inside the source and on character
    /// boundaries.
    fn checked_span(&self, span: &Range<usize>) -> Range<usize> {
        if self.source.get(span.clone()).is_some() { span.clone() } else { 0..0 }
    }
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
