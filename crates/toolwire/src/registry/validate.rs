//! What a definition must have.

use std::borrow::Cow;

use super::problem::{Problem, Reason};
use super::shape::{DefinitionShape, ToolForm};
use super::{Stored, mcp};
use crate::guess::Fields;
use crate::model::ToolKind;
use crate::wire::names::{NameRule, full_name};
use crate::wire::{Extra, Kind, Object, Raw, Read, ReadError, Reader, pointer, written};

/// A definition that was looked at.
pub(super) struct Checked {
    /// The definition, to be kept if nothing is wrong.
    pub(super) stored: Stored,
    /// The names it takes, each with its pointer.
    pub(super) names: Vec<(String, String)>,
    /// What is wrong with it.
    pub(super) problems: Vec<Problem>,
}

/// Looks at a definition as it was offered. `shape` finds its shape by its
/// members; `label` is the namespace that it goes into.
pub(super) fn check(
    source: &str,
    index: usize,
    shape: fn(&Fields<'_>) -> DefinitionShape,
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
            return check.done(DefinitionShape::Mcp, source.to_owned(), None, Vec::new());
        }
    };
    let shape = shape(&fields);
    if let Some(label) = label
        && !NAMESPACE.accepts(label)
    {
        check.problem("", Reason::Namespace);
    }
    check.definition(shape, &fields, label);
    let (text, extra) = match shape {
        DefinitionShape::Protocol(_, ToolForm::Unwrapped(wrapper)) => {
            (wrapped(wrapper, source), Vec::new())
        }
        DefinitionShape::Protocol(..) => (source.to_owned(), Vec::new()),
        DefinitionShape::Mcp => mcp::definition(&fields),
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
    fn definition(&mut self, shape: DefinitionShape, fields: &Fields<'_>, label: Option<&str>) {
        if let Some(kind) = fields.get("type")
            && kind.kind() != Kind::String
        {
            return self.wrong("/type", kind, Kind::String);
        }
        match shape.form() {
            ToolForm::Wrapped(wrapper) => {
                let Some(inner) = fields.get(wrapper) else { return };
                let at = format!("/{wrapper}");
                match Fields::of(inner) {
                    Some(fields) => self.callable(shape, &at, &fields, label),
                    None => self.wrong(&at, inner, Kind::Object),
                }
            }
            ToolForm::Callable | ToolForm::Unwrapped(_) => self.callable(shape, "", fields, label),
            ToolForm::Untyped => self.problem("", Reason::Missing("type")),
            ToolForm::Namespace(_) | ToolForm::Fixed(_) if label.is_some() => {
                self.problem("", Reason::Member);
            }
            ToolForm::Namespace(members) => self.namespace(shape, fields, members),
            ToolForm::Fixed(Some(name)) => self.take("", name.to_owned()),
            ToolForm::Fixed(None) => match fields.text("name") {
                Some(name) => self.take("/name", name.into_owned()),
                None => self.tool = fields.text("type").map(Cow::into_owned),
            },
        }
    }

    /// A tool that has a name of its own, and a schema unless it is freeform.
    fn callable(
        &mut self,
        shape: DefinitionShape,
        at: &str,
        fields: &Fields<'_>,
        namespace: Option<&str>,
    ) {
        let path = format!("{at}/name");
        match (fields.get("name"), fields.text("name")) {
            (None, _) => self.problem(at, Reason::Missing("name")),
            (Some(name), None) => self.wrong(&path, name, Kind::String),
            (_, Some(name)) if name.trim().is_empty() => {
                self.problem(&path, Reason::Empty("name"));
            }
            (_, Some(name)) => {
                self.tool.get_or_insert_with(|| name.clone().into_owned());
                self.take(&path, full_name(namespace, &name).into_owned());
            }
        }
        let Some(schema) = fields.get(shape.schema_member()) else { return };
        let path = format!("{at}/{}", shape.schema_member());
        match Fields::of(schema) {
            Some(inside) => {
                if inside.is("strict", Kind::Bool) {
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

    fn namespace(&mut self, shape: DefinitionShape, fields: &Fields<'_>, members: &'static str) {
        let Some(name) = fields.text("name") else {
            return self.problem("", Reason::Missing("name"));
        };
        self.tool = Some(name.clone().into_owned());
        if !NAMESPACE.accepts(&name) {
            self.problem("/name", Reason::Namespace);
        }
        let Some(tools) = fields.get(members) else {
            return self.problem("", Reason::Missing(members));
        };
        let Some(Ok(list)) =
            tools.source_reader().map(|mut reader| Vec::<Raw<'_>>::read(&mut reader))
        else {
            return self.wrong(&format!("/{members}"), tools, Kind::Array);
        };
        for (place, member) in list.iter().enumerate() {
            let at = format!("/{members}/{place}");
            match Fields::of(member) {
                Some(fields) => self.callable(shape, &at, &fields, Some(&name)),
                None => self.wrong(&at, member, Kind::Object),
            }
        }
    }

    /// Whether the codec of the definition's protocol reads it too.
    fn decode(&mut self, shape: DefinitionShape, text: &str) {
        let list = format!("[{text}]");
        match (shape.protocol().codec().decode_tools)(&list) {
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
        shape: DefinitionShape,
        text: String,
        label: Option<&str>,
        extra: Vec<Extra<'static>>,
    ) -> Checked {
        let Self { index, tool: _, names, problems } = self;
        let namespace = label.map(str::to_owned);
        Checked { stored: Stored { index, shape, text, namespace, extra }, names, problems }
    }
}

fn fields_of(source: &str) -> Result<Fields<'_>, ReadError> {
    let mut reader = Reader::new(source);
    let fields = Fields::read(&mut reader)?;
    reader.finish()?;
    Ok(fields)
}

/// A definition in the wrapper that it lacks.
fn wrapped(wrapper: &str, source: &str) -> String {
    written(|out| {
        let mut tool = Object::new(out);
        tool.put("type", wrapper);
        tool.put(wrapper, &Raw::made(source));
    })
}

/// The published schema of Responses says so, and flattened names start so.
const NAMESPACE: NameRule = NameRule { max: 64 };
