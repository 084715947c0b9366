//! References inside a schema, and what they point to.

use std::collections::BTreeMap;
use std::ops::Range;

use super::walk::{Visitor, literal_span, walk};
use crate::wire::{Extra, Kind, Raw, ReadError, Reader, Str, read_fields};

/// A `$ref` of a schema.
#[derive(Debug)]
pub(super) struct Reference {
    /// The bytes of its literal, with the quotes.
    pub(super) span: Range<usize>,
    /// Where it points.
    pub(super) target: String,
}

/// Every `$ref` of a schema, in order.
pub(super) fn references(text: &str) -> Result<Vec<Reference>, ReadError> {
    let mut found = Collect::default();
    walk(&mut Reader::new(text), &mut found)?;
    Ok(found.list)
}

#[derive(Default)]
struct Collect {
    list: Vec<Reference>,
}

impl<'s> Visitor<'s> for Collect {
    fn keyword(&mut self, key: &Str<'s>, reader: &mut Reader<'s>) -> Result<(), ReadError> {
        if *key != "$ref" || reader.peek() != Kind::String {
            return reader.skip();
        }
        let target = reader.string()?;
        let span = literal_span(&target);
        self.list.push(Reference { span, target: target.into_decoded().into_owned() });
        Ok(())
    }
}

/// The places at the root of a schema where definitions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DefinitionsKeyword {
    Defs,
    Definitions,
    Components,
}

/// Splits a reference into the place and the name of the definition it points
/// to, as a JSON Pointer spells it. `None` if it points elsewhere.
pub(super) fn split(target: &str) -> Option<(DefinitionsKeyword, &str)> {
    let (place, name, inside) = split_inside(target)?;
    inside.is_empty().then_some((place, name))
}

/// Like [`split`] for a reference that may point inside a definition. The last
/// part is the way from there.
pub(super) fn split_inside(target: &str) -> Option<(DefinitionsKeyword, &str, &str)> {
    let (place, rest) = if let Some(rest) = target.strip_prefix("#/$defs/") {
        (DefinitionsKeyword::Defs, rest)
    } else if let Some(rest) = target.strip_prefix("#/definitions/") {
        (DefinitionsKeyword::Definitions, rest)
    } else {
        (DefinitionsKeyword::Components, target.strip_prefix("#/components/schemas/")?)
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (name, inside) = rest.split_at(end);
    (!name.is_empty()).then_some((place, name, inside))
}

/// A name as a JSON Pointer spells it.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The definitions at the root of a schema, by place and pointer spelling.
#[derive(Debug, Default)]
pub(super) struct Definitions<'s> {
    by_name: BTreeMap<(DefinitionsKeyword, String), Raw<'s>>,
}

impl<'s> Definitions<'s> {
    pub(super) fn of(root: &[Extra<'s>]) -> Self {
        let mut this = Self::default();
        for field in root {
            match field.key.decode().as_ref() {
                "$defs" => this.add(DefinitionsKeyword::Defs, &field.value),
                "definitions" => this.add(DefinitionsKeyword::Definitions, &field.value),
                "components" => {
                    for inner in members(&field.value) {
                        if inner.key == "schemas" {
                            this.add(DefinitionsKeyword::Components, &inner.value);
                        }
                    }
                }
                _other => {}
            }
        }
        this
    }

    /// The definition that a reference points to.
    pub(super) fn get(&self, target: &str) -> Option<&Raw<'s>> {
        let (place, name) = split(target)?;
        self.by_name.get(&(place, name.to_owned()))
    }

    fn add(&mut self, place: DefinitionsKeyword, holder: &Raw<'s>) {
        for field in members(holder) {
            self.by_name.insert((place, escape(&field.key.decode())), field.value);
        }
    }
}

/// The members of a value that borrows its document; none if it is no object.
pub(super) fn members<'s>(value: &Raw<'s>) -> Vec<Extra<'s>> {
    let reader = value.source_reader();
    reader.and_then(|mut reader| read_fields(&mut reader).ok()).unwrap_or_default()
}
