//! A root that every protocol accepts: an object, said in so many words, and no
//! union.

use std::collections::BTreeSet;
use std::ops::Range;

use super::edit::{Edits, Span};
use super::merge::merge;
use super::references::{Definitions, members, references};
use super::walk::literal_span;
use crate::wire::scan::literal_end;
use crate::wire::skip::container_end;
use crate::wire::{Extra, Kind, Object, Raw, Reader, Str, Write, read_fields};

/// What was done to the root of a schema so that every protocol accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootChange {
    /// There was no schema, or one that says nothing: it became that of an
    /// object without properties.
    Empty,
    /// It says `"type":"object"` and `properties` in so many words now, or what
    /// its root referred to stands at the root. Nothing is lost.
    Typed,
    /// A union of objects became one object. Lossy.
    Union,
    /// A schema of something else became the property `value` of an object.
    /// Arguments must be unwrapped on the way back.
    Wrapped,
}

/// The schema of a tool's arguments with a root that every protocol accepts.
pub fn root<'s>(schema: Option<&'s Raw<'_>>) -> (Raw<'s>, Option<RootChange>) {
    let Some(schema) = schema else { return (Raw::made(EMPTY), Some(RootChange::Empty)) };
    if schema.is_plain_schema() {
        return (schema.borrowed(), None);
    }
    if schema.kind() != Kind::Object {
        return (Raw::made(EMPTY).at(schema.pos()), Some(RootChange::Empty));
    }
    if is_plain(schema.text()) {
        return (schema.borrowed(), None);
    }
    match rewrite(schema.text(), MAX_HOPS) {
        Some((text, change)) => (Raw::made(text).at(schema.pos()), Some(change)),
        None => (schema.borrowed(), None),
    }
}

/// The schema of an object without properties.
pub const EMPTY: &str = r#"{"type":"object","properties":{}}"#;

/// The schema of a freeform tool as a function of one text.
pub(crate) const FREEFORM: &str =
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;

/// Whether the root is fine as it is, as nearly every root is. The text is known to
/// be JSON, so nothing but the keys of the root is looked at.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut typed, mut listed) = (false, false);
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'"' {
            // What is neither a literal nor a container says nothing here.
            let is_container = matches!(byte, b'{' | b'[');
            at = if is_container { container_end(bytes, at) } else { at + 1 };
            continue;
        }
        let start = at + 1;
        at = literal_end(bytes, start);
        let [b':', value @ ..] = bytes.get(at..).unwrap_or_default().trim_ascii_start() else {
            continue;
        };
        let value = value.trim_ascii_start();
        match text.get(start..at - 1).unwrap_or_default() {
            "type" if value.starts_with(br#""object""#) => typed = true,
            "properties" => listed = value.starts_with(b"{"),
            "type" | "anyOf" | "oneOf" | "allOf" | "enum" | "const" | "not" | "$ref" => {
                return false;
            }
            // It may be another spelling of one of these.
            key if key.contains('\\') => return false,
            _other => {}
        }
    }
    typed && listed
}

