//! The schema of an answer as Messages holds a model to it.

use super::edit::{Edits, Span};
use super::strict::anthropic_refuses;
use super::walk::{Visitor, end, literal_span, walk};
use crate::wire::{Kind, Raw, ReadError, Reader, Str};

/// What was done to the schema of an answer so that Messages accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FormatChange {
    /// Objects that did not say so became closed: they hold the properties
    /// that they list and no others.
    Closed,
    /// Keywords that Messages cannot hold a model to went, or objects that
    /// asked for properties of any name became closed.
    Loosened,
}

/// The schema of an answer as Messages accepts it: every object closed, no
/// bounds, no exclusive choice. References and recursion stay as they are.
pub(crate) fn output_format<'s>(schema: &'s Raw<'_>) -> (Raw<'s>, Option<FormatChange>) {
    let mut pass = Pass { edits: Edits::default(), open: Vec::new(), change: None };
    if walk(&mut Reader::new(schema.text()), &mut pass).is_err() {
        return (schema.borrowed(), None);
    }
    (pass.edits.rewrite(schema), pass.change)
}

struct Pass {
    edits: Edits,
    open: Vec<Node>,
    change: Option<FormatChange>,
}

/// A schema that is being walked.
#[derive(Default)]
struct Node {
    members: Vec<Span>,
    object: bool,
    closed: bool,
    /// Whether the value that is being walked will give way to `false`.
    replaced: bool,
}

impl Pass {
    fn loosen(&mut self) {
        self.change = Some(FormatChange::Loosened);
    }
}

impl<'s> Visitor<'s> for Pass {
    fn keyword(&mut self, key: &Str<'s>, reader: &mut Reader<'s>) -> Result<(), ReadError> {
        let value = reader.raw()?;
        let end = end(reader);
        let word = key.decode();
        let mut removed = false;
        match word.as_ref() {
            "additionalProperties" => {
                if value.text() != "false" {
                    self.edits.replace(end - value.text().len()..end, "false");
                    self.loosen();
                }
            }
            // A choice among plain values cannot be told in another way.
            "enum" => {}
            word => removed = anthropic_refuses(word, &value),
        }
        if removed {
            self.loosen();
        }
        if let Some(node) = self.open.last_mut() {
            node.closed |= word == "additionalProperties";
            node.object |= word == "type"
                && matches!(value.kind(), Kind::String | Kind::Array)
                && value.text().contains(r#""object""#);
            node.members.push(Span { start: literal_span(key).start, end, removed });
        }
        Ok(())
    }

    fn enter(&mut self) {
        self.open.push(Node::default());
    }

    fn holder(&mut self, key: &Str<'s>) {
        let start = literal_span(key).start;
        let word = key.decode();
        let map = word == "additionalProperties";
        let choice = word == "oneOf";
        if choice {
            self.edits.replace(literal_span(key), r#""anyOf""#);
        }
        let removed = !map && !choice && anthropic_refuses(&word, &Raw::made("{}"));
        if removed || map || choice {
            self.loosen();
        }
        if let Some(node) = self.open.last_mut() {
            node.object |= word == "properties";
            node.closed |= map;
            node.replaced = map;
            node.members.push(Span { start, end: start, removed });
        }
    }

    fn held(&mut self, end: usize) {
        let Some(node) = self.open.last_mut() else { return };
        let Some(span) = node.members.last_mut() else { return };
        if std::mem::replace(&mut node.replaced, false) {
            self.edits.replace(span.start..end, r#""additionalProperties":false"#);
        }
        span.end = end;
    }

    fn leave(&mut self) {
        let Some(node) = self.open.pop() else { return };
        self.edits.remove(&node.members);
        if node.object
            && !node.closed
            && let Some(last) = node.members.last()
        {
            self.edits.replace(last.end..last.end, r#","additionalProperties":false"#);
            self.change = self.change.max(Some(FormatChange::Closed));
        }
    }
}
