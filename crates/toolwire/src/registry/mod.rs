//! A set of tool definitions from any source, checked early and rendered for
//! any protocol.
//!
//! Definitions come as JSON in the shape of any protocol, also mixed; from an MCP
//! server's `tools/list`; or built in Rust. Each is checked when it is added,
//! because one bad definition makes a vendor refuse the whole request with a
//! message about the vendor's own spelling.

mod build;
mod list;
mod mcp;
mod problem;
mod render;
mod schemas;
mod shape;
mod validate;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use build::Definition;
pub use problem::{Problem, Reason};
#[doc(hidden)]
pub use shape::{SchemaMember, ToolForm};

use crate::guess::Fields;
pub use crate::schema::Slim;
use crate::translate::{self, invalid, utf8};
use crate::wire::Extra;
pub use crate::wire::Kind;
use list::List;
use problem::Weight;
use shape::DefinitionShape;
use validate::Checked;

/// A set of tool definitions.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    on_invalid: OnInvalid,
    stored: Vec<Stored>,
    /// Every name that is taken, with the definition that took it.
    names: BTreeMap<String, usize>,
    /// How many definitions were offered, dropped ones included.
    offered: usize,
    diagnostics: Vec<Problem>,
    slim: Slim,
}

/// What to do with a definition that is not valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnInvalid {
    /// Refuse the list it came in and name every problem.
    #[default]
    Error,
    /// Drop it, and every definition of a kind that toolwire does not know,
    /// with a diagnostic each.
    Filter,
}

/// Why definitions were not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The list cannot be read.
    #[error(transparent)]
    Document(#[from] translate::Error),
    /// Definitions in it are not valid.
    #[error("{}", listed(problems))]
    Invalid {
        /// What is wrong, definition by definition.
        problems: Vec<Problem>,
    },
}

/// A definition that was added.
#[derive(Clone, Debug)]
struct Stored {
    /// Its place among all that were offered.
    index: usize,
    /// The shape it was offered in.
    shape: DefinitionShape,
    /// Its JSON, in the spelling of the shape's codec.
    text: String,
    /// The namespace it was put in, unless it is one itself.
    namespace: Option<String>,
    /// Members that no protocol has a place for.
    extra: Vec<Extra<'static>>,
}

impl Registry {
    /// An empty registry.
    pub fn new(on_invalid: OnInvalid) -> Self {
        Self { on_invalid, ..Self::default() }
    }

    /// A registry of the definitions in a JSON list. See [`Registry::add_json`].
    ///
    /// ```
    /// use toolwire::Protocol::*;
    /// use toolwire::{Options, registry::Registry};
    ///
    /// let registry = Registry::from_json(
    ///     br#"[{"type":"function","function":{"name":"get_weather","description":"Weather now",
    ///          "parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]"#,
    /// )?;
    /// let tools = registry.render(Messages, &Options::default())?;
    /// assert_eq!(
    ///     std::str::from_utf8(&tools.body)?,
    ///     concat!(
    ///         r#"[{"name":"get_weather","description":"Weather now","input_schema":"#,
    ///         r#"{"type":"object","properties":{"city":{"type":"string"}}}}]"#,
    ///     ),
    /// );
    /// assert!(tools.ledger.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Registry::add_json`].
    pub fn from_json(list: &[u8]) -> Result<Self, Error> {
        let mut registry = Self::default();
        registry.add_json(list)?;
        Ok(registry)
    }

    /// Adds the definitions of a JSON list, or of the `tools` of an object.
    ///
    /// Each definition is recognized by its members: Chat's nested `function` and
    /// `custom`, Responses' flat ones, namespaces and typed tools
    /// (`local_shell`, `web_search`, …), Messages' `input_schema` and dated
    /// types, MCP's `inputSchema`, and the bare functions that Chat had before
    /// tools.
    ///
    /// ```
    /// use toolwire::registry::{OnInvalid, Registry};
    ///
    /// let mut registry = Registry::new(OnInvalid::Filter);
    /// registry.add_json(br#"[{"type":"function","name":"ok"}, {"type":"function"}, null]"#)?;
    /// assert_eq!(registry.len(), 1);
    /// let dropped: Vec<String> = registry.diagnostics().iter().map(|p| p.to_string()).collect();
    /// assert_eq!(
    ///     dropped,
    ///     [
    ///         "definition 1, /1: required field `name` is missing",
    ///         "definition 2, /2: expected an object, found null",
    ///     ],
    /// );
    /// # Ok::<(), toolwire::registry::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Document`] if the list cannot be read, and under
    /// [`OnInvalid::Error`] also [`Error::Invalid`] with everything that is
    /// wrong. Nothing of the list is added then.
    pub fn add_json(&mut self, list: &[u8]) -> Result<(), Error> {
        self.add_list(list, DefinitionShape::of, None).map(drop)
    }

