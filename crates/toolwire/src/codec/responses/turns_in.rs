//! The conversation: wire to model. Every item is a turn.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::wire::{AdditionalTools, Message, ShellOutput, ToolCall, ToolOutput, ToolSearchOutput};
use super::{agent_message_in, reasoning_in};
use crate::model::{
    Arguments, Call, HostedClass, HostedItem, Item, NativeKind, Opaque, ResultKind, Role, Text,
    ToolResult, Turn,
};
use crate::wire::{At, Kind, Pos, Raw, Read, ReadError, Reader, Str};

/// `input`: a text of the user, or items.
#[derive(Debug)]
pub(super) struct Input<'a>(pub(super) Vec<Turn<'a>>);

impl<'a> Read<'a> for Input<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() != Kind::String {
            return Ok(Self(ItemList::read(reader)?.0));
        }
        let text = reader.string()?;
        Ok(Self(vec![Turn::new(text.pos(), Role::User, vec![Item::Text(Text::new(text))])]))
    }
}

/// A list of items, as in `input` and `output`.
#[derive(Debug)]
pub(super) struct ItemList<'a>(pub(super) Vec<Turn<'a>>);

impl<'a> Read<'a> for ItemList<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let mut local_shells = LocalShellCalls::default();
        Ok(Self(reader.list(|reader| item(reader, &mut local_shells))?))
    }
}

/// Reads one item without the items before it.
pub(super) fn item_alone<'a>(reader: &mut Reader<'a>) -> Result<Turn<'a>, ReadError> {
    item(reader, &mut LocalShellCalls::default())
}

/// The local shell calls so far. Their outputs name the call by its item id, and
/// all other outputs by its `call_id`.
#[derive(Default)]
struct LocalShellCalls<'a> {
    call_ids: BTreeMap<Cow<'a, str>, Str<'a>>,
}

fn item<'a>(
    reader: &mut Reader<'a>,
    local_shells: &mut LocalShellCalls<'a>,
) -> Result<Turn<'a>, ReadError> {
    let Some(tag) = reader.tag("type")? else {
        let message = reader.peek() != Kind::Object || reader.tag("role")?.is_some();
        return if message { self::message(reader) } else { opaque(reader, None) };
    };
    let start = reader.clone();
    let read = match tag.decode().as_ref() {
        "message" => Some(message(reader)?),
        "agent_message" => Some(agent_message_in::read(reader)?),
        "function_call" => call(ToolCall::read(reader)?, ResultKind::Function)?,
        "custom_tool_call" => call(ToolCall::read(reader)?, ResultKind::Freeform)?,
        "local_shell_call" => {
            let shell = ToolCall::read(reader)?;
            local_shells.remember(&shell);
            call(shell, ResultKind::Native(NativeKind::LocalShell))?
        }
        "shell_call" => call(ToolCall::read(reader)?, ResultKind::Native(NativeKind::Shell))?,
        "apply_patch_call" => {
            call(ToolCall::read(reader)?, ResultKind::Native(NativeKind::ApplyPatch))?
        }
        "tool_search_call" if run_by_client(reader)? => {
            call(ToolCall::read(reader)?, ResultKind::Native(NativeKind::ToolSearch))?
        }
        "function_call_output" => Some(output(ToolOutput::read(reader)?, ResultKind::Function)),
        "custom_tool_call_output" => Some(output(ToolOutput::read(reader)?, ResultKind::Freeform)),
        "local_shell_call_output" => {
            Some(local_shell_output(ToolOutput::read(reader)?, local_shells))
        }
        "shell_call_output" => Some(shell_output(ShellOutput::read(reader)?)),
        "apply_patch_call_output" => Some(patch_output(ToolOutput::read(reader)?)),
        "tool_search_output" if run_by_client(reader)? => {
            Some(search_output(ToolSearchOutput::read(reader)?))
        }
        "additional_tools" => additional_tools(AdditionalTools::read(reader)?),
        "reasoning" => reasoning_in::decode(reader)?,
        other => match hosted_class(other) {
            Some((class, role)) => {
                let raw = reader.raw()?;
                let at = raw.pos();
                Some(Turn::new(at, role, vec![Item::Hosted(HostedItem { class, raw })]))
            }
            None => None,
        },
    };
    match read {
        Some(turn) => Ok(turn),
        // An unknown kind, or a known one that says more than the model has room
        // for, is kept as it came.
        None => {
            *reader = start;
            opaque(reader, Some(tag))
        }
    }
}

