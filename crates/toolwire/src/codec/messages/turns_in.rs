//! `system` and `messages`: the conversation from Messages into the model.

use super::wire::{
    AddedTool, Message, RedactedThinking, ThinkingBlock, ToolAddition, ToolReference, ToolUse,
};
use super::{content_in, reasoning_in, tools_in, wire};
use crate::model::{
    Arguments, Call, HostedClass, HostedItem, Item, Opaque, ResultKind, Role, Slot, ToolResult,
    Turn,
};
use crate::restore::unwrap_raw_json;
use crate::wire::{At, Kind, Pos, Raw, Read, ReadError, Reader, Str};

/// The content of a message or a result: a string, or blocks.
#[derive(Debug)]
pub(super) struct MessageContent<'a> {
    pub(super) at: Pos,
    pub(super) items: Vec<Item<'a>>,
}

impl<'a> Read<'a> for MessageContent<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        if reader.peek() == Kind::String {
            let text = crate::model::Text::new(reader.string()?);
            return Ok(Self { at, items: vec![Item::Text(text)] });
        }
        Ok(Self { at, items: reader.list(block)? })
    }
}

/// `system`, as the first turn of the conversation.
pub(super) fn system(content: MessageContent<'_>) -> Turn<'_> {
    let MessageContent { at, items } = content;
    let mut turn = Turn::new(at, Role::System, items);
    turn.slot = Slot::Top;
    turn
}

/// One entry of `messages`.
pub(super) fn message(message: Message<'_>) -> Turn<'_> {
    let Message { at, role, content, extra } = message;
    let role = match role {
        Some(role) => match role.decode().as_ref() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            other => Role::Other(Str::plain(other.to_owned()).at(role.pos())),
        },
        None => Role::User,
    };
    let items = content.map(|content| content.items).unwrap_or_default();
    let mut turn = Turn::new(at, role, items);
    turn.extra = extra;
    turn
}

/// Reads one block.
pub(super) fn block<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let Some(kind) = reader.tag("type")? else { return opaque(reader, None) };
    // A block without its essential member is kept as it came.
    let mut ahead = reader.clone();
    let item = match kind.decode().as_ref() {
        "text" => content_in::text(wire::Text::read(&mut ahead)?).map(Item::Text),
        "image" => content_in::image(wire::Image::read(&mut ahead)?)?.map(Item::Image),
        "document" => content_in::document(wire::Document::read(&mut ahead)?)?.map(Item::Document),
        "search_result" => {
            let block = wire::SearchResult::read(&mut ahead)?;
            Some(Item::SearchResult(content_in::search_result(block)))
        }
        "tool_use" => Some(Item::Call(call(ToolUse::read(&mut ahead)?)?)),
        "tool_result" => Some(Item::Result(result(wire::ToolResult::read(&mut ahead)?))),
        "thinking" => {
            Some(Item::Reasoning(reasoning_in::thinking(ThinkingBlock::read(&mut ahead)?)))
        }
        "redacted_thinking" => {
            Some(Item::Reasoning(reasoning_in::redacted(RedactedThinking::read(&mut ahead)?)))
        }
        "tool_reference" => reference(ToolReference::read(&mut ahead)?),
        "tool_addition" => addition(&mut ahead)?,
        hosted => return hosted_or_opaque(reader, hosted, &kind),
    };
    match item {
        Some(item) => {
            *reader = ahead;
            Ok(item)
        }
        None => opaque(reader, Some(kind)),
    }
}

