//! What each vendor accepts as a strict schema.

use std::collections::{BTreeMap, BTreeSet};

use super::references::split;
use super::root::UNIONS;
use super::walk::{Holds, Visitor, walk};
use crate::wire::{Kind, Raw, Read, ReadError, Reader, Str};

/// Whether OpenAI accepts the schema as strict: every object closed and all its
/// properties required, every value of a stated type, nothing beside a reference,
/// and only keywords that its decoder can hold the model to.
pub(crate) fn fits_openai_strict(schema: &Raw<'_>) -> bool {
    let Some(facts) = Facts::of(schema, &openai_refuses) else { return false };
    facts.root_object
        && !facts.refused
        && !facts.has_untyped
        && !facts.has_described_reference
        && facts.open_objects == 0
        && facts.optional == 0
        && facts.external == 0
        && facts.properties <= 5000
        && facts.enum_values <= 1000
        && facts.levels <= 10
}

/// Whether Anthropic accepts the schema as strict: every object closed, no
/// bounds, no recursion, and not too much left open.
pub(crate) fn fits_anthropic_strict(schema: &Raw<'_>) -> bool {
    let Some(facts) = Facts::of(schema, &anthropic_refuses) else { return false };
    facts.root_object
        && !facts.refused
        && facts.open_objects == 0
        && facts.external == 0
        && facts.optional <= 24
        && facts.unions <= 16
        && !facts.recursive()
}

/// Whether Anthropic can hold an answer to the schema at all: no recursion, no
/// references out of it or inside an `allOf`, no choice among objects or lists.
pub(crate) fn fits_anthropic_format(schema: &Raw<'_>) -> bool {
    let Some(facts) = Facts::of(schema, &|_key, _value| false) else { return true };
    !facts.leaves_document
        && !facts.has_reference_in_all_of
        && !facts.has_composite_enum
        && !facts.recursive()
}

fn openai_refuses(key: &str, value: &Raw<'_>) -> bool {
    match key {
        "allOf" | "default" => true,
        "additionalProperties" => value.text() != "false",
        "format" => !value
            .reader()
            .string()
            .is_ok_and(|name| OPENAI_FORMATS.contains(&name.decode().as_ref())),
        other => both_refuse(other),
    }
}

/// The formats of texts that OpenAI's decoder knows:
/// developers.openai.com, structured outputs.
const OPENAI_FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Whether Anthropic cannot hold a model to this keyword.
pub(super) fn anthropic_refuses(key: &str, value: &Raw<'_>) -> bool {
    match key {
        "maxItems" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
        | "multipleOf" | "minLength" | "maxLength" => true,
        "minItems" => !matches!(value.text(), "0" | "1"),
        "additionalProperties" => value.text() != "false",
        // Only plain values: no objects or lists.
        "enum" => value.text().get(1..).is_some_and(|inside| inside.contains(['{', '['])),
        other => both_refuse(other),
    }
}

/// Whether neither vendor can hold a model to this keyword.
fn both_refuse(key: &str) -> bool {
    matches!(
        key,
        "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies"
            | "patternProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "uniqueItems"
            | "prefixItems"
    )
}

/// What a walk over a schema counts.
struct Facts<'v> {
    refuses: &'v dyn Fn(&str, &Raw<'_>) -> bool,
    open: Vec<Node>,
    root_object: bool,
    refused: bool,
    /// Objects that allow properties of other names.
    open_objects: usize,
    /// Properties that may be left out.
    optional: usize,
    properties: usize,
    enum_values: usize,
    unions: usize,
    /// Whether a schema states neither a type, nor a choice, nor a reference.
    has_untyped: bool,
    /// Whether a reference has other keywords beside it.
    has_described_reference: bool,
    levels: usize,
    /// References that leave the document, or lead nowhere that is understood.
    external: usize,
    /// Whether a reference leaves the document.
    leaves_document: bool,
    has_reference_in_all_of: bool,
    /// Whether objects or lists are among the values that an `enum` offers.
    has_composite_enum: bool,
    /// Which definition refers to which. The root is the empty name.
    edges: BTreeMap<String, BTreeSet<String>>,
    /// The definition being walked, and how deep it stands.
    within: Vec<(usize, String)>,
    /// The name of the definition that begins next.
    next: Option<String>,
}

/// A schema that is being walked.
#[derive(Default)]
struct Node {
    object: bool,
    closed: bool,
    union: bool,
    /// Whether it has a `type` or an `anyOf`.
    typed: bool,
    reference: bool,
    /// Whether the schemas that are being walked stand in its `allOf`.
    in_all_of: bool,
    keywords: usize,
    properties: Vec<String>,
    required: BTreeSet<String>,
}

