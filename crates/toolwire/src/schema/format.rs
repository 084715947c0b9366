//! The schema of an answer as Messages holds a model to it.

use std::ops::Range;

use super::edit::{Edits, Span};
use super::strict::anthropic_refuses;
use super::walk::{Visitor, end, literal_span, walk};
use crate::wire::{Kind, Raw, ReadError, Reader, Str};

/// What was done to the schema of an answer so that Messages accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FormatChange {
    /// Nothing but the words: it means what it meant.
    Reworded,
    /// Objects that did not say so became closed: they hold the properties
    /// that they list and no others.
    Closed,
    /// Keywords that Messages cannot hold a model to went, or objects that
    /// asked for properties of any name became closed.
    Loosened,
}

/// The schema of an answer as Messages accepts it: every object closed, no
/// bounds, no exclusive choice. References and recursion stay as they are, so
/// [`fits_anthropic_format`](super::fits_anthropic_format) has the last word.
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
    /// What the keyword that is being walked holds so far.
    held: Held,
    /// Whether it has an `anyOf`.
    has_any_of: bool,
    /// Which choice is being walked, and the bytes of its keyword.
    choice: Option<(Choice, Range<usize>)>,
    /// The choices to be written as `anyOf`, each with the bytes of its keyword and its
    /// place among the members.
    choices: Vec<(Choice, Range<usize>, usize)>,
    /// Whether it lists what an array begins with.
    is_tuple: bool,
    /// The place of `items` among the members.
    items: Option<usize>,
    is_reference: bool,
}

/// How many schemas a keyword holds.
#[derive(Clone, Copy, Default)]
struct Held {
    schemas: usize,
    references: usize,
}

/// A choice that can be written as `anyOf`.
#[derive(Clone, Copy)]
enum Choice {
    /// `oneOf`, which `anyOf` comes closest to.
    Exclusive,
    /// `allOf` with one reference. Messages takes no references there.
    OneReference,
}

impl Node {
    /// Notes a keyword, before it is added to the members.
    fn note(&mut self, keyword: &str) {
        match keyword {
            "prefixItems" => self.is_tuple = true,
            "items" => self.items = Some(self.members.len()),
            "$ref" => self.is_reference = true,
            _other => {}
        }
    }
}

impl Pass {
    fn loosen(&mut self) {
        self.change = Some(FormatChange::Loosened);
    }

    /// Writes choices as `anyOf`, of which an object can have only one.
    fn write_choices(&mut self, node: &mut Node) {
        let mut is_taken = node.has_any_of;
        for (choice, keyword, member) in std::mem::take(&mut node.choices) {
            let change = match (choice, is_taken) {
                (Choice::OneReference, true) => continue,
                (Choice::OneReference, false) => FormatChange::Reworded,
                (Choice::Exclusive, _) => FormatChange::Loosened,
            };
            self.change = self.change.max(Some(change));
            if is_taken {
                remove(&mut node.members, Some(member));
            } else {
                self.edits.replace(keyword, r#""anyOf""#);
            }
            is_taken = true;
        }
    }
}

/// Marks a member as one that goes.
fn remove(members: &mut [Span], place: Option<usize>) {
    if let Some(span) = place.and_then(|place| members.get_mut(place)) {
        span.removed = true;
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
            node.note(&word);
            node.members.push(Span { start: literal_span(key).start, end, removed });
        }
        Ok(())
    }

    fn any_or_none(&mut self) {
        if let Some(node) = self.open.last_mut() {
            node.held.schemas += 1;
        }
    }

    fn enter(&mut self) {
        self.open.push(Node::default());
    }

    fn holder(&mut self, key: &Str<'s>) {
        let start = literal_span(key).start;
        let word = key.decode();
        let map = word == "additionalProperties";
        let choice = match word.as_ref() {
            "oneOf" => Some(Choice::Exclusive),
            "allOf" => Some(Choice::OneReference),
            _other => None,
        };
        let removed = !map && word != "oneOf" && anthropic_refuses(&word, &Raw::made("{}"));
        if removed || map {
            self.loosen();
        }
        if let Some(node) = self.open.last_mut() {
            node.object |= word == "properties";
            node.has_any_of |= word == "anyOf";
            node.held = Held::default();
            node.note(&word);
            node.choice = choice.map(|choice| (choice, literal_span(key)));
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
        let Some((choice, keyword)) = node.choice.take() else { return };
        let Held { schemas, references } = node.held;
        let is_written = match choice {
            Choice::Exclusive => true,
            Choice::OneReference => (schemas, references) == (1, 1),
        };
        if is_written {
            node.choices.push((choice, keyword, node.members.len().saturating_sub(1)));
        }
    }

    fn leave(&mut self) {
        let Some(mut node) = self.open.pop() else { return };
        if let Some(around) = self.open.last_mut() {
            around.held.schemas += 1;
            around.held.references += usize::from(node.is_reference);
        }
        self.write_choices(&mut node);
        if node.is_tuple {
            // What follows the listed elements says nothing about those, and without the list
            // it would be about all of them.
            remove(&mut node.members, node.items);
        }
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
