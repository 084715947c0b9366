//! Definitions built in Rust.

use super::problem::{Problem, Reason};
use super::shape::DefinitionShape;
use super::validate::{Checked, check};
use crate::schema::EMPTY;
use crate::wire::{Object, Raw, written};

/// A tool definition being built. Nothing is checked before it is added to a
/// [`Registry`](super::Registry).
///
/// ```
/// use toolwire::registry::{Definition, Registry};
/// use toolwire::Protocol::*;
/// use toolwire::Options;
///
/// let mut registry = Registry::default();
/// registry.add(
///     Definition::function("get_weather")
///         .description("Weather now")
///         .schema(r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#)
///         .strict(),
/// )?;
/// registry.add(Definition::freeform("run_sql").grammar("regex", "SELECT .*"))?;
/// registry.add(Definition::typed("web_search"))?;
/// let tools = registry.render(Responses, &Options::default())?;
/// assert!(std::str::from_utf8(&tools.body)?.contains(r#""strict":true"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Definition {
    kind: String,
    name: Option<String>,
    description: Option<String>,
    namespace: Option<String>,
    schema: Option<String>,
    output_schema: Option<String>,
    grammar: Option<(String, String)>,
    strict: Option<bool>,
}

impl Definition {
    /// A function. Without a schema it takes no arguments.
    pub fn function(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::typed("function") }
    }

    /// A tool that takes any text.
    pub fn freeform(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::typed("custom") }
    }

    /// A tool whose shape Responses fixed, by its type: `local_shell`,
    /// `web_search`.
    pub fn typed(kind: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            name: None,
            description: None,
            namespace: None,
            schema: None,
            output_schema: None,
            grammar: None,
            strict: None,
        }
    }

    /// What the tool is for.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// The JSON Schema of a function's arguments. It is sent as it is spelled.
    #[must_use]
    pub fn schema(mut self, json: impl Into<String>) -> Self {
        self.schema = Some(json.into());
        self
    }

    /// The JSON Schema of a function's results.
    #[must_use]
    pub fn output_schema(mut self, json: impl Into<String>) -> Self {
        self.output_schema = Some(json.into());
        self
    }

    /// Makes a function's arguments fit the schema exactly. Without this they
    /// need not.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = Some(true);
        self
    }

    /// The grammar of a freeform tool's text: its syntax (`lark` or `regex`)
    /// and its definition.
    #[must_use]
    pub fn grammar(mut self, syntax: impl Into<String>, definition: impl Into<String>) -> Self {
        self.grammar = Some((syntax.into(), definition.into()));
        self
    }

    /// The namespace that the tool belongs to.
    #[must_use]
    pub fn namespace(mut self, label: impl Into<String>) -> Self {
        self.namespace = Some(label.into());
        self
    }

    pub(super) fn check(self, index: usize) -> Checked {
        let mut broken = Vec::new();
        for (key, json) in [("parameters", &self.schema), ("output_schema", &self.output_schema)] {
            if let Some(Err(error)) = json.as_deref().map(Raw::parse) {
                let reason = Reason::Unreadable(error.to_string());
                let pointer = format!("/{index}/{key}");
                broken.push(Problem::new(index, self.name.as_deref(), &pointer, reason));
            }
        }
        let text = self.text(broken.is_empty());
        let mut checked = check(&text, index, DefinitionShape::stored, self.namespace.as_deref());
        checked.problems.extend(broken);
        checked
    }

    /// The definition as it is stored. A schema that is not JSON would break it,
    /// so `schemas` says whether to write them.
    fn text(&self, schemas: bool) -> String {
        let Self { kind, name, description, namespace: _, schema, output_schema, grammar, strict } =
            self;
        written(|out| {
            let mut tool = Object::new(out);
            tool.put("type", kind);
            tool.maybe("name", name.as_ref());
            tool.maybe("description", description.as_ref());
            if schemas {
                // Responses wants a schema even of a function without arguments.
                let empty = (kind == "function").then_some(EMPTY);
                tool.maybe("parameters", schema.as_deref().or(empty).map(Raw::made).as_ref());
                tool.maybe("output_schema", output_schema.as_deref().map(Raw::made).as_ref());
            }
            // Responses makes a function strict if `strict` is missing.
            if kind == "function" {
                tool.put("strict", &strict.unwrap_or_default());
            }
            if let Some((syntax, definition)) = grammar {
                let mut format = tool.object("format");
                format.put("type", "grammar");
                format.put("syntax", syntax);
                format.put("definition", definition);
            }
        })
    }
}
