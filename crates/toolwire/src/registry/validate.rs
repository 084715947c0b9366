//! What a definition must have.

use std::borrow::Cow;

use super::problem::{Problem, Reason};
use super::shape::{Shape, find, text};
use super::{Stored, list, mcp};
use crate::codec::codec;
use crate::model::ToolKind;
use crate::wire::names::{NameRule, full_name};
use crate::wire::{Extra, Kind, Object, Raw, ReadError, Reader, Str, pointer, read_fields};

/// A definition that was looked at.
pub(super) struct Checked {
    /// The definition, to be kept if nothing is wrong.
    pub(super) stored: Stored,
    /// The names it takes, each with its pointer.
    pub(super) names: Vec<(String, String)>,
    /// What is wrong with it.
    pub(super) problems: Vec<Problem>,
}

/// Looks at a definition as it was offered. `shape` is the one it must have, if
/// that is known; `label` the namespace that it goes into.
pub(super) fn check(
    source: &str,
    index: usize,
    shape: Option<Shape>,
    label: Option<&str>,
) -> Checked {
    let mut check = Check { index, tool: None, names: Vec::new(), problems: Vec::new() };
    let fields = match fields_of(source) {
        Ok(fields) => fields,
        Err(error) => {
            let found = Raw::made(source).kind();
            let reason = if found == Kind::Object {
                Reason::Unreadable(error.to_string())
            } else {
                Reason::Wrong { wanted: Kind::Object, found }
            };
            check.problem(&pointer(source, error.pos), reason);
            return check.done(Shape::Responses, source.to_owned(), None, Vec::new());
        }
    };
    let shape = shape.unwrap_or_else(|| Shape::of(&fields));
    if let Some(label) = label
        && !NAMESPACE.accepts(label)
    {
        check.problem("", Reason::Namespace);
    }
    check.definition(shape, &fields, label);
    let (text, extra) = match shape {
        Shape::Chat | Shape::Responses | Shape::Messages => (source.to_owned(), Vec::new()),
        Shape::Legacy => (legacy(source), Vec::new()),
        Shape::Mcp => mcp::responses(&fields),
    };
    if check.problems.iter().all(|problem| problem.reason == Reason::StrictInSchema) {
        check.decode(shape, &text);
    }
    check.done(shape, text, label, extra)
}

struct Check {
    index: usize,
    tool: Option<String>,
    names: Vec<(String, String)>,
    problems: Vec<Problem>,
}

