//! Where the long texts of a request stand.

use std::ops::Range;

use super::{Arguments, Item, Request, Source, Tool, ToolKind};
use crate::wire::{Raw, Str};

impl Request<'_> {
    /// The string literals of `source` that hold what is said in the
    /// conversation, and the schemas of its tools, in order. They are most of a
    /// request, and whoever looks for something else in it can pass over them.
    pub fn literals(&self, source: &str) -> Vec<Range<usize>> {
        let mut literals = Literals { source, found: Vec::with_capacity(2 * self.turns.len()) };
        for turn in &self.turns {
            literals.add_items(&turn.items);
        }
        for tool in &self.tools {
            literals.add_tool(tool);
        }
        literals.found.sort_unstable_by_key(|literal| literal.start);
        literals.found
    }
}

struct Literals<'s> {
    source: &'s str,
    found: Vec<Range<usize>>,
}

impl Literals<'_> {
    fn add_items(&mut self, items: &[Item<'_>]) {
        for item in items {
            match item {
                Item::Text(text) => self.add(&text.text),
                Item::Image(image) => self.add_source(&image.source),
                Item::Document(document) => self.add_source(&document.source),
                Item::Audio(audio) => self.add_all(audio.data.as_slice()),
                Item::Call(call) => match &call.arguments {
                    Arguments::Text(text) | Arguments::Freeform(text) => self.add(text),
                    Arguments::Json(_) | Arguments::Native(_, _) => {}
                },
                Item::Result(result) => self.add_items(&result.content),
                Item::SearchResult(found) => self.add_items(&found.content),
                Item::Reasoning(reasoning) => {
                    self.add_all(&reasoning.summary);
                    self.add_all(&reasoning.content);
                }
                Item::Refusal(_)
                | Item::Hosted(_)
                | Item::Tools(_)
                | Item::ToolReference(_)
                | Item::Json(_)
                | Item::Opaque(_) => {}
            }
        }
    }

    fn add_tool(&mut self, tool: &Tool<'_>) {
        match &tool.kind {
            ToolKind::Function { schema: Some(schema) } => self.add_value(schema),
            ToolKind::Namespace { tools } => tools.iter().for_each(|tool| self.add_tool(tool)),
            ToolKind::Function { schema: None }
            | ToolKind::Freeform { .. }
            | ToolKind::Native(_)
            | ToolKind::Hosted(_)
            | ToolKind::Unknown(_) => {}
        }
    }

    /// Adds a value that was read from the source and not made.
    fn add_value(&mut self, value: &Raw<'_>) {
        let Some(start) = value.pos().offset() else { return };
        let span = start..start + value.text().len();
        if self.source.get(span.clone()) == Some(value.text()) {
            self.found.push(span);
        }
    }

    fn add_source(&mut self, source: &Source<'_>) {
        match source {
            Source::Base64 { media: _, data } | Source::Text { media: _, data } => self.add(data),
            Source::Url(address) => self.add(address),
            Source::File(_) | Source::Other(_) => {}
        }
    }

    fn add_all(&mut self, texts: &[Str<'_>]) {
        for text in texts {
            self.add(text);
        }
    }

    fn add(&mut self, text: &Str<'_>) {
        self.found.extend(text.span(self.source));
    }
}