    /// Adds the tools of an MCP server: the result of its `tools/list`, bare or
    /// in its JSON-RPC envelope. They go into the namespace `label`, so tools of
    /// two servers may share a name. Titles, annotations and other members that
    /// only MCP has are not sent to a model; rendering reports them.
    ///
    /// The server's cursor is returned if it has more tools: ask for the rest
    /// and add that too.
    ///
    /// ```
    /// use toolwire::Protocol::*;
    /// use toolwire::{Options, registry::Registry};
    ///
    /// let mut registry = Registry::default();
    /// let more = registry.add_mcp("crm", br#"{"tools":[{"name":"find","inputSchema":{"type":"object"}}]}"#)?;
    /// assert_eq!(more, None);
    /// let tools = registry.render(Chat, &Options::default())?;
    /// assert!(std::str::from_utf8(&tools.body)?.contains(r#""name":"crm__find""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Registry::add_json`].
    pub fn add_mcp(&mut self, label: &str, list: &[u8]) -> Result<Option<String>, Error> {
        self.add_list(list, |_| DefinitionShape::Mcp, Some(label))
    }

    /// Adds a definition built in Rust.
    ///
    /// ```
    /// use toolwire::registry::{Definition, Registry};
    ///
    /// let mut registry = Registry::default();
    /// registry.add(Definition::function("get_weather").schema(r#"{"type":"object"}"#))?;
    /// let error = registry.add(Definition::function("get_weather")).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "definition 1 (get_weather), /1/name: the name is taken by definition 0",
    /// );
    /// # Ok::<(), toolwire::registry::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the definition is not valid, under
    /// [`OnInvalid::Error`].
    pub fn add(&mut self, definition: Definition) -> Result<(), Error> {
        let mut batch = Batch::default();
        self.offer(definition.check(self.offered), &mut batch);
        self.commit(batch)
    }

    /// Leaves out of rendered schemas what a model does not need. The ledger names
    /// each omission.
    ///
    /// ```
    /// use toolwire::registry::{Definition, Registry, Slim};
    /// use toolwire::Protocol::*;
    /// use toolwire::Options;
    ///
    /// let mut registry = Registry::default();
    /// let schema = r#"{"type":"object","properties":{},"$defs":{"old":{"type":"string"}}}"#;
    /// registry.add(Definition::function("f").schema(schema))?;
    /// registry.slim(Slim::new().unused_definitions());
    /// let tools = registry.render(Chat, &Options::default())?;
    /// assert!(!std::str::from_utf8(&tools.body)?.contains("old"));
    /// assert_eq!(tools.ledger[0].code.to_string(), "schema_slimmed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slim(&mut self, wanted: Slim) {
        self.slim = wanted;
    }

    /// How many definitions there are.
    pub fn len(&self) -> usize {
        self.stored.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// What was dropped under [`OnInvalid::Filter`], and what was kept but looks
    /// wrong under any policy.
    pub fn diagnostics(&self) -> &[Problem] {
        &self.diagnostics
    }

    fn add_list(
        &mut self,
        list: &[u8],
        shape: fn(&Fields<'_>) -> DefinitionShape,
        label: Option<&str>,
    ) -> Result<Option<String>, Error> {
        let source = utf8(list)?;
        let List { definitions, cursor } =
            List::read(source).map_err(|error| invalid(source, error))?;
        let mut batch = Batch::default();
        for (place, definition) in definitions.iter().flatten().enumerate() {
            let checked = validate::check(definition.text(), self.offered + place, shape, label);
            self.offer(checked, &mut batch);
        }
        self.commit(batch)?;
        Ok(cursor.map(|cursor| cursor.into_decoded().into_owned()))
    }

    /// Adds a definition to a batch, unless something is wrong with it.
    fn offer(&self, checked: Checked, batch: &mut Batch) {
        let Checked { stored, names, mut problems } = checked;
        batch.offered += 1;
        let mut taken = BTreeMap::new();
        for (pointer, name) in names {
            let first = self.names.get(&name).or(batch.names.get(&name)).or(taken.get(&name));
            if let Some(&first) = first {
                let reason = Reason::Taken { first };
                problems.push(Problem::new(stored.index, Some(&name), &pointer, reason));
            }
            taken.insert(name, stored.index);
        }
        let weight = |problem: &Problem| problem.reason.weight(self.on_invalid);
        if problems.iter().any(|problem| weight(problem) == Weight::Fatal) {
            batch.fatal = true;
        } else {
            batch.names.extend(taken);
            batch.stored.push(stored);
        }
        batch.problems.extend(problems.into_iter().filter(|p| weight(p) != Weight::Silent));
    }

    fn commit(&mut self, batch: Batch) -> Result<(), Error> {
        let Batch { offered, fatal, stored, names, problems } = batch;
        if fatal && self.on_invalid == OnInvalid::Error {
            return Err(Error::Invalid { problems });
        }
        self.offered += offered;
        self.stored.extend(stored);
        self.names.extend(names);
        self.diagnostics.extend(problems);
        Ok(())
    }
}

/// Definitions that are added together or not at all.
#[derive(Default)]
struct Batch {
    offered: usize,
    fatal: bool,
    stored: Vec<Stored>,
    names: BTreeMap<String, usize>,
    problems: Vec<Problem>,
}

fn listed(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    lines.join("; ")
}
