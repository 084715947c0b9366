//! A JSON Schema, as far as arguments can be aligned with it.

use std::collections::HashMap;

use crate::wire::{Kind, Raw, Reader};

/// What a schema says about a value. What it does not say is allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    /// The types it names. Empty if it names none.
    pub(crate) types: Vec<Type>,
    /// The strings of an enumeration.
    pub(crate) choices: Vec<String>,
    pub(crate) properties: Vec<(String, Schema)>,
    pub(crate) required: Vec<String>,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) description: String,
    pub(crate) format: String,
    /// The places of the properties by name.
    places: HashMap<String, usize>,
    /// The same by their letters and digits alone. `None` if several share them.
    plain_places: HashMap<String, Option<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Schema {
    /// Reads a schema. One that cannot be read says nothing.
    pub(super) fn read(source: &str) -> Self {
        let Ok(raw) = Raw::parse(source) else { return Self::default() };
        let mut definitions = HashMap::new();
        collect_definitions(&raw, &mut definitions);
        let mut budget = MOST_NODES;
        read(&raw, &definitions, 0, &mut budget)
    }

    /// The schema of a property.
    pub(crate) fn property(&self, name: &str) -> Option<&Schema> {
        let place = self.places.get(name)?;
        self.properties.get(*place).map(|(_, schema)| schema)
    }

    /// The declared name of a property: the same, or the only one that differs in
    /// case and separators alone.
    pub(super) fn known_name(&self, name: &str) -> Option<&str> {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => (*self.plain_places.get(&plain(name))?)?,
        };
        self.properties.get(place).map(|(name, _)| name.as_str())
    }

    /// Notes where the properties are.
    fn index(&mut self) {
        for (place, (name, _)) in self.properties.iter().enumerate() {
            if *self.places.entry(name.clone()).or_insert(place) == place {
                let same = self.plain_places.entry(plain(name));
                same.and_modify(|first| *first = None).or_insert(Some(place));
            }
        }
    }

    /// Whether a value of a type fits. A schema without types takes any.
    pub(crate) fn takes(&self, kind: Type) -> bool {
        self.types.is_empty()
            || self.types.contains(&kind)
            || (kind == Type::Integer && self.types.contains(&Type::Number))
    }

    /// Whether the schema names a type.
    pub(crate) fn names(&self, kind: Type) -> bool {
        self.types.contains(&kind)
    }
}

fn collect_definitions<'a>(root: &'a Raw<'_>, found: &mut HashMap<String, Raw<'a>>) {
    let mut reader = root.reader();
    let Ok(mut members) = reader.object() else { return };
    while let Ok(Some(key)) = members.next(&mut reader) {
        let Ok(value) = reader.raw() else { return };
        let key = key.decode();
        if key != "$defs" && key != "definitions" {
            continue;
        }
        let Some(mut inner) = value.source_reader() else { continue };
        let Ok(mut names) = inner.object() else { continue };
        while let Ok(Some(name)) = names.next(&mut inner) {
            let Ok(schema) = inner.raw() else { break };
            found.insert(format!("#/{key}/{}", name.decode()), schema);
        }
    }
}

fn read(
    raw: &Raw<'_>,
    definitions: &HashMap<String, Raw<'_>>,
    depth: usize,
    budget: &mut usize,
) -> Schema {
    let mut schema = Schema::default();
    if depth > DEEPEST || *budget == 0 {
        return schema;
    }
    *budget -= 1;
    let mut reader = raw.reader();
    let Ok(mut members) = reader.object() else { return schema };
    while let Ok(Some(key)) = members.next(&mut reader) {
        let Ok(value) = reader.raw() else { break };
        match &*key.decode() {
            "type" => schema.types.extend(strings(&value).iter().filter_map(|name| type_of(name))),
            "enum" => schema.choices.extend(strings(&value)),
            "const" => schema.choices.extend(string(&value)),
            "required" => schema.required.extend(strings(&value)),
            "description" => schema.description.extend(string(&value)),
            "format" => schema.format.extend(string(&value)),
            "items" => schema.items = Some(Box::new(read(&value, definitions, depth + 1, budget))),
            "properties" => {
                for (name, value) in objects(&value) {
                    let property = read(&value, definitions, depth + 1, budget);
                    schema.properties.push((name, property));
                }
            }
            "$ref" => {
                let target = string(&value).and_then(|name| definitions.get(&name));
                if let Some(target) = target {
                    merge(&mut schema, read(target, definitions, depth + 1, budget));
                }
            }
            "anyOf" | "oneOf" | "allOf" => {
                for part in value.elements().unwrap_or_default() {
                    merge(&mut schema, read(&part, definitions, depth + 1, budget));
                }
            }
            _ => {}
        }
    }
    schema.index();
    schema
}

/// Adds what another schema says. A union is read as all of its members at
/// once, because a value only has to fit one of them.
fn merge(schema: &mut Schema, other: Schema) {
    let Schema {
        types,
        choices,
        properties,
        required,
        items,
        description,
        format,
        places: _,
        plain_places: _,
    } = other;
    schema.types.extend(types);
    schema.choices.extend(choices);
    schema.properties.extend(properties);
    schema.required.extend(required);
    schema.items = schema.items.take().or(items);
    if schema.description.is_empty() {
        schema.description = description;
    }
    if schema.format.is_empty() {
        schema.format = format;
    }
}

/// A name's letters and digits, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn objects<'a>(raw: &'a Raw<'_>) -> Vec<(String, Raw<'a>)> {
    let mut found = Vec::new();
    let mut reader = raw.reader();
    let Ok(mut members) = reader.object() else { return found };
    while let Ok(Some(key)) = members.next(&mut reader) {
        let Ok(value) = reader.raw() else { break };
        found.push((key.decode().into_owned(), value));
    }
    found
}

fn string(raw: &Raw<'_>) -> Option<String> {
    if raw.kind() != Kind::String {
        return None;
    }
    let text = Reader::new(raw.text()).string().ok()?;
    Some(text.decode().into_owned())
}

/// The strings of a list, or the one string that stands in for a list.
fn strings(raw: &Raw<'_>) -> Vec<String> {
    match string(raw) {
        Some(text) => vec![text],
        None => raw.elements().unwrap_or_default().iter().filter_map(string).collect(),
    }
}

fn type_of(name: &str) -> Option<Type> {
    Some(match name {
        "null" => Type::Null,
        "boolean" => Type::Boolean,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "string" => Type::String,
        "array" => Type::Array,
        "object" => Type::Object,
        _ => return None,
    })
}

const DEEPEST: usize = 12;
const MOST_NODES: usize = 20_000;
