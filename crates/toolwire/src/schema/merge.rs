//! A union of objects at the root, as one object that allows at least as much.

use std::collections::{BTreeMap, BTreeSet};

use super::references::{Definitions, members};
use super::root::{Type, UNIONS};
use crate::wire::{Extra, Kind, Object, Raw, Str, Write};

/// The merged schema. `None` if a branch is not an object's.
pub(super) fn merge(root: &[Extra<'_>]) -> Option<String> {
    let definitions = Definitions::of(root);
    let size: usize = root.iter().map(|field| field.value.text().len()).sum();
    let unfold = size.saturating_mul(2).saturating_add(MIN_UNFOLD);
    let mut merger = Merger { definitions, branches: MAX_BRANCHES, unfold, forms: Vec::new() };
    let shape = merger.shape(root, 0)?;
    if !shape.definite {
        return None;
    }
    render(root, &shape, &merger.forms)
}

/// What an object is made of.
#[derive(Default)]
struct ObjectShape<'s> {
    properties: Vec<Property<'s>>,
    index: BTreeMap<String, usize>,
    required: Vec<Str<'s>>,
    known: BTreeSet<String>,
    /// It refuses properties of other names.
    closed: bool,
    /// It is certainly an object.
    definite: bool,
}

struct Property<'s> {
    name: Str<'s>,
    /// The different schemas it was given.
    schemas: Vec<Raw<'s>>,
    /// Whether all of them hold, and not just one.
    all: bool,
}

impl<'s> ObjectShape<'s> {
    fn add(&mut self, name: Str<'s>, schema: Raw<'s>, all: bool) {
        let next = self.properties.len();
        let index = *self.index.entry(name.decode().into_owned()).or_insert(next);
        match self.properties.get_mut(index) {
            // Branches are few, so are the schemas of one property.
            Some(property) if property.schemas.contains(&schema) => {}
            Some(property) => {
                property.schemas.push(schema);
                property.all |= all;
            }
            None => self.properties.push(Property { name, schemas: vec![schema], all: false }),
        }
    }

    fn absorb(&mut self, branch: Self, all: bool) {
        let Self { properties, index: _, required: _, known: _, closed: _, definite } = branch;
        self.definite |= definite;
        for Property { name, schemas, all: inner } in properties {
            for schema in schemas {
                self.add(name.clone(), schema, all || inner);
            }
        }
    }

    fn require(&mut self, names: impl IntoIterator<Item = Str<'s>>) {
        for name in names {
            if self.known.insert(name.decode().into_owned()) {
                self.required.push(name);
            }
        }
    }
}

struct Merger<'s> {
    definitions: Definitions<'s>,
    /// How many more branches may be looked at, and how many bytes of
    /// definitions: those that refer to each other could be unfolded for ever.
    branches: usize,
    unfold: usize,
    /// What each alternative at the root asks for, in words.
    forms: Vec<String>,
}

