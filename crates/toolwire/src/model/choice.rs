//! Which tools the model may, must or must not call.

use crate::wire::{At, Extra, Pos, Raw, Str};

/// The client's say over tool calls.
#[derive(Clone, Debug, Default)]
pub struct Choice<'a> {
    /// Whether to call, and what.
    pub mode: Option<At<Mode<'a>>>,
    /// The only tools that may be called, out of those declared. Not beside
    /// [`Mode::Named`], which allows one.
    pub subset: Option<Subset<'a>>,
    /// Whether several calls may come at once.
    pub parallel: Option<At<bool>>,
    /// Other members of the choice.
    pub extra: Vec<Extra<'a>>,
}

/// Whether to call a tool.
#[derive(Clone, Debug)]
pub enum Mode<'a> {
    /// As the model likes.
    Auto,
    /// Not at all.
    None,
    /// At least one.
    Any,
    /// This one.
    Named(ToolRef<'a>),
    /// A choice toolwire does not know.
    Other(Raw<'a>),
}

/// A choice among some of the declared tools.
#[derive(Clone, Debug)]
pub struct Subset<'a> {
    /// Where the choice stood.
    pub at: Pos,
    /// The tools.
    pub tools: Vec<ToolRef<'a>>,
}

/// A tool named by a choice.
#[derive(Clone, Debug)]
pub struct ToolRef<'a> {
    /// Where the reference stood.
    pub at: Pos,
    /// What kind of tool is meant.
    pub kind: ToolRefKind,
    /// The tool's name; for hosted and native tools without one, their type;
    /// for MCP the server's label.
    pub name: Str<'a>,
    /// The namespace, where the reference names one.
    pub namespace: Option<Str<'a>>,
    /// Other members (an MCP tool's own name, for one).
    pub extra: Vec<Extra<'a>>,
}

/// What kind of tool a choice means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRefKind {
    /// A function.
    Function,
    /// A freeform tool.
    Freeform,
    /// Whatever bears the name (Messages does not say).
    Any,
    /// A tool named by its type: hosted or native.
    Typed,
    /// A tool of an MCP server.
    Mcp,
}
