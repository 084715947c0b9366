//! Tool definitions of Messages, both directions.

use super::content_in;
use super::content_out::Pen;
use super::wire;
use crate::model::{Hosted, HostedClass, Native, NativeKind, Tool, ToolKind};
use crate::wire::{Extra, Object, Raw, Read, ReadError, Reader, Str};

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

/// Writes a tool that came from Messages.
pub(super) fn encode_own(tool: &Tool<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    let Tool {
        at: _,
        name,
        description,
        kind,
        strict,
        defer,
        callers,
        examples,
        output_schema: _,
        deferred_result: _,
        eager,
        cache,
        extra,
    } = tool;
    if let ToolKind::Unknown(raw) = kind {
        out.extend_from_slice(raw.text().as_bytes());
        return;
    }
    let mut object = Object::new(out);
    if let ToolKind::Native(Native { kind: _, kind_text })
    | ToolKind::Hosted(Hosted { class: _, kind_text }) = kind
    {
        object.put("type", kind_text);
    }
    if !is_nameless(tool) {
        object.put("name", name);
    }
    object.maybe("description", description.as_ref());
    if let ToolKind::Function { schema } = kind {
        object.maybe("input_schema", schema.as_ref());
    }
    object.maybe("strict", strict.as_ref());
    object.maybe("defer_loading", defer.as_ref());
    object.maybe("allowed_callers", callers.as_ref());
    object.maybe("input_examples", examples.as_ref());
    object.maybe("eager_input_streaming", eager.as_ref());
    pen.cache(&mut object, cache.as_ref());
    object.extra(extra);
}

/// Toolsets have no name; the model knows their members only, and their type
/// stands for the name.
fn is_nameless(tool: &Tool<'_>) -> bool {
    match &tool.kind {
        ToolKind::Native(Native { kind: _, kind_text })
        | ToolKind::Hosted(Hosted { class: _, kind_text }) => kind_text.pos() == tool.name.pos(),
        ToolKind::Function { schema: _ }
        | ToolKind::Freeform { grammar: _ }
        | ToolKind::Namespace { tools: _ }
        | ToolKind::Unknown(_) => false,
    }
}
