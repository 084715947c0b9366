//! The conversation: reading it.

use super::content_in::{Content, foreign_marker};
use super::reasoning_in::{self, ReasoningMembers};
use super::wire::{
    AnyToolCall, CacheControl, CalledCustom, CalledFunction, Message, MessageAudio, ToolCall, nest,
    reread,
};
use crate::model::{
    Arguments, Audio, Cache, Call, Item, Refusal, ResultKind, Role, Text, ToolResult, Turn,
};
use crate::wire::{Extra, Pos, Raw, Read, ReadError, Reader, Str};

/// `messages`, as turns.
#[derive(Debug)]
pub(super) struct Turns<'a>(pub(super) Vec<Turn<'a>>);

impl<'a> Read<'a> for Turns<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        Ok(Self(reader.list(|reader| turn(Message::read(reader)?))?))
    }
}

/// One message as one turn.
pub(super) fn turn<'a>(message: Message<'a>) -> Result<Turn<'a>, ReadError> {
    let Message {
        at,
        role,
        content,
        name,
        tool_call_id,
        refusal,
        annotations,
        audio,
        tool_calls,
        function_call,
        reasoning_content,
        reasoning,
        reasoning_details,
        thinking_blocks,
        cache_control,
        mut extra,
    } = message;
    let role = role.ok_or_else(|| ReadError::missing(at, "role"))?;
    let role = match role.decode().as_ref() {
        "assistant" => Role::Assistant,
        "user" => Role::User,
        "system" => Role::System,
        "developer" => Role::Developer,
        "tool" | "function" => {
            let result = ToolMessage { at, tool_call_id, name, content, cache_control, extra };
            return Ok(result.turn());
        }
        other => Role::Other(Str::plain(other.to_owned()).at(role.pos())),
    };
    let mut items = content.map(|Content(items)| items).unwrap_or_default();
    if let Some(list) = annotations {
        annotate(&mut items, list, &mut extra);
    }
    // Snowflake writes an empty refusal into every answer. vectors/responses/chat-empty-refusal
    if let Some(text) = refusal.filter(|text| !text.is_empty()) {
        items.push(Item::Refusal(Refusal { at: text.pos(), text, extra: Vec::new() }));
    }
    if let Some(audio) = audio {
        push_audio(&mut items, audio);
    }
    for element in tool_calls.unwrap_or_default() {
        match element {
            AnyToolCall::Known(known) => items.push(Item::Call(call(known)?)),
            // A kind of call that toolwire does not know.
            AnyToolCall::Unknown(value) => {
                extra.push(Extra { key: Str::plain("tool_calls"), value })
            }
        }
    }
    if let Some(function) = function_call.filter(is_call) {
        items.push(Item::Call(called(function.at, None, function, Vec::new())?));
    }
    if let Some(control) = cache_control {
        mark(items.last_mut().and_then(marker_slot), control, &mut extra);
    }
    if let Some(id) = tool_call_id {
        extra.push(Extra { key: Str::plain("tool_call_id"), value: Raw::literal(&id) });
    }
    let members =
        ReasoningMembers { reasoning_content, reasoning, reasoning_details, thinking_blocks };
    let found = reasoning_in::read(members, &mut extra);
    let mut turn = Turn::new(at, role, reasoning_in::insert(items, found));
    turn.name = name;
    turn.extra = extra;
    Ok(turn)
}

/// A message of the role `tool`, or of its deprecated ancestor `function`,
/// which has a name instead of an id.
struct ToolMessage<'a> {
    at: Pos,
    tool_call_id: Option<Str<'a>>,
    name: Option<Str<'a>>,
    content: Option<Content<'a>>,
    cache_control: Option<Raw<'a>>,
    extra: Vec<Extra<'a>>,
}

impl<'a> ToolMessage<'a> {
    fn turn(self) -> Turn<'a> {
        let Self { at, tool_call_id, name, content, cache_control, extra } = self;
        let content = content.map(|Content(items)| items).unwrap_or_default();
        let mut result = ToolResult::new(at, tool_call_id, ResultKind::Function, content);
        result.name = name;
        result.extra = extra;
        if let Some(control) = cache_control {
            mark(Some(&mut result.cache), control, &mut result.extra);
        }
        Turn::new(at, Role::User, vec![Item::Result(result)])
    }
}

/// Attaches the message's annotations to its text. OpenAI sends an empty list
/// with every answer; it means nothing.
fn annotate<'a>(items: &mut [Item<'a>], list: Raw<'a>, extra: &mut Vec<Extra<'a>>) {
    if list.is_empty() {
        return;
    }
    for item in items {
        if let Item::Text(text) = item {
            text.citations = Some(list);
            return;
        }
    }
    extra.push(Extra { key: Str::plain("annotations"), value: list });
}