impl<'v> Facts<'v> {
    fn of(schema: &Raw<'_>, refuses: &'v dyn Fn(&str, &Raw<'_>) -> bool) -> Option<Self> {
        let mut facts = Self {
            refuses,
            open: Vec::new(),
            root_object: false,
            refused: false,
            open_objects: 0,
            optional: 0,
            properties: 0,
            enum_values: 0,
            unions: 0,
            has_untyped: false,
            has_described_reference: false,
            levels: 0,
            external: 0,
            leaves_document: false,
            has_reference_in_all_of: false,
            has_composite_enum: false,
            edges: BTreeMap::new(),
            within: vec![(0, String::new())],
            next: None,
        };
        walk(&mut schema.reader(), &mut facts).ok()?;
        Some(facts)
    }

    fn refer(&mut self, target: &str) {
        let name = match split(target) {
            Some((_, name)) => name,
            None if target == "#" => "",
            None => {
                self.external += 1;
                self.leaves_document |= !target.starts_with('#');
                return;
            }
        };
        let from = self.within.last().map(|(_, name)| name.clone()).unwrap_or_default();
        self.edges.entry(from).or_default().insert(name.to_owned());
    }

    /// Whether a definition refers to itself, directly or not.
    fn recursive(&self) -> bool {
        let mut done = BTreeSet::new();
        for start in self.edges.keys() {
            if done.contains(start.as_str()) {
                continue;
            }
            let mut path: Vec<(&str, Vec<&str>)> = vec![(start, self.targets(start))];
            let mut on_path = BTreeSet::from([start.as_str()]);
            while let Some((name, rest)) = path.last_mut() {
                let Some(next) = rest.pop() else {
                    on_path.remove(*name);
                    done.insert(*name);
                    path.pop();
                    continue;
                };
                if on_path.contains(next) {
                    return true;
                }
                if !done.contains(next) {
                    on_path.insert(next);
                    path.push((next, self.targets(next)));
                }
            }
        }
        false
    }

    fn targets(&self, name: &str) -> Vec<&str> {
        let targets = self.edges.get(name);
        targets.into_iter().flatten().map(String::as_str).collect()
    }
}

impl<'s> Visitor<'s> for Facts<'_> {
    fn keyword(&mut self, key: &Str<'s>, reader: &mut Reader<'s>) -> Result<(), ReadError> {
        let value = reader.raw()?;
        let key = key.decode();
        self.refused |= (self.refuses)(&key, &value);
        self.has_untyped |= value.kind() == Kind::Bool
            && key != "additionalProperties"
            && Holds::of(&key) == Holds::Schemas;
        if let Some(node) = self.open.last_mut() {
            node.keywords += 1;
            node.typed |= key == "type";
            node.reference |= key == "$ref";
        }
        match (key.as_ref(), value.kind()) {
            ("$ref", Kind::String) => {
                let target = value.reader().string()?;
                self.refer(&target.decode());
            }
            ("enum", Kind::Array) => {
                let values = Vec::<Raw<'_>>::read(&mut value.reader())?;
                let is_composite =
                    |value: &Raw<'_>| matches!(value.kind(), Kind::Object | Kind::Array);
                self.has_composite_enum |= values.iter().any(is_composite);
                self.enum_values += values.len();
            }
            (key, kind) => {
                let Some(node) = self.open.last_mut() else { return Ok(()) };
                match (key, kind) {
                    ("type", Kind::String) => node.object |= value.text() == r#""object""#,
                    ("type", Kind::Array) => {
                        node.object |= value.text().contains(r#""object""#);
                        node.union = true;
                    }
                    ("required", Kind::Array) => {
                        let names = Vec::<Str<'_>>::read(&mut value.reader())?;
                        node.required = names.iter().map(|n| n.decode().into_owned()).collect();
                    }
                    ("additionalProperties", _) => node.closed = value.text() == "false",
                    (_, _) => {}
                }
            }
        }
        Ok(())
    }

    fn name(&mut self, of: &str, name: &Str<'s>) {
        match of {
            "properties" => {
                self.properties += 1;
                if let Some(node) = self.open.last_mut() {
                    node.object = true;
                    node.properties.push(name.decode().into_owned());
                }
            }
            "$defs" | "definitions" if self.open.len() == 1 => {
                self.next = Some(super::references::escape(&name.decode()));
            }
            _other => {}
        }
    }

    fn any_or_none(&mut self) {
        self.has_untyped = true;
    }

    fn enter(&mut self) {
        self.open.push(Node::default());
        if let Some(name) = self.next.take() {
            self.within.push((self.open.len(), name));
        }
    }

    fn holder(&mut self, key: &Str<'s>) {
        let key = key.decode();
        // Which schemas the keyword holds does not matter, only that it does.
        self.refused |= (self.refuses)(&key, &Raw::made("{}"));
        let root = self.open.len() == 1;
        // Neither vendor takes a union for the arguments as a whole.
        self.refused |= root && UNIONS.contains(&key.as_ref());
        if let Some(node) = self.open.last_mut() {
            node.keywords += 1;
            node.union |= key == "anyOf";
            node.typed |= key == "anyOf";
            node.in_all_of = key == "allOf";
        }
    }

    fn leave(&mut self) {
        let depth = self.open.len();
        let Some(node) = self.open.pop() else { return };
        if self.within.last().is_some_and(|(at, _)| *at == depth) {
            self.within.pop();
        }
        let Node {
            object,
            closed,
            union,
            typed,
            reference,
            in_all_of: _,
            keywords,
            properties,
            required,
        } = node;
        self.has_untyped |= !typed && !reference;
        self.has_reference_in_all_of |=
            reference && self.open.last().is_some_and(|around| around.in_all_of);
        self.has_described_reference |= reference && keywords > 1;
        self.unions += usize::from(union);
        if object {
            self.open_objects += usize::from(!closed);
            let optional = properties.iter().filter(|name| !required.contains(*name)).count();
            self.optional += optional;
            let around = self.open.iter().filter(|node| node.object).count();
            self.levels = self.levels.max(around + 1);
        }
        if depth == 1 {
            self.root_object = object;
        }
    }
}
