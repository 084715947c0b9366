//! In whose words a definition is written.

use crate::codec::RICHEST_TOOLS;
use crate::guess::{Certainty, Fields, recognize_tool};
use crate::protocol::Protocol;

/// Where a bare tool definition keeps what it says.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolForm {
    /// A tool that is called by its `name`.
    Callable,
    /// The same inside the object under this name, which is also its `type`.
    Wrapped(&'static str),
    /// What should be wrapped like that, but is not.
    Unwrapped(&'static str),
    /// A list of callable tools under this name.
    Namespace(&'static str),
    /// A kind of tool that its vendor defined, and the name that calls use, if
    /// the kind decides it.
    Fixed(Option<&'static str>),
    /// A definition without the `type` that it needs.
    Untyped,
}

/// Where a protocol keeps the schema of a function's arguments.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaMember {
    /// The name of the member.
    pub name: &'static str,
    /// Whether a function without one is refused.
    pub required: bool,
}

/// How a definition was offered.
#[derive(Clone, Copy, Debug)]
pub(super) enum DefinitionShape {
    /// In the words of a protocol.
    Protocol(Protocol, ToolForm),
    /// As the tool of an MCP server.
    Mcp,
}

impl DefinitionShape {
    /// The shape of a definition with these members.
    pub(super) fn of(fields: &Fields<'_>) -> Self {
        let is_mcp = fields.get("inputSchema").is_some() && fields.text("type").is_none();
        match recognize_tool(fields) {
            Some((_, _, certainty)) if is_mcp && certainty < Certainty::Certain => Self::Mcp,
            Some((protocol, form, _)) => Self::Protocol(protocol, form),
            None if is_mcp => Self::Mcp,
            None => Self::stored(fields),
        }
    }

    /// The shape of a definition that is written as definitions are stored.
    pub(super) fn stored(fields: &Fields<'_>) -> Self {
        let form = (RICHEST_TOOLS.codec().recognize_tool)(fields).map(|(form, _)| form);
        Self::Protocol(RICHEST_TOOLS, form.unwrap_or(ToolForm::Fixed(None)))
    }

    /// The protocol in whose spelling the definition is stored.
    pub(super) fn protocol(self) -> Protocol {
        match self {
            Self::Protocol(protocol, _) => protocol,
            Self::Mcp => RICHEST_TOOLS,
        }
    }

    pub(super) fn form(self) -> ToolForm {
        match self {
            Self::Protocol(_, form) => form,
            Self::Mcp => ToolForm::Callable,
        }
    }

    /// The member that holds the schema of the arguments.
    pub(super) fn schema_member(self) -> &'static str {
        match self {
            Self::Protocol(protocol, _) => protocol.codec().schema_member.name,
            Self::Mcp => "inputSchema",
        }
    }

    /// The JSON Pointer inside a definition as it was offered, from the one
    /// inside it as it is stored.
    pub(super) fn offered(self, stored: &str) -> String {
        let (key, rest) = stored
            .strip_prefix('/')
            .map_or(("", ""), |path| path.split_at(path.find('/').unwrap_or(path.len())));
        match (self, key) {
            (Self::Protocol(_, ToolForm::Unwrapped(wrapper)), key) if key == wrapper => rest.into(),
            (Self::Mcp, "parameters") => format!("/inputSchema{rest}"),
            (Self::Mcp, "output_schema") => format!("/outputSchema{rest}"),
            (Self::Protocol(..) | Self::Mcp, _) => stored.to_owned(),
        }
    }
}