impl Check {
    fn definition(&mut self, shape: Shape, fields: &[Extra<'_>], label: Option<&str>) {
        let kind = match find(fields, "type") {
            Some(kind) if kind.kind() != Kind::String => {
                self.wrong("/type", kind, Kind::String);
                return;
            }
            Some(kind) => text(kind).map(|kind| kind.into_decoded()),
            None => None,
        };
        match (shape, kind.as_deref()) {
            (Shape::Chat, Some("function")) => self.wrapped(fields, "function"),
            (Shape::Chat, Some("custom")) => self.wrapped(fields, "custom"),
            (Shape::Chat, _) => self.problem("", Reason::Missing("type")),
            (Shape::Responses, kind)
                if label.is_some() && !matches!(kind, Some("function" | "custom")) =>
            {
                self.problem("", Reason::Member);
            }
            (Shape::Responses, Some("namespace")) => self.namespace(fields),
            (Shape::Responses, Some(kind @ ("local_shell" | "shell" | "apply_patch"))) => {
                self.take("", kind.to_owned());
            }
            (Shape::Responses, Some("function" | "custom"))
            | (Shape::Messages, None | Some("custom"))
            | (Shape::Legacy | Shape::Mcp, _) => self.callable(shape, "", fields, label),
            // Types that their vendors fixed: some have a name, some have not.
            (Shape::Responses | Shape::Messages, _) => {
                match find(fields, "name").and_then(text).map(Str::into_decoded) {
                    Some(name) => self.take("/name", name.into_owned()),
                    None => self.tool = kind.map(Cow::into_owned),
                }
            }
        }
    }

    /// A tool that is described inside a member.
    fn wrapped(&mut self, fields: &[Extra<'_>], wrapper: &str) {
        let Some(inner) = find(fields, wrapper) else { return };
        let at = format!("/{wrapper}");
        match members(inner) {
            Some(fields) => self.callable(Shape::Chat, &at, &fields, None),
            None => self.wrong(&at, inner, Kind::Object),
        }
    }

    /// A tool that has a name of its own, and a schema unless it is freeform.
    fn callable(&mut self, shape: Shape, at: &str, fields: &[Extra<'_>], namespace: Option<&str>) {
        let path = format!("{at}/name");
        match find(fields, "name") {
            None => self.problem(at, Reason::Missing("name")),
            Some(name) => match text(name).map(Str::into_decoded) {
                None => self.wrong(&path, name, Kind::String),
                Some(name) if name.trim().is_empty() => {
                    self.problem(&path, Reason::Empty("name"));
                }
                Some(name) => {
                    self.tool.get_or_insert_with(|| name.clone().into_owned());
                    self.take(&path, full_name(namespace, &name).into_owned());
                }
            },
        }
        let Some(schema) = find(fields, shape.schema_key()) else { return };
        let path = format!("{at}/{}", shape.schema_key());
        match members(schema) {
            Some(inside) => {
                if find(&inside, "strict").is_some_and(|strict| strict.kind() == Kind::Bool) {
                    self.problem(&format!("{path}/strict"), Reason::StrictInSchema);
                }
            }
            None if schema.kind() == Kind::Object => {
                let reason = Reason::Unreadable("a field of the schema appears twice".to_owned());
                self.problem(&path, reason);
            }
            None => self.wrong(&path, schema, Kind::Object),
        }
    }

    fn namespace(&mut self, fields: &[Extra<'_>]) {
        let name = find(fields, "name").and_then(text).map(Str::into_decoded);
        let Some(name) = name else {
            self.problem("", Reason::Missing("name"));
            return;
        };
        self.tool = Some(name.clone().into_owned());
        if !NAMESPACE.accepts(&name) {
            self.problem("/name", Reason::Namespace);
        }
        let Some(tools) = find(fields, "tools") else {
            self.problem("", Reason::Missing("tools"));
            return;
        };
        let Some(Ok(list)) = tools.source_reader().map(|mut reader| list::elements(&mut reader))
        else {
            self.wrong("/tools", tools, Kind::Array);
            return;
        };
        for (place, member) in list.iter().enumerate() {
            let at = format!("/tools/{place}");
            match members(member) {
                Some(fields) => self.callable(Shape::Responses, &at, &fields, Some(&name)),
                None => self.wrong(&at, member, Kind::Object),
            }
        }
    }

    /// Whether the codec of the definition's protocol reads it too.
    fn decode(&mut self, shape: Shape, text: &str) {
        let list = format!("[{text}]");
        match codec(shape.protocol()).decode_tools(&list) {
            Ok(tools) => {
                let unknown = tools.iter().any(|tool| matches!(tool.kind, ToolKind::Unknown(_)));
                let kind = Reader::new(text).tag("type").ok().flatten();
                if unknown && let Some(kind) = kind {
                    let kind = kind.into_decoded().into_owned();
                    self.problem("/type", Reason::Unknown { kind });
                }
            }
            Err(error) => {
                let within = pointer(&list, error.pos);
                let within = shape.offered(within.strip_prefix("/0").unwrap_or(&within));
                self.problem(&within, Reason::Unreadable(error.to_string()));
            }
        }
    }

    /// Takes a name for the tool.
    fn take(&mut self, within: &str, name: String) {
        self.tool.get_or_insert_with(|| name.clone());
        self.names.push((format!("/{}{within}", self.index), name));
    }

    fn wrong(&mut self, within: &str, value: &Raw<'_>, wanted: Kind) {
        self.problem(within, Reason::Wrong { wanted, found: value.kind() });
    }

    /// Notes a problem at a pointer inside the definition.
    fn problem(&mut self, within: &str, reason: Reason) {
        let pointer = format!("/{}{within}", self.index);
        self.problems.push(Problem::new(self.index, self.tool.as_deref(), &pointer, reason));
    }

    fn done(
        self,
        shape: Shape,
        text: String,
        label: Option<&str>,
        extra: Vec<Extra<'static>>,
    ) -> Checked {
        let Self { index, tool: _, names, problems } = self;
        let namespace = label.map(str::to_owned);
        Checked { stored: Stored { index, shape, text, namespace, extra }, names, problems }
    }
}

/// The members of an object. `None` if it is none, or names a member twice.
fn members<'a>(value: &Raw<'a>) -> Option<Vec<Extra<'a>>> {
    value.source_reader().and_then(|mut reader| read_fields(&mut reader).ok())
}

fn fields_of(source: &str) -> Result<Vec<Extra<'_>>, ReadError> {
    let mut reader = Reader::new(source);
    let fields = read_fields(&mut reader)?;
    reader.finish()?;
    Ok(fields)
}

/// A function from before there were tools, as a tool.
fn legacy(source: &str) -> String {
    let mut out = Vec::with_capacity(source.len() + 40);
    {
        let mut tool = Object::new(&mut out);
        tool.put("type", "function");
        tool.put("function", &Raw::made(source));
    }
    // Everything written above is text.
    String::from_utf8(out).unwrap_or_default()
}

/// The published schema of Responses says so, and flattened names start so.
const NAMESPACE: NameRule = NameRule { max: 64 };
