//! Tool definitions: from Messages into the model.

use super::content_in;
use super::wire;
use crate::model::{Hosted, HostedClass, Native, NativeKind, Tool, ToolKind};
use crate::wire::{Extra, Pos, Raw, Read, ReadError, Reader, Str};

/// Reads a bare array of tool definitions.
pub(super) fn decode(body: &str) -> Result<Vec<Tool<'_>>, ReadError> {
    let Tools { at: _, list } = Reader::new(body).document()?;
    Ok(list)
}

/// `tools`.
#[derive(Debug)]
pub(super) struct Tools<'a> {
    pub(super) at: Pos,
    pub(super) list: Vec<Tool<'a>>,
}

impl<'a> Read<'a> for Tools<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        let list = match reader.known_tools() {
            Some(list) => list,
            None => reader.list(|reader| ToolDefinition::read(reader).map(|tool| tool.0))?,
        };
        Ok(Self { at, list })
    }
}

/// One entry of `tools`.
#[derive(Debug)]
pub(super) struct ToolDefinition<'a>(pub(super) Tool<'a>);

impl<'a> Read<'a> for ToolDefinition<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        // Most tools do not say their type, so to look for it first would be to read
        // their schemas twice.
        let start = reader.clone();
        let tool = wire::Tool::read(reader);
        let kind = match &tool {
            Ok(tool) => tool.kind.clone(),
            Err(_) => start.clone().tag("type")?,
        };
        let class = kind.as_ref().map_or(ToolClass::Function, |kind| class(&kind.decode()));
        if class == ToolClass::Unknown {
            *reader = start;
            let name = reader.tag("name")?.or(kind).unwrap_or(Str::plain(""));
            let raw = reader.raw()?;
            return Ok(Self(Tool::new(raw.pos(), name, ToolKind::Unknown(raw))));
        }
        let wire::Tool {
            at,
            kind,
            name,
            description,
            input_schema,
            strict,
            defer_loading,
            allowed_callers,
            input_examples,
            eager_input_streaming,
            cache_control,
            mut extra,
        } = tool?;
        let kind_text = kind.unwrap_or(Str::plain("custom"));
        let tool_kind = match class {
            ToolClass::Function | ToolClass::Unknown => ToolKind::Function { schema: input_schema },
            ToolClass::Native(kind) => {
                extra.extend(input_schema.map(schema_field));
                ToolKind::Native(Native { kind, kind_text: kind_text.clone() })
            }
            ToolClass::Hosted(class) => {
                extra.extend(input_schema.map(schema_field));
                ToolKind::Hosted(Hosted { class, kind_text: kind_text.clone() })
            }
        };
        let name = match (name, class) {
            (Some(name), _) => name,
            (None, ToolClass::Function | ToolClass::Unknown) => {
                return Err(ReadError::missing(at, "name"));
            }
            (None, ToolClass::Native(_) | ToolClass::Hosted(_)) => kind_text,
        };
        Ok(Self(Tool {
            at,
            name,
            description,
            kind: tool_kind,
            strict,
            defer: defer_loading,
            callers: allowed_callers,
            examples: input_examples,
            output_schema: None,
            deferred_result: None,
            eager: eager_input_streaming,
            cache: cache_control.map(content_in::cache),
            extra,
        }))
    }
}

fn schema_field(schema: Raw<'_>) -> Extra<'_> {
    Extra { key: Str::plain("input_schema"), value: schema }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolClass {
    Function,
    Native(NativeKind),
    Hosted(HostedClass),
    Unknown,
}

/// The class of a tool by its type, whatever version the type ends in.
fn class(kind: &str) -> ToolClass {
    const CLASSES: &[(&str, ToolClass)] = &[
        ("bash_", ToolClass::Native(NativeKind::Bash)),
        ("text_editor_", ToolClass::Native(NativeKind::TextEditor)),
        ("memory_", ToolClass::Native(NativeKind::Memory)),
        ("computer_", ToolClass::Native(NativeKind::Computer)),
        ("browser_toolset_", ToolClass::Native(NativeKind::Computer)),
        ("web_search_", ToolClass::Hosted(HostedClass::WebSearch)),
        ("web_fetch_", ToolClass::Hosted(HostedClass::WebFetch)),
        ("code_execution_", ToolClass::Hosted(HostedClass::Code)),
        ("tool_search_tool_", ToolClass::Hosted(HostedClass::ToolSearch)),
        ("mcp_toolset", ToolClass::Hosted(HostedClass::Mcp)),
        ("advisor_", ToolClass::Hosted(HostedClass::Advisor)),
    ];
    if kind == "custom" {
        return ToolClass::Function;
    }
    let known = CLASSES.iter().find(|(prefix, _)| kind.starts_with(prefix));
    known.map_or(ToolClass::Unknown, |(_, class)| *class)
}