/// The rewritten schema. `None` if it is fine, or too odd to be understood.
fn rewrite(text: &str, hops: u32) -> Option<(String, RootChange)> {
    let fields = read_fields(&mut Reader::new(text)).ok()?;
    let find = |key: &str| fields.iter().find(|field| field.key == *key);
    if fields.is_empty() {
        return Some((EMPTY.to_owned(), RootChange::Empty));
    }
    if let Some(reference) = find("$ref") {
        return match inline(&fields, reference) {
            Some(inlined) if hops > 0 => match rewrite(&inlined, hops - 1) {
                // A wrapper is put around what the client wrote, so that
                // references to the root keep their meaning.
                Some((_, RootChange::Wrapped)) => wrap(text, &fields),
                Some((text, RootChange::Empty)) => Some((text, RootChange::Typed)),
                Some((text, change @ (RootChange::Typed | RootChange::Union))) => {
                    Some((text, change))
                }
                None => Some((inlined, RootChange::Typed)),
            },
            Some(_) | None => wrap(text, &fields),
        };
    }
    if ["enum", "const", "not"].into_iter().any(|key| find(key).is_some()) {
        return wrap(text, &fields);
    }
    if UNIONS.into_iter().any(|key| find(key).is_some()) {
        let pointed = UNIONS.into_iter().any(|key| text.contains(&format!("\"#/{key}")));
        let merged = if pointed { None } else { merge(&fields) };
        return match merged {
            Some(merged) => Some((merged, RootChange::Union)),
            None => wrap(text, &fields),
        };
    }
    let mut edits = Edits::default();
    let said = find("type");
    match (Type::of(&fields), said) {
        (Type::Object, _) => {}
        (Type::Maybe | Type::Unspecified, Some(said)) => {
            edits.replace(span(&said.value), r#""object""#);
        }
        (Type::Maybe | Type::Unspecified, None) => edits.replace(1..1, r#""type":"object","#),
        (Type::Null | Type::Other, _) => return wrap(text, &fields),
    }
    // OpenAI answers 400 to an object that does not list its properties, even
    // if it has none.
    match find("properties") {
        None => edits.replace(text.len() - 1..text.len() - 1, r#","properties":{}"#),
        Some(listed) if listed.value.kind() == Kind::Null => {
            edits.replace(span(&listed.value), "{}");
        }
        Some(_) => {}
    }
    (!edits.is_empty()).then(|| (edits.apply(text), RootChange::Typed))
}

/// Where a value that was read from the text is in it.
fn span(value: &Raw<'_>) -> Range<usize> {
    let start = value.pos().offset().unwrap_or_default();
    start..start + value.text().len()
}

/// What a schema says about the type of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// An object.
    Object,
    /// An object among others.
    Maybe,
    /// `null`.
    Null,
    /// Something else.
    Other,
    /// Nothing, and no keyword speaks against an object.
    Unspecified,
}

impl Type {
    pub(super) fn of(fields: &[Extra<'_>]) -> Self {
        let find = |key: &str| fields.iter().find(|field| field.key == *key);
        // Some clients write `null` for what they do not say.
        let Some(said) = find("type").filter(|said| said.value.kind() != Kind::Null) else {
            let other = ["enum", "const", "items", "prefixItems", "contains"];
            let object = find("properties").is_some();
            let has_other = other.into_iter().any(|key| find(key).is_some());
            return if has_other && !object { Self::Other } else { Self::Unspecified };
        };
        match said.value.text() {
            r#""object""# => Self::Object,
            r#""null""# => Self::Null,
            words if words.starts_with('[') && words.contains(r#""object""#) => Self::Maybe,
            _other => Self::Other,
        }
    }
}

/// The schema with the definition that its root refers to in the place of the
/// reference. What stands beside the reference counts before the definition.
fn inline(fields: &[Extra<'_>], reference: &Extra<'_>) -> Option<String> {
    let target = reference.value.reader().string().ok()?;
    let definitions = Definitions::of(fields);
    let definition = definitions.get(&target.decode())?;
    if definition.kind() != Kind::Object {
        return None;
    }
    let own: BTreeSet<_> = fields.iter().map(|field| field.key.decode()).collect();
    let mut out = Vec::new();
    {
        let mut object = Object::new(&mut out);
        for field in fields {
            if field.key != "$ref" {
                field.value.write(object.foreign_key(&field.key));
                continue;
            }
            for inner in members(definition) {
                if inner.key == "$ref" || !own.contains(&inner.key.decode()) {
                    inner.value.write(object.foreign_key(&inner.key));
                }
            }
        }
    }
    String::from_utf8(out).ok()
}

/// The schema as the one property of an object. Definitions stay at the root,
/// where references look for them; references to the old root follow it.
fn wrap(text: &str, fields: &[Extra<'_>]) -> Option<(String, RootChange)> {
    let mut edits = Edits::default();
    for reference in references(text).ok()? {
        let Some(rest) = reference.target.strip_prefix('#') else { continue };
        let lifted = LIFTED.into_iter().any(|key| {
            rest.strip_prefix('/')
                .and_then(|rest| rest.strip_prefix(key))
                .is_some_and(|rest| rest.starts_with('/'))
        });
        if !lifted && (rest.is_empty() || rest.starts_with('/')) {
            let mut literal = Vec::new();
            Str::plain(format!("#/properties/value{rest}")).write(&mut literal);
            edits.replace(reference.span, String::from_utf8(literal).ok()?);
        }
    }
    edits.sort();
    let is_lifted = |field: &Extra<'_>| LIFTED.into_iter().any(|key| field.key == *key);
    let lifted: Vec<(String, String)> = fields
        .iter()
        .filter(|field| is_lifted(field))
        .map(|field| {
            let key = text.get(literal_span(&field.key)).unwrap_or_default();
            (key.to_owned(), edits.splice(text, span(&field.value)))
        })
        .collect();
    let spans: Vec<Span> = fields
        .iter()
        .map(|field| Span {
            start: literal_span(&field.key).start,
            end: span(&field.value).end,
            removed: is_lifted(field),
        })
        .collect();
    edits.remove(&spans);
    let inner = edits.apply(text);
    let mut out =
        format!(r#"{{"type":"object","properties":{{"value":{inner}}},"required":["value"]"#);
    for (key, value) in lifted {
        out.push(',');
        out.push_str(&key);
        out.push(':');
        out.push_str(&value);
    }
    out.push('}');
    Some((out, RootChange::Wrapped))
}

/// Keywords that mean the whole document wherever it starts.
const LIFTED: [&str; 4] = ["$schema", "$defs", "definitions", "components"];

pub(super) const UNIONS: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// How many references the root may be away from its definition.
const MAX_HOPS: u32 = 16;