fn message<'a>(reader: &mut Reader<'a>) -> Result<Turn<'a>, ReadError> {
    let Message { at, kind: _, role, content, id, status, phase, extra } = Message::read(reader)?;
    let items = content.map(|content| content.0).unwrap_or_default();
    let role = role.map_or(Role::User, self::role);
    let mut turn = Turn::new(at, role, items);
    turn.id = id;
    turn.status = status;
    turn.phase = phase;
    turn.extra = extra;
    Ok(turn)
}

fn role(name: Str<'_>) -> Role<'_> {
    match name.decode().as_ref() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "developer" => Role::Developer,
        _unknown => Role::Other(name.clone()),
    }
}

fn opaque<'a>(reader: &mut Reader<'a>, kind: Option<Str<'a>>) -> Result<Turn<'a>, ReadError> {
    let role = match reader.tag("role")? {
        Some(role) => self::role(role),
        // An answer to something is the client's. Anything else, above all a
        // reference to an earlier item, takes the place of what the model said.
        None => match &kind {
            Some(kind) if is_answer(&kind.decode()) => Role::User,
            Some(_) | None => Role::Assistant,
        },
    };
    let raw = reader.raw()?;
    Ok(Turn::new(raw.pos(), role, vec![Item::Opaque(Opaque { kind, raw })]))
}

fn is_answer(kind: &str) -> bool {
    kind.ends_with("_output") || kind.ends_with("_response") || kind == "compaction_trigger"
}

fn hosted_class(kind: &str) -> Option<(HostedClass, Role<'static>)> {
    Some(match kind {
        "web_search_call" => (HostedClass::WebSearch, Role::Assistant),
        "file_search_call" => (HostedClass::FileSearch, Role::Assistant),
        "code_interpreter_call" | "program" | "program_output" => {
            (HostedClass::Code, Role::Assistant)
        }
        "image_generation_call" => (HostedClass::ImageGeneration, Role::Assistant),
        "computer_call" => (HostedClass::Computer, Role::Assistant),
        "computer_call_output" => (HostedClass::Computer, Role::User),
        "mcp_call" | "mcp_list_tools" | "mcp_approval_request" => {
            (HostedClass::Mcp, Role::Assistant)
        }
        "mcp_approval_response" => (HostedClass::Mcp, Role::User),
        "tool_search_call" | "tool_search_output" => (HostedClass::ToolSearch, Role::Assistant),
        _unknown => return None,
    })
}

/// Whether the client runs a search for tools. The server does, unless the item
/// says otherwise or has a call id to be answered.
fn run_by_client(reader: &mut Reader<'_>) -> Result<bool, ReadError> {
    Ok(match reader.tag("execution")? {
        Some(execution) => execution == "client",
        None => reader.tag("call_id")?.is_some(),
    })
}

/// A call. `None` if it says more than a call of its kind has. It is then kept as
/// it came.
fn call(call: ToolCall<'_>, kind: ResultKind) -> Result<Option<Turn<'_>>, ReadError> {
    let ToolCall {
        at,
        kind: _,
        id,
        call_id,
        name,
        namespace,
        arguments,
        input,
        action,
        operation,
        execution,
        status,
        caller,
        extra,
    } = call;
    let empty = Str::plain("").at(at);
    let plain = execution.is_none() && action.is_none() && operation.is_none();
    let nameless = name.is_none() && namespace.is_none();
    let arguments = match (kind, arguments, input) {
        (ResultKind::Function, Some(arguments), None) if plain => arguments,
        (ResultKind::Function, None, None) if plain => Arguments::Text(empty),
        (ResultKind::Freeform, None, input) if plain => Arguments::Freeform(input.unwrap_or(empty)),
        (ResultKind::Native(native), arguments, None) if nameless => {
            match native_action(native, arguments, action, operation) {
                Some(action) => Arguments::Native(native, action),
                None => return Ok(None),
            }
        }
        (_kind, _arguments, _input) => return Ok(None),
    };
    let name = match kind {
        ResultKind::Native(native) => Str::plain(native_name(native)).at(at),
        ResultKind::Function | ResultKind::Freeform => {
            name.ok_or(ReadError::missing(at, "name"))?
        }
    };
    let call = Call { at, id: call_id, name, namespace, arguments, caller, cache: None, extra };
    Ok(Some(turn(at, Role::Assistant, Item::Call(call), id, status)))
}

fn native_action<'a>(
    native: NativeKind,
    arguments: Option<Arguments<'a>>,
    action: Option<Raw<'a>>,
    operation: Option<Raw<'a>>,
) -> Option<Raw<'a>> {
    match (native, arguments, action, operation) {
        (NativeKind::LocalShell | NativeKind::Shell, None, action, None) => action,
        (NativeKind::ApplyPatch, None, None, operation) => operation,
        (NativeKind::ToolSearch, Some(Arguments::Json(raw)), None, None) => Some(raw),
        (_native, _arguments, _action, _operation) => None,
    }
}