fn call(block: ToolUse<'_>) -> Result<Call<'_>, ReadError> {
    let ToolUse { at, kind: _, id, name, input, caller, cache_control, extra } = block;
    let name = name.ok_or_else(|| ReadError::missing(at, "name"))?;
    Ok(Call {
        at,
        id,
        name,
        namespace: None,
        arguments: arguments(input),
        caller,
        cache: cache_control.map(content_in::cache),
        extra,
    })
}

/// The arguments of a call. Arguments that were no object were written as the
/// text of one member, and are that text again here.
fn arguments<'a>(input: Option<Raw<'a>>) -> Arguments<'a> {
    let Some(input) = input else { return Arguments::Json(Raw::made("{}")) };
    let text = input.source_reader().and_then(|reader| unwrap_raw_json(input.text(), reader));
    match text {
        Some(text) => Arguments::Text(text),
        None => Arguments::Json(input),
    }
}

fn result(block: wire::ToolResult<'_>) -> ToolResult<'_> {
    let wire::ToolResult { at, kind: _, tool_use_id, content, is_error, cache_control, extra } =
        block;
    let content = content.map(|content| content.items).unwrap_or_default();
    let mut result = ToolResult::new(at, tool_use_id, ResultKind::Function, content);
    result.is_error = is_error;
    result.cache = cache_control.map(content_in::cache);
    result.extra = extra;
    result
}

/// A reference, if it has no members but the name. Otherwise it is kept as it
/// came.
fn reference(block: ToolReference<'_>) -> Option<Item<'_>> {
    let ToolReference { at, kind: _, tool_name, extra } = block;
    let name = tool_name.filter(|_| extra.is_empty())?;
    Some(Item::ToolReference(At::new(at, name)))
}

/// A tool that is declared in the middle of the conversation, if the block
/// defines it. A block that only refers to a tool is kept as it came.
fn addition<'a>(reader: &mut Reader<'a>) -> Result<Option<Item<'a>>, ReadError> {
    let mut look = reader.clone();
    let mut members = look.object()?;
    while let Some(key) = members.next(&mut look)? {
        if key != "tool" {
            look.skip()?;
            continue;
        }
        let defines = look.tag("type")?.is_some_and(|kind| kind == "tool_definition");
        if !defines {
            return Ok(None);
        }
        look.skip()?;
    }
    let ToolAddition { at: _, kind: _, tool, extra } = ToolAddition::read(reader)?;
    let Some(AddedTool {
        at: _,
        kind: _,
        definition: Some(tools_in::ToolDefinition(tool)),
        extra: more,
    }) = tool
    else {
        return Ok(None);
    };
    if !extra.is_empty() || !more.is_empty() {
        return Ok(None);
    }
    Ok(Some(Item::Tools(vec![tool])))
}

fn hosted_or_opaque<'a>(
    reader: &mut Reader<'a>,
    name: &str,
    kind: &Str<'a>,
) -> Result<Item<'a>, ReadError> {
    let class = match name {
        "server_tool_use" => match reader.tag("name")? {
            Some(tool) => hosted_class(&tool.decode()),
            None => HostedClass::Other,
        },
        "mcp_tool_use" | "mcp_tool_result" | "mcp_tool_listing" => HostedClass::Mcp,
        result if result.ends_with("_tool_result") => hosted_class(result),
        _other => return opaque(reader, Some(kind.clone())),
    };
    Ok(Item::Hosted(HostedItem { class, raw: reader.raw()? }))
}

fn hosted_class(name: &str) -> HostedClass {
    const CLASSES: &[(&str, HostedClass)] = &[
        ("web_search", HostedClass::WebSearch),
        ("web_fetch", HostedClass::WebFetch),
        ("code_execution", HostedClass::Code),
        ("bash_code_execution", HostedClass::Code),
        ("text_editor_code_execution", HostedClass::Code),
        ("tool_search_tool", HostedClass::ToolSearch),
        ("advisor", HostedClass::Advisor),
    ];
    let known = CLASSES.iter().find(|(prefix, _)| name.starts_with(prefix));
    known.map_or(HostedClass::Other, |(_, class)| *class)
}

fn opaque<'a>(reader: &mut Reader<'a>, kind: Option<Str<'a>>) -> Result<Item<'a>, ReadError> {
    Ok(Item::Opaque(Opaque { kind, raw: reader.raw()? }))
}
