//! Tool definitions: reading them.

use super::content_in::foreign_marker;
use super::wire::{
    Custom, CustomFormat, CustomTool, Function, FunctionTool, Grammar as WireGrammar, RawMembers,
    WEB_SEARCH_OPTIONS, nest,
};
use crate::model::{Grammar, Hosted, HostedClass, Tool, ToolKind};
use crate::wire::{Extra, Pos, Raw, Read, ReadError, Reader, Str};

/// Reads a bare list of tools.
pub(super) fn decode<'a>(body: &'a str) -> Result<Vec<Tool<'a>>, ReadError> {
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
            None => reader.list(tool)?,
        };
        Ok(Self { at, list })
    }
}

/// The deprecated `functions`.
#[derive(Debug)]
pub(super) struct Functions<'a> {
    pub(super) at: Pos,
    pub(super) list: Vec<Tool<'a>>,
}

impl<'a> Read<'a> for Functions<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        let list = reader.list(|reader| {
            let read = Function::read(reader)?;
            function(read.at, read)
        })?;
        Ok(Self { at, list })
    }
}

fn tool<'a>(reader: &mut Reader<'a>) -> Result<Tool<'a>, ReadError> {
    let kind = reader.tag("type")?;
    match kind.as_ref().map(Str::decode).as_deref() {
        Some("function") => function_tool(FunctionTool::read(reader)?),
        Some("custom") => custom(reader),
        // Mistral has only functions, and its clients need not say so.
        // vectors/requests/chat-mistral-dialect
        None if reader.clone().pick(["function"])?.iter().any(Option::is_some) => {
            function_tool(FunctionTool::read(reader)?)
        }
        Some(_) | None => {
            let at = reader.here();
            let name = kind.unwrap_or_else(|| Str::plain("unknown").at(at));
            Ok(Tool::new(at, name, ToolKind::Unknown(reader.raw()?)))
        }
    }
}

/// A function with its type. Its unknown members come before those of the function.
fn function_tool<'a>(tool: FunctionTool<'a>) -> Result<Tool<'a>, ReadError> {
    let FunctionTool { at, kind: _, function: inner, cache_control, extra } = tool;
    let inner = inner.ok_or_else(|| ReadError::missing(at, "function"))?;
    let mut tool = function(at, inner)?;
    tool.extra.splice(0..0, extra);
    tool.cache = cache_control.map(foreign_marker).or(tool.cache);
    Ok(tool)
}

/// A function. Its unknown members are kept apart from those beside it in
/// `tools`.
fn function<'a>(at: Pos, function: Function<'a>) -> Result<Tool<'a>, ReadError> {
    let Function { at: inner, name, description, parameters, strict, cache_control, extra } =
        function;
    let name = name.ok_or_else(|| ReadError::missing(inner, "name"))?;
    let mut tool = Tool::new(at, name, ToolKind::Function { schema: parameters });
    tool.description = description;
    tool.strict = strict;
    tool.cache = cache_control.map(foreign_marker);
    nest(&mut tool.extra, "function", extra);
    Ok(tool)
}

fn custom<'a>(reader: &mut Reader<'a>) -> Result<Tool<'a>, ReadError> {
    let CustomTool { at, kind: _, custom, mut extra } = CustomTool::read(reader)?;
    let Custom { at: inner, name, description, format, extra: nested } =
        custom.ok_or_else(|| ReadError::missing(at, "custom"))?;
    nest(&mut extra, "custom", nested);
    let name = name.ok_or_else(|| ReadError::missing(inner, "name"))?;
    let mut grammar = None;
    if let Some(CustomFormat { at, kind, grammar: found, extra: nested }) = format {
        nest(&mut extra, "custom.format", nested);
        if let Some(WireGrammar { at: _, syntax, definition, extra }) = found {
            grammar = Some(Grammar { at, syntax, definition, extra });
        } else if let Some(kind) = kind.filter(|kind| *kind != "text") {
            // Every custom tool takes free text. Any other format without a
            // grammar is one that toolwire does not know.
            let key = Str::plain("custom.format.type");
            extra.push(Extra { key, value: Raw::literal(&kind) });
        }
    }
    let mut tool = Tool::new(at, name, ToolKind::Freeform { grammar });
    tool.description = description;
    tool.extra = extra;
    Ok(tool)
}

/// The web search that `web_search_options` turns on, as a tool.
pub(super) fn web_search<'a>(options: RawMembers<'a>) -> Tool<'a> {
    let RawMembers { at, fields } = options;
    let hosted =
        Hosted { class: HostedClass::WebSearch, kind_text: Str::plain(WEB_SEARCH_OPTIONS).at(at) };
    let mut tool = Tool::new(at, Str::plain("web_search"), ToolKind::Hosted(hosted));
    tool.extra = fields;
    tool
}
