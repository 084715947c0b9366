//! The tools of a request, as far as recovering their calls needs them.

use std::collections::HashMap;

use super::schema::Schema;
use crate::wire::{Kind, Raw, ReadError, Reader};

/// The declared tools: only they can be called.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    list: Vec<ToolSpec>,
    by_name: HashMap<String, usize>,
}

/// One declared tool.
#[derive(Clone, Debug)]
pub(crate) struct ToolSpec {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Schema,
}

impl Tools {
    /// Reads an array of tool definitions, in the shape of any protocol.
    ///
    /// # Errors
    ///
    /// If the text is not a JSON array. A definition without a name is skipped.
    pub fn read(definitions: &str) -> Result<Self, ReadError> {
        let mut tools = Self::default();
        let list: Vec<Raw<'_>> = Reader::new(definitions).document()?;
        for definition in &list {
            let inner = member(definition, &["function", "custom"]).filter(is_object);
            let definition = inner.as_ref().unwrap_or(definition);
            let Some(name) = member(definition, &["name"]).and_then(string) else { continue };
            let description = member(definition, &["description"]).and_then(string);
            let schema = member(definition, &["parameters", "input_schema"]);
            let schema = schema.as_ref().map(Raw::text);
            tools.add(&name, description.as_deref().unwrap_or_default(), schema);
        }
        Ok(tools)
    }

    /// Adds a tool. `schema` is the JSON Schema of its arguments; if it cannot be
    /// read, any arguments are taken as they come.
    pub fn add(&mut self, name: &str, description: &str, schema: Option<&str>) {
        let schema = schema.map(Schema::read).unwrap_or_default();
        let index = self.list.len();
        self.list.push(ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            schema,
        });
        self.by_name.entry(name.to_owned()).or_insert(index);
    }

    /// Whether no tool is declared.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn list(&self) -> &[ToolSpec] {
        &self.list
    }

    /// A tool by its place in the list.
    pub(crate) fn at(&self, index: usize) -> Option<&ToolSpec> {
        self.list.get(index)
    }

    /// The only tool that these arguments can be for: it declares all of them, and
    /// requires no other.
    pub(crate) fn only_one_for(&self, arguments: &[(String, String)]) -> Option<&str> {
        let has = |name: &str| arguments.iter().any(|(key, _)| key == name);
        let mut fitting = self.list.iter().filter(|tool| {
            arguments.iter().all(|(key, _)| tool.schema.property(key).is_some())
                && tool.schema.required.iter().all(|name| has(name))
        });
        let first = fitting.next()?;
        fitting.next().is_none().then_some(&first.name)
    }

    /// Whether a name that begins so may be a tool's.
    pub(crate) fn has_name_like(&self, beginning: &str) -> bool {
        let bare = beginning.rsplit(['.', ':']).next().unwrap_or_default();
        self.find(beginning).is_some()
            || self
                .list
                .iter()
                .any(|tool| tool.name.starts_with(beginning) || tool.name.starts_with(bare))
    }

    /// The tool that a model means by a name. Some families write
    /// `functions.NAME`, count their calls (`NAME:0`), or both; Muse writes
    /// `NAME.NAME`.
    pub(crate) fn find(&self, written: &str) -> Option<usize> {
        let written = written.trim();
        let exact = |name: &str| self.by_name.get(name).copied();
        let uncounted = |name: &str| {
            let (name, count) = name.rsplit_once(':')?;
            count.bytes().all(|byte| byte.is_ascii_digit()).then(|| exact(name)).flatten()
        };
        let bare = ["functions.", "call:", "functions:", "function.", "tools.", "default_api."]
            .iter()
            .find_map(|prefix| written.strip_prefix(prefix));
        exact(written)
            .or_else(|| uncounted(written))
            .or_else(|| bare.and_then(|bare| exact(bare).or_else(|| uncounted(bare))))
            .or_else(|| {
                let (first, second) = written.split_once('.')?;
                (first == second).then(|| exact(first)).flatten()
            })
            .or_else(|| {
                let bare = written.strip_prefix("functions")?;
                exact(bare.trim_end_matches(|c: char| c.is_ascii_digit()))
            })
    }
}

/// A member of an object under one of these names.
fn member<'a>(object: &'a Raw<'_>, names: &[&str]) -> Option<Raw<'a>> {
    let mut reader = object.reader();
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(&mut reader).ok()? {
        let value = reader.raw().ok()?;
        if names.contains(&&*key.decode()) {
            return Some(value);
        }
    }
    None
}

fn string(raw: Raw<'_>) -> Option<String> {
    let text = raw.reader().string().ok()?;
    Some(text.decode().into_owned())
}

fn is_object(raw: &Raw<'_>) -> bool {
    raw.kind() == Kind::Object
}
