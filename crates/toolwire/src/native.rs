//! Tools whose shape one vendor fixed, as ordinary functions of any protocol.
//!
//! Responses' `local_shell`, `shell`, `apply_patch` and client-run
//! `tool_search`, and Messages' `bash`, `text_editor` and `memory` are run by
//! the client. Toward another protocol they become functions that say the same,
//! and calls come back in the vendor's shape.

use crate::model::{NativeKind, ToolResult};
use crate::wire::Raw;

/// A native tool as an ordinary function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// What it is for.
    pub description: &'static str,
    /// The schema of its arguments.
    pub schema: &'static str,
}

/// The function that stands for a native tool. `version` is the tool's type as
/// spelled (`text_editor_20250728`). The computer tools have none.
pub fn function(_kind: NativeKind, _version: &str) -> Option<Function> {
    None
}

/// The function's arguments that say what a native action says.
pub fn arguments<'r>(_kind: NativeKind, action: &'r Raw<'_>) -> Raw<'r> {
    action.borrowed()
}

/// The native action that says what the function's arguments say. `None` if
/// they do not fit, in which case the call stays a function call.
pub fn action(_kind: NativeKind, _arguments: &str) -> Option<Raw<'static>> {
    None
}

/// A native result as text: what a shell printed, how a patch went.
pub fn result_text(_result: &ToolResult<'_>) -> Option<String> {
    None
}
