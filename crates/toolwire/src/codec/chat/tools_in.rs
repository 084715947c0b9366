//! Tool definitions: reading them, and writing those that came from Chat.

use super::wire::{
    Custom, CustomFormat, CustomTool, Fields, Function, FunctionTool, Grammar as WireGrammar,
    has_nested, literal, nest, replay,
};
use crate::model::{Grammar, Hosted, HostedClass, Tool, ToolKind};
use crate::wire::{Array, Extra, Object, Pos, Read, ReadError, Reader, Str};

/// `tools`.
#[derive(Debug)]
pub(super) struct Tools<'a> {
    pub(super) at: Pos,
    pub(super) list: Vec<Tool<'a>>,
}

impl<'a> Read<'a> for Tools<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        let mut list = Vec::new();
        let mut members = reader.array()?;
        while members.more(reader)? {
            list.push(tool(reader)?);
        }
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
        let mut list = Vec::new();
        let mut members = reader.array()?;
        while members.more(reader)? {
            let read = Function::read(reader)?;
            list.push(function(read.at, read)?);
        }
        Ok(Self { at, list })
    }
}

fn tool<'a>(reader: &mut Reader<'a>) -> Result<Tool<'a>, ReadError> {
    let kind = reader.tag("type")?;
    match kind.as_ref().map(Str::decode).as_deref() {
        Some("function") => {
            let FunctionTool { at, kind: _, function: inner, extra } = FunctionTool::read(reader)?;
            let inner = inner.ok_or_else(|| ReadError::missing(at, "function"))?;
            let mut tool = function(at, inner)?;
            tool.extra.splice(0..0, extra);
            Ok(tool)
        }
        Some("custom") => custom(reader),
        Some(_) | None => {
            let at = reader.here();
            let name = kind.unwrap_or_else(|| Str::plain("unknown").at(at));
            Ok(Tool::new(at, name, ToolKind::Unknown(reader.raw()?)))
        }
    }
}

/// A function. Its own unknown members are kept apart from those that stand
/// beside it in `tools`.
fn function<'a>(at: Pos, function: Function<'a>) -> Result<Tool<'a>, ReadError> {
    let Function { at: inner, name, description, parameters, strict, extra } = function;
    let name = name.ok_or_else(|| ReadError::missing(inner, "name"))?;
    let mut tool = Tool::new(at, name, ToolKind::Function { schema: parameters });
    tool.description = description;
    tool.strict = strict;
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
            // Free text is what a custom tool takes anyway; any other format
            // without a grammar is one that toolwire does not know.
            let key = Str::plain("custom.format.type");
            extra.push(Extra { key, value: literal(&kind) });
        }
    }
    let mut tool = Tool::new(at, name, ToolKind::Freeform { grammar });
    tool.description = description;
    tool.extra = extra;
    Ok(tool)
}

/// `web_search_options` as the tool it is.
pub(super) fn web_search<'a>(options: Fields<'a>) -> Tool<'a> {
    let Fields { at, fields } = options;
    let hosted =
        Hosted { class: HostedClass::WebSearch, kind_text: Str::plain(WEB_SEARCH_OPTIONS).at(at) };
    let mut tool = Tool::new(at, Str::plain("web_search"), ToolKind::Hosted(hosted));
    tool.extra = fields;
    tool
}

/// Writes the tools as they were read from Chat: `tools` or `functions`, and
/// the search beside them.
pub(super) fn replay_tools(object: &mut Object<'_>, tools: &[Tool<'_>], legacy: bool) {
    // Only functions can be written the deprecated way, and only those with
    // nothing beside them.
    let is_old = |tool: &Tool<'_>| {
        legacy
            && matches!(tool.kind, ToolKind::Function { schema: _ })
            && tool.extra.iter().all(|field| field.name_under("function").is_some())
    };
    for (key, old) in [("functions", true), ("tools", false)] {
        let mut listed =
            tools.iter().filter(|tool| is_old(tool) == old && !is_search_options(tool)).peekable();
        if listed.peek().is_some() {
            let mut array = object.array(key);
            for tool in listed {
                replay_tool(&mut array, tool, old);
            }
        }
    }
    for tool in tools.iter().filter(|tool| is_search_options(tool)) {
        object.object(WEB_SEARCH_OPTIONS).extra(&tool.extra);
    }
}

fn is_search_options(tool: &Tool<'_>) -> bool {
    matches!(&tool.kind, ToolKind::Hosted(hosted) if hosted.kind_text == WEB_SEARCH_OPTIONS)
}

/// Writes one tool that was read from Chat.
pub(super) fn replay_tool(array: &mut Array<'_>, tool: &Tool<'_>, legacy: bool) {
    match &tool.kind {
        ToolKind::Function { schema } => {
            let mut object = array.object();
            if legacy {
                object.put("name", &tool.name);
                object.maybe("description", tool.description.as_ref());
                object.maybe("parameters", schema.as_ref());
                object.maybe("strict", tool.strict.as_ref());
                return replay(&mut object, &tool.extra, "function", &[]);
            }
            object.put("type", "function");
            {
                let mut function = object.object("function");
                function.put("name", &tool.name);
                function.maybe("description", tool.description.as_ref());
                function.maybe("parameters", schema.as_ref());
                function.maybe("strict", tool.strict.as_ref());
                replay(&mut function, &tool.extra, "function", &[]);
            }
            replay(&mut object, &tool.extra, "", &["function"]);
        }
        ToolKind::Freeform { grammar } => {
            let mut object = array.object();
            object.put("type", "custom");
            {
                let mut custom = object.object("custom");
                custom.put("name", &tool.name);
                custom.maybe("description", tool.description.as_ref());
                if let Some(grammar) = grammar {
                    let mut format = put_grammar(&mut custom, grammar);
                    replay(&mut format, &tool.extra, "custom.format", &[]);
                } else if has_nested(&tool.extra, "custom.format") {
                    let mut format = custom.object("format");
                    replay(&mut format, &tool.extra, "custom.format", &[]);
                }
                replay(&mut custom, &tool.extra, "custom", &["format"]);
            }
            replay(&mut object, &tool.extra, "", &["custom"]);
        }
        ToolKind::Unknown(raw) => array.push(raw),
        ToolKind::Namespace { tools: _ } | ToolKind::Native(_) | ToolKind::Hosted(_) => {}
    }
}

/// Opens a format and writes its grammar, which Chat nests once more.
pub(super) fn put_grammar<'o>(custom: &'o mut Object<'_>, grammar: &Grammar<'_>) -> Object<'o> {
    let Grammar { at: _, syntax, definition, extra } = grammar;
    let mut format = custom.object("format");
    format.put("type", "grammar");
    {
        let mut inner = format.object("grammar");
        inner.maybe("syntax", syntax.as_ref());
        inner.maybe("definition", definition.as_ref());
        inner.extra(extra);
    }
    format
}

/// The member that stands for a hosted search.
pub(super) const WEB_SEARCH_OPTIONS: &str = "web_search_options";
