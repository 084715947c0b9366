//! Tool definitions: wire to model.

use super::wire::{CustomTool, FunctionTool, GrammarFormat, NamespaceTool, TypedTool};
use crate::model::{Grammar, Hosted, HostedClass, Native, NativeKind, Tool, ToolKind};
use crate::translate::KnownTools;
use crate::wire::{Extra, Pos, Raw, Read, ReadError, Reader, Str};

/// Reads a bare array of tool definitions.
pub(super) fn decode(body: &str) -> Result<Vec<Tool<'_>>, ReadError> {
    let ToolList { at: _, list, raw: _, known: _ } = Reader::new(body).document()?;
    Ok(list)
}

/// A list of tools, where it stood and how it was spelled.
#[derive(Debug)]
pub(super) struct ToolList<'a> {
    pub(super) at: Pos,
    pub(super) list: Vec<Tool<'a>>,
    pub(super) raw: Raw<'a>,
    /// The same, if it came before.
    pub(super) known: Option<KnownTools>,
}

impl<'a> Read<'a> for ToolList<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        let start = reader.clone();
        let (list, known) = match reader.known_tools() {
            Some(list) => (list, reader.known_list().cloned()),
            None => (reader.list(tool)?, None),
        };
        Ok(Self { at, list, raw: reader.raw_since(&start), known })
    }
}

fn tool<'a>(reader: &mut Reader<'a>) -> Result<Tool<'a>, ReadError> {
    let Some(tag) = reader.tag("type")? else { return function(FunctionTool::read(reader)?) };
    match tag.decode().as_ref() {
        "function" => function(FunctionTool::read(reader)?),
        "custom" => custom(CustomTool::read(reader)?),
        "namespace" => namespace(NamespaceTool::read(reader)?),
        "local_shell" => native(reader, tag, NativeKind::LocalShell),
        "shell" => native(reader, tag, NativeKind::Shell),
        "apply_patch" => native(reader, tag, NativeKind::ApplyPatch),
        "tool_search" => {
            let by_client = reader.tag("execution")?.is_some_and(|word| word == "client");
            if by_client {
                native(reader, tag, NativeKind::ToolSearch)
            } else {
                hosted(reader, tag, HostedClass::ToolSearch)
            }
        }
        "computer" | "computer_use_preview" => hosted(reader, tag, HostedClass::Computer),
        "file_search" => hosted(reader, tag, HostedClass::FileSearch),
        "code_interpreter" | "programmatic_tool_calling" => hosted(reader, tag, HostedClass::Code),
        "image_generation" => hosted(reader, tag, HostedClass::ImageGeneration),
        "mcp" => hosted(reader, tag, HostedClass::Mcp),
        // Dated versions carry their date in the type.
        search if search.starts_with("web_search") => hosted(reader, tag, HostedClass::WebSearch),
        _unknown => {
            let name = reader.tag("name")?.unwrap_or(tag);
            let raw = reader.raw()?;
            Ok(Tool::new(raw.pos(), name, ToolKind::Unknown(raw)))
        }
    }
}

fn function(tool: FunctionTool<'_>) -> Result<Tool<'_>, ReadError> {
    let FunctionTool {
        at,
        kind: _,
        name,
        description,
        parameters,
        strict,
        defer_loading,
        allowed_callers,
        output_schema,
        deferred_result,
        function: nested,
        extra,
    } = tool;
    if name.is_none()
        && let Some(mut inside) = nested.as_ref().and_then(Raw::source_reader)
    {
        return function(FunctionTool::read(&mut inside)?);
    }
    let name = name.ok_or(ReadError::missing(at, "name"))?;
    let mut tool = Tool::new(at, name, ToolKind::Function { schema: parameters });
    tool.description = description;
    tool.strict = strict;
    tool.defer = defer_loading;
    tool.callers = allowed_callers;
    tool.output_schema = output_schema;
    tool.deferred_result = deferred_result;
    tool.extra = extra;
    tool.extra.extend(nested.map(|value| Extra { key: Str::plain("function"), value }));
    Ok(tool)
}

fn custom(tool: CustomTool<'_>) -> Result<Tool<'_>, ReadError> {
    let CustomTool {
        at,
        kind: _,
        name,
        description,
        format,
        defer_loading,
        allowed_callers,
        deferred_result,
        extra,
    } = tool;
    let name = name.ok_or(ReadError::missing(at, "name"))?;
    let grammar = format.and_then(|format| format.0);
    let mut tool = Tool::new(at, name, ToolKind::Freeform { grammar });
    tool.description = description;
    tool.defer = defer_loading;
    tool.callers = allowed_callers;
    tool.deferred_result = deferred_result;
    tool.extra = extra;
    Ok(tool)
}

/// The format of a freeform tool's input. Plain text is the default.
#[derive(Debug)]
pub(super) struct FreeformFormat<'a>(Option<Grammar<'a>>);

impl<'a> Read<'a> for FreeformFormat<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let plain = reader.tag("type")?.is_some_and(|kind| kind == "text");
        let GrammarFormat { at, kind: _, syntax, definition, extra } = GrammarFormat::read(reader)?;
        Ok(Self((!plain).then_some(Grammar { at, syntax, definition, extra })))
    }
}

fn namespace(tool: NamespaceTool<'_>) -> Result<Tool<'_>, ReadError> {
    let NamespaceTool { at, kind: _, name, description, tools, extra } = tool;
    let name = name.ok_or(ReadError::missing(at, "name"))?;
    let tools = tools.map(|tools| tools.list).unwrap_or_default();
    let mut tool = Tool::new(at, name, ToolKind::Namespace { tools });
    tool.description = description;
    tool.extra = extra;
    Ok(tool)
}

fn native<'a>(
    reader: &mut Reader<'a>,
    tag: Str<'a>,
    kind: NativeKind,
) -> Result<Tool<'a>, ReadError> {
    let native = Native { kind, kind_text: tag.clone() };
    let mut tool = typed(TypedTool::read(reader)?, tag, ToolKind::Native(native));
    // The kind of the tool already says who runs it.
    tool.extra.retain(|field| field.key != "execution");
    Ok(tool)
}

fn hosted<'a>(
    reader: &mut Reader<'a>,
    tag: Str<'a>,
    class: HostedClass,
) -> Result<Tool<'a>, ReadError> {
    let hosted = Hosted { class, kind_text: tag.clone() };
    Ok(typed(TypedTool::read(reader)?, tag, ToolKind::Hosted(hosted)))
}

fn typed<'a>(tool: TypedTool<'a>, tag: Str<'a>, kind: ToolKind<'a>) -> Tool<'a> {
    let TypedTool { at, kind: _, description, server_label, allowed_callers, extra } = tool;
    // A choice names an MCP server by its label.
    let mut tool = Tool::new(at, server_label.unwrap_or(tag), kind);
    tool.description = description;
    tool.callers = allowed_callers;
    tool.extra = extra;
    tool
}