fn native_name(native: NativeKind) -> &'static str {
    match native {
        NativeKind::LocalShell => "local_shell",
        NativeKind::Shell => "shell",
        NativeKind::ApplyPatch => "apply_patch",
        NativeKind::ToolSearch => "tool_search",
        NativeKind::Bash => "bash",
        NativeKind::TextEditor => "text_editor",
        NativeKind::Memory => "memory",
        NativeKind::Computer => "computer",
    }
}

fn output(output: ToolOutput<'_>, kind: ResultKind) -> Turn<'_> {
    let ToolOutput { at, kind: _, id, call_id, name, namespace, output, status, extra } = output;
    let content = output.map(|output| output.0).unwrap_or_default();
    let mut result = ToolResult::new(at, call_id, kind, content);
    result.extra = extra;
    result.name = name;
    result.namespace = namespace;
    turn(at, Role::User, Item::Result(result), id, status)
}

fn local_shell_output<'a>(output: ToolOutput<'a>, local_shells: &LocalShellCalls<'a>) -> Turn<'a> {
    let mut turn = self::output(output, ResultKind::Native(NativeKind::LocalShell));
    if let [Item::Result(result)] = turn.items.as_mut_slice()
        && result.call_id.is_none()
    {
        result.call_id = turn.id.as_ref().map(|id| local_shells.call_id(id));
    }
    turn
}

fn shell_output(output: ShellOutput<'_>) -> Turn<'_> {
    let ShellOutput { at, kind: _, id, call_id, output, status, extra } = output;
    let content = output.map(Item::Json).into_iter().collect();
    let kind = ResultKind::Native(NativeKind::Shell);
    let mut result = ToolResult::new(at, call_id, kind, content);
    result.extra = extra;
    turn(at, Role::User, Item::Result(result), id, status)
}

/// The output of a patch. It is the only one whose status says whether it failed.
fn patch_output(output: ToolOutput<'_>) -> Turn<'_> {
    let mut turn = self::output(output, ResultKind::Native(NativeKind::ApplyPatch));
    let failed = match &turn.status {
        Some(status) if *status == "failed" => Some(At::new(status.pos(), true)),
        Some(status) if *status == "completed" => Some(At::new(status.pos(), false)),
        Some(_) | None => None,
    };
    if failed.is_some() {
        turn.status = None;
    }
    if let [Item::Result(result)] = turn.items.as_mut_slice() {
        result.is_error = failed;
    }
    turn
}

fn search_output(output: ToolSearchOutput<'_>) -> Turn<'_> {
    let ToolSearchOutput { at, kind: _, id, call_id, execution: _, tools, status, extra } = output;
    let content = vec![Item::Tools(tools.map(|tools| tools.list).unwrap_or_default())];
    let kind = ResultKind::Native(NativeKind::ToolSearch);
    let mut result = ToolResult::new(at, call_id, kind, content);
    result.extra = extra;
    turn(at, Role::User, Item::Result(result), id, status)
}

fn additional_tools(item: AdditionalTools<'_>) -> Option<Turn<'_>> {
    let AdditionalTools { at, kind: _, id, role, tools, extra } = item;
    let role = role.map_or(Role::Developer, self::role);
    let tools = tools?.list;
    let mut turn = turn(at, role, Item::Tools(tools), id, None);
    turn.extra = extra;
    Some(turn)
}

/// An item that is not a message.
pub(super) fn turn<'a>(
    at: Pos,
    role: Role<'a>,
    item: Item<'a>,
    id: Option<Str<'a>>,
    status: Option<Str<'a>>,
) -> Turn<'a> {
    let mut turn = Turn::new(at, role, vec![item]);
    turn.id = id;
    turn.status = status;
    turn
}

impl<'a> LocalShellCalls<'a> {
    fn remember(&mut self, call: &ToolCall<'a>) {
        if let (Some(id), Some(call_id)) = (&call.id, &call.call_id) {
            self.call_ids.insert(id.clone().into_decoded(), call_id.clone());
        }
    }

    /// The `call_id` of the call with that item id. Codex answers with the
    /// `call_id` itself, so an unknown id is taken as the `call_id`.
    fn call_id(&self, id: &Str<'a>) -> Str<'a> {
        match self.call_ids.get(&id.decode()) {
            Some(call_id) => call_id.clone().at(id.pos()),
            None => id.clone(),
        }
    }
}