impl<'s> Merger<'s> {
    fn shape(&mut self, fields: &[Extra<'s>], depth: usize) -> Option<ObjectShape<'s>> {
        self.branches = self.branches.checked_sub(1)?;
        if depth > MAX_NESTING {
            return None;
        }
        let mut shape = ObjectShape::default();
        match Type::of(fields) {
            Type::Object | Type::Maybe => shape.definite = true,
            Type::Unspecified => {}
            Type::Null | Type::Other => return None,
        }
        for field in fields {
            match field.key.decode().as_ref() {
                "properties" => {
                    shape.definite = true;
                    for property in members(&field.value) {
                        shape.add(property.key, property.value, false);
                    }
                }
                "required" => {
                    let names = field.value.source_reader().and_then(|mut reader| {
                        <Vec<Str<'s>> as crate::wire::Read>::read(&mut reader).ok()
                    });
                    shape.require(names?);
                }
                "additionalProperties" => shape.closed = field.value.text() == "false",
                _other => {}
            }
        }
        for field in fields {
            match field.key.decode().as_ref() {
                "$ref" => {
                    let target = field.value.reader().string().ok()?.into_decoded().into_owned();
                    let definition = self.definitions.get(&target)?.clone();
                    self.unfold = self.unfold.checked_sub(definition.text().len())?;
                    let branch = self.branch(&definition, depth)??;
                    shape.require(branch.required.clone());
                    shape.closed |= branch.closed;
                    shape.absorb(branch, true);
                }
                "anyOf" | "oneOf" => self.alternatives(&mut shape, &field.value, depth)?,
                "allOf" => {
                    for branch in list(&field.value)? {
                        let branch = self.branch(&branch, depth)??;
                        shape.require(branch.required.clone());
                        shape.absorb(branch, true);
                    }
                }
                _other => {}
            }
        }
        Some(shape)
    }

    fn alternatives(
        &mut self,
        shape: &mut ObjectShape<'s>,
        value: &Raw<'s>,
        depth: usize,
    ) -> Option<()> {
        let mut branches = Vec::new();
        for branch in list(value)? {
            // Arguments are always an object, so `null` is no alternative.
            if let Some(branch) = self.branch(&branch, depth)? {
                branches.push(branch);
            }
        }
        let Some(first) = branches.first() else { return Some(()) };
        if depth == 0 {
            self.forms = branches.iter().map(form).collect();
        }
        let common: Vec<Str<'s>> = first
            .required
            .iter()
            .filter(|name| {
                let name = name.decode();
                branches.iter().all(|branch| branch.known.contains(name.as_ref()))
            })
            .cloned()
            .collect();
        shape.closed |= branches.iter().all(|branch| branch.closed);
        shape.require(common);
        // One branch that is certainly an object does not make the others so.
        let definite = shape.definite || branches.iter().all(|branch| branch.definite);
        for branch in branches {
            shape.absorb(branch, false);
        }
        shape.definite = definite;
        Some(())
    }

    /// The shape of a branch: `Some(None)` if it allows no object, `None` if it
    /// allows something else than objects.
    fn branch(&mut self, branch: &Raw<'s>, depth: usize) -> Option<Option<ObjectShape<'s>>> {
        match branch.kind() {
            Kind::Bool if branch.text() == "false" => Some(None),
            Kind::Bool => Some(Some(ObjectShape::default())),
            Kind::Object => {
                let fields = members(branch);
                if Type::of(&fields) == Type::Null {
                    return Some(None);
                }
                self.shape(&fields, depth + 1).map(Some)
            }
            Kind::Null | Kind::Number | Kind::String | Kind::Array | Kind::Invalid | Kind::End => {
                None
            }
        }
    }
}

fn list<'s>(value: &Raw<'s>) -> Option<Vec<Raw<'s>>> {
    <Vec<Raw<'s>> as crate::wire::Read>::read(&mut value.source_reader()?).ok()
}

/// What an alternative asks for, in words.
fn form(shape: &ObjectShape<'_>) -> String {
    let names: Vec<String> = if shape.required.is_empty() {
        shape.properties.iter().map(|property| property.name.decode().into_owned()).collect()
    } else {
        shape.required.iter().map(|name| name.decode().into_owned()).collect()
    };
    let mut text: Vec<String> =
        names.iter().take(MAX_WORDS).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_WORDS {
        text.push("…".to_owned());
    }
    if text.is_empty() { "nothing".to_owned() } else { text.join(", ") }
}

fn render(root: &[Extra<'_>], shape: &ObjectShape<'_>, forms: &[String]) -> Option<String> {
    let described = root.iter().any(|field| field.key == "description");
    let note = note(forms);
    let mut out = Vec::new();
    {
        let mut object = Object::new(&mut out);
        object.put("type", "object");
        if !described && !note.is_empty() {
            object.put("description", &note);
        }
        let mut placed = false;
        for field in root {
            let key = field.key.decode();
            match key.as_ref() {
                "type" | "required" => {}
                "description" => describe(&mut object, &field.value, &note),
                // The merged properties stand where the first part of them did.
                key if key == "properties" || UNIONS.contains(&key) => {
                    if !std::mem::replace(&mut placed, true) {
                        properties(&mut object, shape);
                    }
                }
                _other => field.value.write(object.foreign_key(&field.key)),
            }
        }
        let said = root.iter().any(|field| field.key == "additionalProperties");
        if shape.closed && !said {
            object.put("additionalProperties", &false);
        }
    }
    String::from_utf8(out).ok()
}

fn describe(object: &mut Object<'_>, description: &Raw<'_>, note: &str) {
    let out = object.key("description");
    match description.reader().string() {
        Ok(text) if !note.is_empty() => {
            out.push(b'"');
            text.write_inside(out);
            Str::plain(format!("\n\n{note}")).write_inside(out);
            out.push(b'"');
        }
        Ok(_) | Err(_) => description.write(out),
    }
}

fn properties(object: &mut Object<'_>, shape: &ObjectShape<'_>) {
    {
        let mut inner = object.object("properties");
        for Property { name, schemas, all } in &shape.properties {
            let out = inner.foreign_key(name);
            match schemas.as_slice() {
                [schema] => schema.write(out),
                several => {
                    let key = if *all { "allOf" } else { "anyOf" };
                    Object::new(out).put(key, several);
                }
            }
        }
    }
    if !shape.required.is_empty() {
        object.put("required", &shape.required);
    }
}

fn note(forms: &[String]) -> String {
    if forms.len() < 2 {
        return String::new();
    }
    let mut text = format!("The arguments take one of {} forms: with ", forms.len());
    let listed: Vec<&str> = forms.iter().take(MAX_WORDS).map(String::as_str).collect();
    text.push_str(&listed.join("; or with "));
    text.push_str(if forms.len() > MAX_WORDS { "; …" } else { "." });
    text
}

const MAX_BRANCHES: usize = 256;
const MAX_NESTING: usize = 8;
/// Small schemas may use a definition often.
const MIN_UNFOLD: usize = 64 * 1024;
/// How many forms, and names in a form, are told to the model.
const MAX_WORDS: usize = 16;
