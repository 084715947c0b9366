//! In whose words a definition is written.

use crate::model::Protocol;
use crate::wire::{Extra, Kind, Raw, Str};

/// The shape of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Chat's tools: what they are inside `function` or `custom`.
    Chat,
    /// Chat's functions from before there were tools: no type, no wrapper.
    Legacy,
    /// Responses' tools, flat.
    Responses,
    /// Messages' tools.
    Messages,
    /// A tool of an MCP server.
    Mcp,
}

impl Shape {
    /// The shape of an object with these members.
    pub(super) fn of(fields: &[Extra<'_>]) -> Self {
        let has = |key| find(fields, key).is_some();
        let Some(kind) = find(fields, "type").and_then(text) else {
            return if has("input_schema") {
                Self::Messages
            } else if has("inputSchema") {
                Self::Mcp
            } else if has("function") || has("custom") {
                Self::Chat
            } else {
                Self::Legacy
            };
        };
        match kind.decode().as_ref() {
            "function" if has("function") => Self::Chat,
            "custom" if has("custom") => Self::Chat,
            "custom" if has("input_schema") => Self::Messages,
            "mcp_toolset" => Self::Messages,
            kind if is_dated(kind) => Self::Messages,
            _ => Self::Responses,
        }
    }

    /// The protocol in whose spelling the definition is stored.
    pub(super) fn protocol(self) -> Protocol {
        match self {
            Self::Chat | Self::Legacy => Protocol::Chat,
            Self::Responses | Self::Mcp => Protocol::Responses,
            Self::Messages => Protocol::Messages,
        }
    }

    /// The member that holds the schema of the arguments.
    pub(super) fn schema_key(self) -> &'static str {
        match self {
            Self::Chat | Self::Legacy | Self::Responses => "parameters",
            Self::Messages => "input_schema",
            Self::Mcp => "inputSchema",
        }
    }

    /// The JSON Pointer inside a definition as it was offered, from the one
    /// inside it as it is stored.
    pub(super) fn offered(self, stored: &str) -> String {
        match self {
            Self::Chat | Self::Responses | Self::Messages => stored.to_owned(),
            Self::Legacy => stored.strip_prefix("/function").unwrap_or(stored).to_owned(),
            Self::Mcp => {
                let (key, rest) = stored
                    .strip_prefix('/')
                    .map_or(("", ""), |path| path.split_at(path.find('/').unwrap_or(path.len())));
                match key {
                    "" => stored.to_owned(),
                    "parameters" => format!("/inputSchema{rest}"),
                    "output_schema" => format!("/outputSchema{rest}"),
                    key => format!("/{key}{rest}"),
                }
            }
        }
    }
}

/// The value of a member, unless it is `null`.
pub(super) fn find<'f, 'a>(fields: &'f [Extra<'a>], key: &str) -> Option<&'f Raw<'a>> {
    let field = fields.iter().find(|field| field.key == *key)?;
    (field.value.kind() != Kind::Null).then_some(&field.value)
}

/// The text of a string.
pub(super) fn text<'a>(value: &Raw<'a>) -> Option<Str<'a>> {
    if value.kind() != Kind::String {
        return None;
    }
    value.source_reader()?.string().ok()
}

/// Whether a type ends in a date, as the versions of Messages' own tools do.
fn is_dated(kind: &str) -> bool {
    let date = kind.rsplit_once('_').map(|(_, date)| date).unwrap_or_default();
    date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())
}
