//! A walk over the subschemas of a schema that tells them from the data and
//! the names beside them: a property may be called `title` or `$ref`, and an
//! example may look like a schema.

use crate::wire::{Kind, ReadError, Reader, Str};

/// Gets every keyword of every subschema, in the order of the document.
pub(super) trait Visitor<'s> {
    /// A keyword whose value holds no schema, or is `true` or `false`. The value
    /// must be read or skipped.
    fn keyword(&mut self, key: &Str<'s>, reader: &mut Reader<'s>) -> Result<(), ReadError>;

    /// The name of a property or definition, before its schema.
    fn name(&mut self, _of: &str, _name: &Str<'s>) {}

    /// A schema in a list or under a name is `true` or `false`.
    fn any_or_none(&mut self) {}

    /// A schema that is an object begins.
    fn enter(&mut self) {}

    /// A keyword whose value holds schemas, before they are walked.
    fn holder(&mut self, _key: &Str<'s>) {}

    /// The value of that keyword has ended, one byte before `end`.
    fn held(&mut self, _end: usize) {}

    /// The schema that was entered last has ended.
    fn leave(&mut self) {}
}

/// Walks a schema.
pub(super) fn walk<'s>(
    reader: &mut Reader<'s>,
    visitor: &mut impl Visitor<'s>,
) -> Result<(), ReadError> {
    schema(reader, visitor)
}

/// What the value of a keyword is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// A schema, or a list of them.
    Schemas,
    /// An object whose members are schemas.
    Named,
    /// Anything else.
    Data,
}

impl Holds {
    pub(super) fn of(keyword: &str) -> Self {
        // `components` and its `schemas` are OpenAPI's words for definitions.
        match keyword {
            "properties" | "patternProperties" | "$defs" | "definitions" | "schemas"
            | "dependentSchemas" | "dependencies" => Self::Named,
            "items"
            | "prefixItems"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "anyOf"
            | "oneOf"
            | "allOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "components" => Self::Schemas,
            _other => Self::Data,
        }
    }
}

fn schema<'s>(reader: &mut Reader<'s>, visitor: &mut impl Visitor<'s>) -> Result<(), ReadError> {
    // `true` and `false` are schemas, and a malformed one is not for us to judge.
    if reader.peek() != Kind::Object {
        visitor.any_or_none();
        return reader.skip();
    }
    visitor.enter();
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        let kind = reader.peek();
        match (Holds::of(&key.decode()), kind) {
            (Holds::Schemas, Kind::Array) => {
                visitor.holder(&key);
                let mut list = reader.array()?;
                while list.more(reader)? {
                    schema(reader, visitor)?;
                }
                visitor.held(end(reader));
            }
            (Holds::Schemas, Kind::Object) => {
                visitor.holder(&key);
                schema(reader, visitor)?;
                visitor.held(end(reader));
            }
            (Holds::Named, Kind::Object) => {
                visitor.holder(&key);
                let of = key.decode();
                let mut named = reader.object()?;
                while let Some(name) = named.next(reader)? {
                    visitor.name(&of, &name);
                    schema(reader, visitor)?;
                }
                visitor.held(end(reader));
            }
            (Holds::Schemas | Holds::Named | Holds::Data, _) => visitor.keyword(&key, reader)?,
        }
    }
    visitor.leave();
    Ok(())
}

/// The offset behind the value that was read last.
pub(super) fn end(reader: &Reader<'_>) -> usize {
    reader.behind().offset().unwrap_or_default()
}

/// The bytes of a literal, with its quotes.
pub(super) fn literal_span(text: &Str<'_>) -> std::ops::Range<usize> {
    let start = text.pos().offset().unwrap_or_default();
    start..start + text.size_hint() + 2
}