/// Puts the cache marker of a message behind its last item, or keeps it as it came
/// if that has no room for one.
fn mark<'a>(slot: Option<&mut Option<Cache<'a>>>, control: Raw<'a>, extra: &mut Vec<Extra<'a>>) {
    match (slot, reread::<CacheControl<'a>>(&control)) {
        (Some(slot @ None), Some(Ok(read))) => *slot = Some(foreign_marker(read)),
        (_slot, _read) => {
            extra.push(Extra { key: Str::plain("cache_control"), value: control });
        }
    }
}

/// Where an item keeps the marker behind it.
fn marker_slot<'i, 'a>(item: &'i mut Item<'a>) -> Option<&'i mut Option<Cache<'a>>> {
    match item {
        Item::Text(text) => Some(&mut text.cache),
        Item::Image(image) => Some(&mut image.cache),
        Item::Document(document) => Some(&mut document.cache),
        Item::Audio(audio) => Some(&mut audio.cache),
        Item::Call(call) => Some(&mut call.cache),
        Item::Refusal(_)
        | Item::SearchResult(_)
        | Item::Reasoning(_)
        | Item::Result(_)
        | Item::Hosted(_)
        | Item::Json(_)
        | Item::ToolReference(_)
        | Item::Tools(_)
        | Item::Opaque(_) => None,
    }
}

/// Adds spoken output. The text of a model that speaks is its transcript, unless
/// the message has text of its own, which some vendors give twice.
fn push_audio<'a>(items: &mut Vec<Item<'a>>, audio: MessageAudio<'a>) {
    let MessageAudio { at, data, transcript, mut extra } = audio;
    let is_text = |item: &&Item<'a>| matches!(item, Item::Text(_));
    let transcript = transcript.filter(|transcript| !transcript.is_empty());
    if let Some(transcript) = transcript {
        let mut texts = items.iter().filter(is_text).peekable();
        if texts.peek().is_none() {
            items.push(Item::Text(Text::new(transcript)));
        } else if !is_said(&transcript, texts) {
            let value = Raw::literal(&transcript);
            extra.push(Extra { key: Str::plain("transcript"), value });
        }
    }
    items.push(Item::Audio(Audio { at, data, format: None, cache: None, extra }));
}

/// Whether texts say the same as a transcript.
fn is_said<'i, 'a: 'i>(transcript: &Str<'a>, items: impl Iterator<Item = &'i Item<'a>>) -> bool {
    let mut text = String::new();
    for item in items {
        if let Item::Text(own) = item {
            text.push_str(&own.text.decode());
        }
    }
    *transcript == *text
}

/// Whether a deprecated function call is one. Some servers send the member with
/// empty texts in every answer. vectors/responses/chat-empty-function-call
fn is_call(function: &CalledFunction<'_>) -> bool {
    let CalledFunction { at: _, name, arguments, extra: _ } = function;
    let is_empty = |arguments: &Arguments<'_>| match arguments {
        Arguments::Text(text) | Arguments::Freeform(text) => text.is_empty(),
        Arguments::Json(value) => value.is_empty(),
        Arguments::Native(_, _) => false,
    };
    !name.as_ref().is_none_or(Str::is_empty) || !arguments.as_ref().is_none_or(is_empty)
}

fn call<'a>(call: ToolCall<'a>) -> Result<Call<'a>, ReadError> {
    let ToolCall { at, id, kind: _, function, custom, mut extra } = call;
    // If a vendor gives no id, the id is empty. A call without any id is a
    // deprecated function call.
    let id = Some(id.unwrap_or_else(|| Str::plain("")));
    if let Some(function) = function {
        return called(at, id, function, extra);
    }
    let CalledCustom { at: inner, name, input, extra: nested } =
        custom.ok_or_else(|| ReadError::missing(at, "function"))?;
    nest(&mut extra, "custom", nested);
    Ok(Call {
        at,
        id,
        name: name.ok_or_else(|| ReadError::missing(inner, "name"))?,
        namespace: None,
        arguments: Arguments::Freeform(input.unwrap_or_else(|| Str::plain(""))),
        caller: None,
        cache: None,
        extra,
    })
}

fn called<'a>(
    at: Pos,
    id: Option<Str<'a>>,
    function: CalledFunction<'a>,
    mut extra: Vec<Extra<'a>>,
) -> Result<Call<'a>, ReadError> {
    let CalledFunction { at: inner, name, arguments, extra: nested } = function;
    nest(&mut extra, "function", nested);
    let arguments = arguments.unwrap_or(Arguments::Text(Str::plain("")));
    let name = name.ok_or_else(|| ReadError::missing(inner, "name"))?;
    Ok(Call { at, id, name, namespace: None, arguments, caller: None, cache: None, extra })
}
