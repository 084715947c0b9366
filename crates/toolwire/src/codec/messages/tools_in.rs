//! Tool definitions: from Messages into the model.

use super::content_in;
use super::wire;
use crate::model::{Hosted, HostedClass, Native, NativeKind, Tool, ToolKind};
use crate::wire::{Extra, Raw, Read, ReadError, Reader, Str};

/// One entry of `tools`.
#[derive(Debug)]
pub(super) struct Definition<'a>(pub(super) Tool<'a>);

impl<'a> Read<'a> for Definition<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let kind = reader.tag("type")?;
        let sort = kind.as_ref().map_or(Sort::Function, |kind| sort(&kind.decode()));
        if sort == Sort::Unknown {
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
        } = wire::Tool::read(reader)?;
        let kind_text = kind.unwrap_or(Str::plain("custom"));
        let tool_kind = match sort {
            Sort::Function | Sort::Unknown => ToolKind::Function { schema: input_schema },
            Sort::Native(kind) => {
                extra.extend(input_schema.map(schema_field));
                ToolKind::Native(Native { kind, kind_text: kind_text.clone() })
            }
            Sort::Hosted(class) => {
                extra.extend(input_schema.map(schema_field));
                ToolKind::Hosted(Hosted { class, kind_text: kind_text.clone() })
            }
        };
        let name = match (name, sort) {
            (Some(name), _) => name,
            (None, Sort::Function | Sort::Unknown) => return Err(ReadError::missing(at, "name")),
            (None, Sort::Native(_) | Sort::Hosted(_)) => kind_text,
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
enum Sort {
    Function,
    Native(NativeKind),
    Hosted(HostedClass),
    Unknown,
}

/// The kind of a tool by its type, whatever the version behind it.
fn sort(kind: &str) -> Sort {
    const SORTS: &[(&str, Sort)] = &[
        ("bash_", Sort::Native(NativeKind::Bash)),
        ("text_editor_", Sort::Native(NativeKind::TextEditor)),
        ("memory_", Sort::Native(NativeKind::Memory)),
        ("computer_", Sort::Native(NativeKind::Computer)),
        ("browser_toolset_", Sort::Native(NativeKind::Computer)),
        ("web_search_", Sort::Hosted(HostedClass::WebSearch)),
        ("web_fetch_", Sort::Hosted(HostedClass::WebFetch)),
        ("code_execution_", Sort::Hosted(HostedClass::Code)),
        ("tool_search_tool_", Sort::Hosted(HostedClass::ToolSearch)),
        ("mcp_toolset", Sort::Hosted(HostedClass::Mcp)),
        ("advisor_", Sort::Hosted(HostedClass::Advisor)),
    ];
    if kind == "custom" {
        return Sort::Function;
    }
    let known = SORTS.iter().find(|(prefix, _)| kind.starts_with(prefix));
    known.map_or(Sort::Unknown, |(_, sort)| *sort)
}
