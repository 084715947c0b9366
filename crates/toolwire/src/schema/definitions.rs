//! Definitions where Messages looks for them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::edit::{Edits, Span};
use super::references::{DefinitionsKeyword, escape, members, references, split_inside};
use super::walk::literal_span;
use crate::wire::{Extra, Kind, Raw, Reader, Str, Write, hash, read_fields};

/// The schema with the definitions that are kept under `definitions` or
/// `components.schemas` moved to `$defs`, and the references to them changed:
/// Messages resolves no others. `None` if nothing refers to them.
pub(crate) fn definitions(schema: &Raw<'_>) -> Option<Raw<'static>> {
    let text = schema.text();
    if !text.contains("definitions") && !text.contains("components") {
        return None;
    }
    let fields = read_fields(&mut Reader::new(text)).ok()?;
    let references = references(text).ok()?;
    let moved = Moved::find(&fields);
    let mut edits = Edits::default();
    for reference in &references {
        if let Some((place, name, inside)) = split_inside(&reference.target)
            && let Some(new) = moved.names.get(&(place, name.to_owned()))
        {
            edits.replace(reference.span.clone(), literal(&format!("#/$defs/{new}{inside}"))?);
        }
    }
    if edits.is_empty() {
        return None;
    }
    edits.sort();
    moved.place(text, &fields, &mut edits)?;
    Some(Raw::made(edits.apply(text)).at(schema.pos()))
}

/// The definitions that have to move.
struct Moved<'s> {
    list: Vec<(DefinitionsKeyword, Extra<'s>)>,
    /// The new names, as a pointer spells them.
    names: BTreeMap<(DefinitionsKeyword, String), String>,
    defs: Option<Extra<'s>>,
}

impl<'s> Moved<'s> {
    fn find(fields: &[Extra<'s>]) -> Self {
        let mut this = Self { list: Vec::new(), names: BTreeMap::new(), defs: None };
        let mut taken: BTreeMap<String, ()> = BTreeMap::new();
        for field in fields {
            let inner = members(&field.value);
            match field.key.decode().as_ref() {
                "$defs" if field.value.kind() == Kind::Object => {
                    taken.extend(inner.iter().map(|inner| (escape(&inner.key.decode()), ())));
                    this.defs = Some(field.clone());
                }
                "definitions" => {
                    this.list.extend(
                        inner.into_iter().map(|inner| (DefinitionsKeyword::Definitions, inner)),
                    );
                }
                "components" => {
                    let schemas = inner.iter().filter(|inner| inner.key == "schemas");
                    let found = schemas.flat_map(|schemas| members(&schemas.value));
                    this.list.extend(found.map(|inner| (DefinitionsKeyword::Components, inner)));
                }
                _other => {}
            }
        }
        for (place, field) in &this.list {
            let old = escape(&field.key.decode());
            let mut new = old.clone();
            if taken.contains_key(&new) {
                let place = format!("{place:?}");
                new = format!("{old}_{}", hash::hex8(&[place.as_bytes(), old.as_bytes()]));
            }
            taken.insert(new.clone(), ());
            this.names.insert((*place, old), new);
        }
        this
    }

    /// Moves the definitions. Where `definitions` is all there is, only its
    /// name changes.
    fn place(&self, text: &str, fields: &[Extra<'s>], edits: &mut Edits) -> Option<()> {
        let find = |key: &str| fields.iter().find(|field| field.key == *key);
        let foreign = self.list.iter().any(|(place, _)| *place == DefinitionsKeyword::Components);
        if self.defs.is_none()
            && !foreign
            && let Some(definitions) = find("definitions")
        {
            edits.replace(literal_span(&definitions.key), r#""$defs""#);
            return Some(());
        }
        let mut added = String::new();
        for (place, field) in &self.list {
            let new = self.names.get(&(*place, escape(&field.key.decode())))?;
            if !added.is_empty() {
                added.push(',');
            }
            added.push_str(&literal(&new.replace("~1", "/").replace("~0", "~"))?);
            added.push(':');
            added.push_str(&edits.splice(text, span(&field.value)));
        }
        let mut spans: Vec<Span> = fields.iter().map(member_span).collect();
        let mut home = self.defs.is_some();
        if let Some(defs) = &self.defs {
            let end = span(&defs.value).end - 1;
            let comma = if members(&defs.value).is_empty() { "" } else { "," };
            edits.replace(end..end, format!("{comma}{added}"));
        }
        for (field, span) in fields.iter().zip(&mut spans) {
            let emptied = match field.key.decode().as_ref() {
                "definitions" => field.value.kind() == Kind::Object,
                "components" => self.empty_components(field, edits),
                _other => false,
            };
            if emptied && home {
                span.removed = true;
            } else if emptied {
                home = true;
                edits.replace(span.start..span.end, format!("\"$defs\":{{{added}}}"));
            }
        }
        if !home {
            // `components` stays for what else it holds.
            edits.replace(1..1, format!("\"$defs\":{{{added}}},"));
        }
        edits.remove(&spans);
        Some(())
    }

    /// Takes the schemas out of `components`. Returns whether nothing else is left.
    fn empty_components(&self, field: &Extra<'s>, edits: &mut Edits) -> bool {
        let inner = members(&field.value);
        let is_schemas = |inner: &Extra<'_>| inner.key == "schemas";
        if !inner.iter().any(is_schemas) {
            return false;
        }
        if inner.len() == 1 {
            return true;
        }
        let spans: Vec<Span> = inner
            .iter()
            .map(|inner| Span { removed: is_schemas(inner), ..member_span(inner) })
            .collect();
        edits.remove(&spans);
        false
    }
}

fn span(value: &Raw<'_>) -> Range<usize> {
    let start = value.pos().offset().unwrap_or_default();
    start..start + value.text().len()
}

fn member_span(field: &Extra<'_>) -> Span {
    Span { start: literal_span(&field.key).start, end: span(&field.value).end, removed: false }
}

fn literal(text: &str) -> Option<String> {
    let mut out = Vec::new();
    Str::plain(text).write(&mut out);
    String::from_utf8(out).ok()
}
