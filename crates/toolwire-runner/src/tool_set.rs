//! The tools that a runner offers to a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolwire::calls::ToolCall;
use toolwire::registry::Registry;
use toolwire::{Options, Protocol, Translated};

use crate::arguments::ArgumentCheck;
use crate::tool::Running;
use crate::{Error, Tool};

/// The tools that a runner offers to a model.
#[derive(Clone, Default)]
pub struct ToolSet {
    registry: Registry,
    tools: BTreeMap<String, Arc<CheckedTool>>,
}

struct CheckedTool {
    tool: Tool,
    check: Option<ArgumentCheck>,
}

impl ToolSet {
    /// A set without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] if a tool of that name is there already, if a model's API
    /// would not take the name, or if the schema is not one of an object.
    #[expect(clippy::should_implement_trait, reason = "a builder's method, as in clap")]
    pub fn add(mut self, tool: Tool) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Tool { name: tool.name.clone(), reason };
        if !is_name(&tool.name) {
            let reason = "a name has 1 to 64 letters, digits, `_` or `-`";
            return Err(wrong(reason.to_owned()));
        }
        let check = tool.check().map_err(wrong)?;
        let added = self.registry.add(tool.definition());
        added.map_err(|error| wrong(error.to_string()))?;
        self.tools.insert(tool.name.clone(), Arc::new(CheckedTool { tool, check }));
        Ok(self)
    }

    /// The definitions for a protocol, as a JSON list, with what the protocol
    /// could not be told.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if a definition cannot be written for it.
    pub fn render(&self, protocol: Protocol) -> Result<Translated, Error> {
        Ok(self.registry.render(protocol, &Options::new())?)
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Finds the tool of a call and checks its arguments. Nothing runs yet. An
    /// error is what the model reads.
    pub(crate) fn begin(&self, call: &ToolCall) -> Result<(Running, &Tool), String> {
        if call.name.is_empty() {
            return Err(format!("the call names no tool; {}", self.list()));
        }
        let Some(found) = self.tools.get(&call.name).filter(|_| call.namespace.is_none()) else {
            let name: String = call.name.chars().take(LONGEST_NAME).collect();
            return Err(format!("there is no tool `{name}`; {}", self.list()));
        };
        let running = found.tool.begin(call, found.check.as_ref())?;
        Ok((running, &found.tool))
    }

    fn list(&self) -> String {
        let names: Vec<String> = self.tools.keys().map(|name| format!("`{name}`")).collect();
        if names.is_empty() {
            return "there are no tools".to_owned();
        }
        format!("the tools are {}", names.join(", "))
    }
}

impl std::fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

/// Whether every model's API takes the name, so that none is changed on the way.
fn is_name(name: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(word)
}

const LONGEST_NAME: usize = 64;
